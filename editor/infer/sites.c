#include "editor/infer/infer.h"
#include "editor/infer/joint.h"

#include <math.h>

static const double SITE_BIAS = 0.15; /* squared relative error of call sites' samples */
static const double MOST = 0x1p54; /* samples */

/* Samples per instruction by the evidence of call sites, and its weight. */
struct estimate {
	double rate, weight;
};

static double samples(uint64_t fixed)
{
	return (double)fixed / SAMPLE_ONE;
}

/* Divides the executions of the blocks by the samples that the sites of one callee have. */
static void add_sites(
    struct estimate *estimate, const struct cfg *g, const struct infer_site *site, size_t n)
{
	double rates = 0, seen = 0, weight;
	size_t i;

	for (i = 0; i < n; i++) {
		rates += samples(g->block[site[i].block].samples) /
			 joint_insns(&g->block[site[i].block]);
		seen += samples(site[i].samples);
	}
	if (n < 2 || !(rates > 0))
		return;
	for (i = 0; i < n; i++) {
		weight = 1 / (1 / samples(site[i].samples) + SITE_BIAS);
		estimate[site[i].block].rate += weight * rates * samples(site[i].samples) / seen;
		estimate[site[i].block].weight += weight;
	}
}

void infer_sites(struct cfg *g, const struct infer_site *site, size_t n, struct arena *scratch)
{
	struct estimate *estimate = arena_array(scratch, g->nblock, sizeof *estimate);
	struct cfg_block *k;
	double own, rate;
	size_t i, end;
	uint32_t b;

	for (i = 0; i < n; i = end) {
		for (end = i; end < n && site[end].callee == site[i].callee; end++)
			;
		add_sites(estimate, g, site + i, end - i);
	}
	for (b = 0; b < g->nblock; b++) {
		if (!(estimate[b].weight > 0))
			continue;
		k = &g->block[b];
		own = k->samples ? infer_weight(k, samples(k->samples)) : UNSEEN_WEIGHT;
		estimate[b].rate += own * samples(k->samples) / joint_insns(k);
		rate = estimate[b].rate / (estimate[b].weight + own);
		k->samples = (uint64_t)(fmin(rate * joint_insns(k), MOST) * SAMPLE_ONE);
	}
}
