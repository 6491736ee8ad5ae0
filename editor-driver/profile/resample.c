#include "editor-driver/profile/resample.h"
#include "common/random.h"

#include <math.h>

static double uniform(uint64_t *state)
{
	return ((double)(random_next(state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(uniform(state))) * cos(2 * M_PI * uniform(state));
}

static uint64_t poisson(double mean, uint64_t *state)
{
	double left = mean;
	uint64_t n = 0;

	if (mean > 50)
		return (uint64_t)fmax(0, round(mean + sqrt(mean) * normal(state)));
	for (left += log(uniform(state)); left > 0; left += log(uniform(state)))
		n++;
	return n;
}

void resample(struct cfg *g, const struct resample_rates *r, uint64_t *state)
{
	double expected, executed;
	struct cfg_block *k;
	uint32_t b, i;

	for (b = 0; b < g->nblock; b++) {
		k = &g->block[b];
		executed = (double)k->count;
		expected = executed * (k->insns < 1 ? 1 : k->insns) * r->samples;
		k->samples = poisson(expected, state) * SAMPLE_ONE;
		for (i = g->succ[b]; i < g->succ[b + 1]; i++) {
			g->edge[i].pred = 0;
			g->edge[i].outcomes = g->succ[b + 1] - g->succ[b] > 1 && executed > 0
						  ? poisson(expected * r->outcomes *
								(double)g->edge[i].count / executed,
							state) *
							SAMPLE_ONE
						  : 0;
		}
	}
}
