#include "editor-driver/profile/resample.h"
#include "common/random.h"

void resample(struct cfg *g, const struct resample_rates *r, uint64_t *state)
{
	double expected, executed;
	struct cfg_block *k;
	uint32_t b, i;

	for (b = 0; b < g->nblock; b++) {
		k = &g->block[b];
		executed = (double)k->count;
		expected = executed * (k->insns < 1 ? 1 : k->insns) * r->samples;
		k->samples = random_poisson(state, expected) * SAMPLE_ONE;
		for (i = g->succ[b]; i < g->succ[b + 1]; i++) {
			g->edge[i].pred = 0;
			g->edge[i].outcomes =
			    g->succ[b + 1] - g->succ[b] > 1 && executed > 0
				? random_poisson(state, expected * r->outcomes *
							    (double)g->edge[i].count / executed) *
				      SAMPLE_ONE
				: 0;
		}
	}
}
