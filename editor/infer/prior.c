#include "editor/infer/joint.h"

static const double LEAVING = 0.25; /* of the prior of the other successor */
static const uint32_t NONE = UINT32_MAX;

static bool one_pred(const struct joint *j, uint32_t b)
{
	return j->g->pred[b + 1] - j->g->pred[b] == 1;
}

/* Where the conditional jump at the end of b goes when it is not taken. */
static uint32_t falls_to(const struct joint *j, uint32_t b)
{
	const struct cfg *g = j->g;
	uint32_t i;

	for (i = g->succ[b]; i < g->succ[b + 1]; i++)
		if (g->edge[i].kind == EDGE_NOTTAKEN)
			return g->edge[i].dst;
	return NONE;
}

/* From b, which is out of line, back to a block between src and b. */
static bool comes_back(const struct joint *j, uint32_t src, uint32_t b)
{
	const struct cfg *g = j->g;
	uint32_t i, first = NONE;

	if (j->r->exit[b])
		return false;
	for (i = g->succ[b]; i < g->succ[b + 1]; i++)
		if (g->edge[i].dst < first)
			first = g->edge[i].dst;
	return src < first && first < b;
}

/* A forward jump over a loop, or one past code that is not its own: to an out-of-line block with a
 * single predecessor that rejoins, or to a join. */
static bool leaves(const struct joint *j, const struct cfg_edge *e)
{
	uint32_t falls;

	if (e->kind != EDGE_TAKEN || e->dst <= e->src)
		return false;
	if (one_pred(j, e->dst))
		return comes_back(j, e->src, e->dst);
	if (j->loop_ends[e->src + 1] < e->dst)
		return true;
	falls = falls_to(j, e->src);
	return falls != NONE && !one_pred(j, falls);
}

void joint_prior_begin(struct joint *j, struct arena *a)
{
	uint32_t n = j->g->nblock, b, *ends = arena_array(a, (size_t)n + 1, sizeof *ends);
	const struct cfg_edge *e, *end = j->g->edge + j->g->nedge;

	for (b = 0; b <= n; b++)
		ends[b] = NONE;
	for (e = j->g->edge; e < end; e++)
		if (e->dst <= e->src && e->src < ends[e->dst])
			ends[e->dst] = e->src;
	for (b = n; b-- > 0;)
		if (ends[b + 1] < ends[b])
			ends[b] = ends[b + 1];
	j->loop_ends = ends;
}

double joint_prior(const struct joint *j, const struct succ *v)
{
	const struct cfg_edge *e;

	if (v->edge == NONE)
		return 1;
	e = &j->g->edge[v->edge];
	return e->rare ? 0 : leaves(j, e) ? LEAVING : 1;
}
