#include "editor/infer/joint.h"

#include <math.h>

static const double PACE = 0.5; /* towards the skew of the present flows */
static const double CLIP = 4;   /* bound on a block's misfit: the square of a factor's ln */

void joint_skew(struct joint *j, double time)
{
	double *to = j->skew_in, x;
	const struct succ *v;
	uint32_t b;

	for (b = 0; b < j->g->nblock; b++)
		to[b] = 0;
	for (b = 0; b < j->g->nblock; b++) {
		if (!j->used[b] || !joint_branches(j, b))
			continue;
		x = joint_block_flow(j, b);
		for (v = j->succ + j->first[b]; v < j->succ + j->first[b + 1]; v++)
			if (v->edge != UINT32_MAX && j->g->edge[v->edge].kind != EDGE_INDIRECT)
				to[v->dst] += time * v->flow * (1 - v->flow / x);
	}
	for (b = 0; b < j->g->nblock; b++)
		if (j->used[b])
			j->skew[b] += PACE * (to[b] / joint_block_flow(j, b) - j->skew[b]);
}

double joint_misfit(struct joint *j)
{
	double sum = 0, x, d, divergence;
	const struct cfg_block *k;
	uint32_t b;

	for (b = 0; b < j->g->nblock; b++) {
		if (!j->used[b])
			continue;
		x = joint_block_flow(j, b);
		k = &j->g->block[b];
		if (k->samples) {
			d = joint_ln(x / joint_estimate(j, b));
			sum += infer_weight(k, (double)k->samples / SAMPLE_ONE) *
			       fmin(d * d, CLIP) / 2;
		}
		if (joint_branches(j, b) && j->seen[b] > 0) {
			divergence = fmax(joint_divergence(j, b, x), 0);
			sum += joint_believed(j, b, divergence) * divergence;
		}
	}
	return sum;
}
