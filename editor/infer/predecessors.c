#include "editor/infer/joint.h"

#include <math.h>

static const double ANY_WAY = 0.5; /* witnesses that all ways into a block share unseen */
static const double BIAS = 2;      /* how much sooner they are doubted: time goes by the way */
static const uint32_t NONE = UINT32_MAX, WIDE = 64; /* more ways in are not looked at */

static double seen(const struct joint *j, const struct way *v)
{
	return fmin((double)j->g->edge[v->edge].came / SAMPLE_ONE, JOINT_MANY);
}

void joint_came_weigh(struct joint *j, struct arena *a)
{
	uint32_t n = j->g->nblock, b, *ways = arena_array(a, n, sizeof *ways);
	struct way *v, *end = j->way + j->first[n];
	double *all = j->come; /* not in use yet */

	for (v = j->way; v < end; v++)
		if (v->dst != NONE) {
			all[v->dst] += seen(j, v);
			ways[v->dst]++;
		}
	for (b = 0; b < n; b++)
		if (j->used[b] && !j->r->entry[b] && ways[b] > 1 && ways[b] <= WIDE)
			j->behind[b] = all[b];
	for (v = j->way; v < end; v++)
		if (v->dst != NONE)
			v->came = (seen(j, v) + ANY_WAY / ways[v->dst]) / (all[v->dst] + ANY_WAY);
}

/* Ways in are told by samples of the block itself: of one that has fewer than its
 * flow explains, by an odd few. */
static double believed(const struct joint *j, uint32_t b)
{
	const struct cfg_block *k = &j->g->block[b];
	double due = j->come[b] * (joint_insns(k) + j->refill[b]) / COUNT_ONE;
	double samples = fmax((double)k->samples / SAMPLE_ONE, due);

	return joint_doubted(
	    joint_witness_worth(samples, j->behind[b], BIAS), BIAS * fmax(j->far[b], 0));
}

void joint_came_look(struct joint *j)
{
	uint32_t n = j->g->nblock, b;
	struct way *v, *end = j->way + j->first[n];
	double w;

	for (b = 0; b < n; b++)
		j->come[b] = j->far[b] = 0;
	for (v = j->way; v < end; v++)
		if (v->dst != NONE)
			j->come[v->dst] += v->flow;
	for (v = j->way; v < end; v++) {
		v->slope = v->bend = 0;
		if (v->dst == NONE || !(j->behind[v->dst] > 0))
			continue;
		v->slope = joint_ln(v->flow / (v->came * j->come[v->dst]));
		j->far[v->dst] += v->flow / j->come[v->dst] * v->slope;
	}
	for (v = j->way; v < end; v++) {
		if (v->dst == NONE || !(j->behind[v->dst] > 0))
			continue;
		w = believed(j, v->dst) / j->come[v->dst];
		v->slope = w * (v->slope - j->far[v->dst]);
		v->bend = w / v->flow;
	}
}
