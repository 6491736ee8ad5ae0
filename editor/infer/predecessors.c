#include "editor/infer/joint.h"

#include <math.h>

static const double UNSEEN_SHARE = 0.5; /* in outcomes: the prior of all incoming edges of a block
					   */
static const double PRED_DISCOUNT = 2;  /* down-weighted sooner than outcomes: more time passes
					   before the sample */
static const uint32_t NONE = UINT32_MAX, WIDE = 64; /* more predecessors are ignored */

static double seen(const struct joint *j, const struct succ *v)
{
	return fmin((double)j->g->edge[v->edge].pred / SAMPLE_ONE, JOINT_MANY);
}

void joint_pred_weigh(struct joint *j, struct arena *a)
{
	uint32_t n = j->g->nblock, b, *npred = arena_array(a, n, sizeof *npred);
	struct succ *v, *end = j->succ + j->first[n];
	double *all = j->inflow; /* not in use yet */

	for (v = j->succ; v < end; v++)
		if (v->dst != NONE) {
			all[v->dst] += seen(j, v);
			npred[v->dst]++;
		}
	for (b = 0; b < n; b++)
		if (j->used[b] && !j->r->entry[b] && npred[b] > 1 && npred[b] <= WIDE)
			j->pred_weight[b] = all[b];
	for (v = j->succ; v < end; v++)
		if (v->dst != NONE)
			v->pred_share = (seen(j, v) + UNSEEN_SHARE / npred[v->dst]) /
					(all[v->dst] + UNSEEN_SHARE);
}

/* Predecessor shares come from the block's own samples, so these are floored at the expected count:
 * with fewer than its flow explains, they come from an unrepresentative subset. */
static double believed(const struct joint *j, uint32_t b)
{
	const struct cfg_block *k = &j->g->block[b];
	double due = j->inflow[b] * (joint_insns(k) + j->skew[b]) / COUNT_ONE;
	double samples = fmax((double)k->samples / SAMPLE_ONE, due);

	return joint_downweighted(joint_outcome_weight(samples, j->pred_weight[b], PRED_DISCOUNT),
	    PRED_DISCOUNT * fmax(j->divergence[b], 0));
}

void joint_pred_update(struct joint *j)
{
	uint32_t n = j->g->nblock, b;
	struct succ *v, *end = j->succ + j->first[n];
	double w;

	for (b = 0; b < n; b++)
		j->inflow[b] = j->divergence[b] = 0;
	for (v = j->succ; v < end; v++)
		if (v->dst != NONE)
			j->inflow[v->dst] += v->flow;
	for (v = j->succ; v < end; v++) {
		v->slope = v->bend = 0;
		if (v->dst == NONE || !(j->pred_weight[v->dst] > 0))
			continue;
		v->slope = joint_ln(v->flow / (v->pred_share * j->inflow[v->dst]));
		j->divergence[v->dst] += v->flow / j->inflow[v->dst] * v->slope;
	}
	for (v = j->succ; v < end; v++) {
		if (v->dst == NONE || !(j->pred_weight[v->dst] > 0))
			continue;
		w = believed(j, v->dst) / j->inflow[v->dst];
		v->slope = w * (v->slope - j->divergence[v->dst]);
		v->bend = w / v->flow;
	}
}
