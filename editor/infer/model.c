#include "editor/infer/model.h"
#include "editor/infer/constants.h"

#include <math.h>
#include <string.h>

enum { INSNS_MAX = 1 << 16, COLD = BLK_COLD | BLK_NORETURN };
static const uint32_t NONE = UINT32_MAX;
static const double MANY = 1e12;     /* samples or outcomes: a bound */
static const double EVENNESS = 1e-4; /* weight of even shares by that of counts */
static const double UNCOUNTED = 0.1; /* executions of a block that has none */
static const double LEAST_FLOW = 1e-3;

/* The same on every machine. */
static double ln(double v)
{
	static const double part[] = {1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1};
	double m, t, t2, sum = 0;
	size_t k;
	int e;

	m = frexp(v, &e);
	if (m < 0.70710678118654752) {
		m *= 2;
		e--;
	}
	t = (m - 1) / (m + 1);
	t2 = t * t;
	for (k = 0; k < sizeof part / sizeof *part; k++)
		sum = sum * t2 + part[k];
	return e * 0.69314718055994531 + 2 * t * sum;
}

static double insns(const struct model *m, uint32_t b)
{
	const struct cfg_block *k = &m->g->block[b];

	return k->insns < 1 ? 1 : k->insns < INSNS_MAX ? k->insns : INSNS_MAX;
}

double model_block_flow(const struct model *m, uint32_t b)
{
	double x = 0;
	uint32_t i;

	for (i = m->first[b]; i < m->first[b + 1]; i++)
		x += m->succ[i].flow;
	return x;
}

bool model_branches(const struct model *m, uint32_t b)
{
	return m->first[b + 1] - m->first[b] > 1;
}

double model_within(const struct model *m, double flow)
{
	return !(flow > LEAST_FLOW) ? LEAST_FLOW : flow < m->most ? flow : m->most;
}

/* ---- blocks ---- */

static void weigh_samples(struct model *m, uint32_t b)
{
	double s = fmin((double)m->g->block[b].samples / SAMPLE_ONE, MANY), n = insns(m, b);

	m->weight[b] = s > 0 ? 1 / (1 / s + BLOCK_BIAS) : INFER_UNSEEN;
	m->estimate[b] = fmin(fmax(s, INFER_UNSEEN) * COUNT_ONE / n, m->most);
	m->bound[b] = HIDDEN * n * n;
}

/* Counts weigh as much as samples without bias. */
static void weigh_count(struct model *m, uint32_t b)
{
	m->weight[b] = fmax((double)m->g->block[b].count, UNCOUNTED);
	m->estimate[b] = fmin(m->weight[b], m->most);
	m->bound[b] = HUGE_VAL;
}

static void weigh_blocks(struct model *m)
{
	uint32_t b;

	for (b = 0; b < m->g->nblock; b++)
		if (m->input == INFER_COUNTS)
			weigh_count(m, b);
		else
			weigh_samples(m, b);
}

static void update_blocks(struct model *m)
{
	double x, over, gradient;
	struct succ *v;
	uint32_t b;

	for (b = 0; b < m->g->nblock; b++) {
		x = model_block_flow(m, b);
		over = m->weight[b] * (x / m->estimate[b] - 1);
		gradient = over > 0 ? over / (1 + over / m->bound[b]) / x : over / x;
		for (v = m->succ + m->first[b]; v < m->succ + m->first[b + 1]; v++)
			v->gradient = gradient;
	}
}

/* ---- successors: branch outcomes ---- */

static double seen(const struct model *m, const struct succ *v)
{
	double n = v->edge == NONE ? 0 : (double)m->g->edge[v->edge].outcomes;

	return fmin(m->input == INFER_COUNTS ? n : n / SAMPLE_ONE, MANY);
}

static double outcome_weight(double n)
{
	return n / (1 + OUTCOME_BIAS * n);
}

/* What is expected of an edge without evidence, relative to its block's others. */
static double prior(const struct model *m, const struct succ *v)
{
	const struct cfg_edge *e = m->g->edge + v->edge;

	return m->input == INFER_SAMPLES && v->edge != NONE && e->kind == EDGE_TAKEN &&
		       e->dst > e->src
		   ? FORWARD_JUMP
		   : 1;
}

static void weigh_succs(struct model *m, uint32_t b)
{
	struct succ *v, *begin = m->succ + m->first[b], *end = m->succ + m->first[b + 1];
	double all = 0, expected = 0;

	for (v = begin; v < end; v++) {
		all += seen(m, v);
		expected += prior(m, v);
	}
	for (v = begin; v < end; v++)
		v->share =
		    (seen(m, v) + UNSEEN_SHARE * prior(m, v) / expected) / (all + UNSEEN_SHARE);
	if (m->input == INFER_COUNTS)
		m->outcomes[b] = m->weight[b] * (all > 0 ? 1 : EVENNESS);
	else
		m->outcomes[b] = UNSEEN_SHARE + outcome_weight(all);
	if (end - begin > WIDE)
		m->weight[b] = m->outcomes[b] = fmax(m->weight[b], m->outcomes[b]);
}

static void weigh_outcomes(struct model *m)
{
	uint32_t b;

	for (b = 0; b < m->g->nblock; b++)
		weigh_succs(m, b);
}

static void update_succs(struct model *m, uint32_t b)
{
	struct succ *v, *begin = m->succ + m->first[b], *end = m->succ + m->first[b + 1];
	double x = model_block_flow(m, b), divergence = 0;

	for (v = begin; v < end; v++) {
		v->step = ln(v->flow / (v->share * x));
		divergence += v->flow / x * v->step;
	}
	for (v = begin; v < end; v++)
		v->gradient += m->outcomes[b] / x * (v->step - divergence);
}

static void update_outcomes(struct model *m)
{
	uint32_t b;

	for (b = 0; b < m->g->nblock; b++)
		if (model_branches(m, b))
			update_succs(m, b);
}

/* ---- predecessors ---- */

static double came(const struct model *m, const struct succ *v)
{
	return fmin((double)m->g->edge[v->edge].pred / SAMPLE_ONE, MANY);
}

static void weigh_preds(struct model *m)
{
	struct succ *v, *end = m->succ + m->first[m->g->nblock];
	const uint32_t *pred = m->g->pred;
	double *all = m->inflow; /* not in use yet */
	uint32_t b, n;

	for (v = m->succ; v < end; v++)
		if (v->dst != NONE)
			all[v->dst] += came(m, v);
	for (b = 0; b < m->g->nblock; b++) {
		n = pred[b + 1] - pred[b];
		if (!m->r->entry[b] && n > 1 && n <= WIDE)
			m->pred[b] = outcome_weight(all[b]);
	}
	for (v = m->succ; v < end; v++)
		if (v->dst != NONE)
			v->pred_share =
			    (came(m, v) + UNSEEN_SHARE / (pred[v->dst + 1] - pred[v->dst])) /
			    (all[v->dst] + UNSEEN_SHARE);
}

/* These couple flows that leave different blocks, so only their diagonal goes into the Hessian,
 * which is no smaller: steps get shorter. */
static void update_preds(struct model *m)
{
	struct succ *v, *end = m->succ + m->first[m->g->nblock];
	double w;

	memset(m->inflow, 0, m->g->nblock * sizeof *m->inflow);
	memset(m->divergence, 0, m->g->nblock * sizeof *m->divergence);
	for (v = m->succ; v < end; v++)
		if (v->dst != NONE)
			m->inflow[v->dst] += v->flow;
	for (v = m->succ; v < end; v++) {
		v->bend = 0;
		if (v->dst == NONE || !(m->pred[v->dst] > 0))
			continue;
		v->step = ln(v->flow / (v->pred_share * m->inflow[v->dst]));
		m->divergence[v->dst] += v->flow / m->inflow[v->dst] * v->step;
	}
	for (v = m->succ; v < end; v++) {
		if (v->dst == NONE || !(m->pred[v->dst] > 0))
			continue;
		w = m->pred[v->dst] / m->inflow[v->dst];
		v->gradient += w * (v->step - m->divergence[v->dst]);
		v->bend = w / v->flow;
	}
}

/* ---- all of it ---- */

/* The evidence, in the order in which it is weighed; each adds its gradient to those before it. */
static const struct term {
	void (*weigh)(struct model *m);
	void (*update)(struct model *m);
} terms[] = {
    {weigh_blocks, update_blocks},
    {weigh_outcomes, update_outcomes},
    {weigh_preds, update_preds},
};
enum { NTERM = sizeof terms / sizeof *terms };

void model_update(struct model *m)
{
	size_t i;

	for (i = 0; i < NTERM; i++)
		terms[i].update(m);
}

static bool sampled(const struct model *m, uint32_t b)
{
	const struct cfg_block *k = &m->g->block[b];

	return m->input == INFER_COUNTS ? k->count : k->samples;
}

/* Not sampled is not unused; not counted is. */
static bool usable(const struct model *m, uint32_t b)
{
	return sampled(m, b) || (m->input == INFER_SAMPLES && !(m->g->block[b].flags & COLD));
}

/* Unsampled cold blocks, and what is only reachable through them, take no part, unless samples
 * cannot be explained otherwise. */
static void choose_blocks(struct model *m, struct arena *a)
{
	uint8_t *may = arena_array(a, m->g->nblock, 1);
	struct tree in, out;
	bool all = false;
	uint32_t b;

	for (b = 0; b < m->g->nblock; b++)
		may[b] = usable(m, b);
	tree_both(&in, &out, m->g, m->r, may, a);
	m->used = arena_array(a, m->g->nblock, 1);
	for (b = 0; b < m->g->nblock; b++) {
		m->used[b] = in.seen[b] && out.seen[b];
		all = all || (!m->used[b] && sampled(m, b));
	}
	for (b = 0; b < m->g->nblock && all; b++)
		m->used[b] = 1;
}

static void add_succ(struct model *m, uint32_t b, uint32_t dst, uint32_t edge)
{
	m->succ[m->first[b + 1]++] = (struct succ){.dst = dst, .edge = edge};
}

static void list_succs(struct model *m, struct arena *a)
{
	const struct cfg *g = m->g;
	uint32_t b, i;

	m->succ = arena_array(a, (size_t)g->nedge + g->nblock, sizeof *m->succ);
	m->first = arena_array(a, (size_t)g->nblock + 1, sizeof *m->first);
	for (b = 0; b < g->nblock; b++) {
		m->first[b + 1] = m->first[b];
		for (i = g->succ[b]; i < g->succ[b + 1] && m->used[b]; i++)
			if (m->used[g->edge[i].dst])
				add_succ(m, b, g->edge[i].dst, i);
		if (m->used[b] && m->r->exit[b])
			add_succ(m, b, NONE, NONE);
	}
}

/* Executions per entry of the function, by sweeps: each propagates them by one block. */
static double *executions(const struct model *m, struct arena *a)
{
	enum { SWEEPS = 100 };
	uint32_t n = m->g->nblock, b, round;
	double *x = arena_array(a, 2 * (size_t)n, sizeof *x), *next = x + n, *last;
	const struct succ *v;

	for (round = 0; round < SWEEPS; round++) {
		for (b = 0; b < n; b++)
			next[b] = m->used[b] && m->r->entry[b];
		for (b = 0; b < n; b++)
			for (v = m->succ + m->first[b]; v < m->succ + m->first[b + 1]; v++)
				if (v->dst != NONE)
					next[v->dst] += x[b] * v->share;
		last = x;
		x = next;
		next = last;
	}
	return x;
}

/* Samples do not say where to begin: the cost has several minima, and they lead to a wrong one
 * where samples of the last blocks of a loop are attributed to the blocks before them, so that the
 * function seems to be called once per iteration. */
static void begin_with_shares(struct model *m, struct arena *a)
{
	double *x = executions(m, a), time = 0, spent = 0, calls;
	struct succ *v;
	uint32_t b;

	for (b = 0; b < m->g->nblock; b++) {
		time += x[b] * insns(m, b);
		spent += sampled(m, b) ? m->estimate[b] * insns(m, b) : 0;
	}
	calls = spent / time;
	for (b = 0; b < m->g->nblock; b++) {
		m->in[b] = m->used[b] && m->r->entry[b] ? model_within(m, calls) : 0;
		for (v = m->succ + m->first[b]; v < m->succ + m->first[b + 1]; v++)
			v->flow = model_within(m, calls * x[b] * v->share);
	}
}

void model_make(struct model *m, const struct cfg *g, const struct reach *r, enum infer_input input,
    struct arena *a)
{
	double **array[] = {&m->estimate, &m->weight, &m->bound, &m->outcomes, &m->pred, &m->inflow,
	    &m->divergence, &m->in};
	size_t i;

	*m = (struct model){
	    .g = g, .r = r, .input = input, .most = 0x1p50 / ((double)g->nblock + g->nedge)};
	for (i = 0; i < sizeof array / sizeof *array; i++)
		*array[i] = arena_array(a, g->nblock, sizeof(double));
	choose_blocks(m, a);
	list_succs(m, a);
	for (i = 0; i < NTERM; i++)
		terms[i].weigh(m);
	begin_with_shares(m, a);
}

void model_shrink(struct model *m)
{
	double time = 0, spent = 0, by;
	struct succ *v;
	uint32_t b;

	for (b = 0; b < m->g->nblock; b++) {
		time += model_block_flow(m, b) * insns(m, b);
		spent += sampled(m, b) ? m->estimate[b] * insns(m, b) : 0;
	}
	by = spent < time ? spent / time : 1;
	for (b = 0; b < m->g->nblock; b++) {
		m->in[b] *= by;
		for (v = m->succ + m->first[b]; v < m->succ + m->first[b + 1]; v++)
			v->flow *= by;
	}
}
