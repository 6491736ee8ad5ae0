#include "editor/infer/infer.h"
#include "editor/infer/joint.h"

#include <math.h>

static const double BIAS = 0.15;   /* of what call sites' samples say, by their square */
static const double MOST = 0x1p54; /* samples */

/* Samples a block would have, by what was said, and how much that is worth. */
struct told {
	double rate, worth;
};

static double samples(uint64_t fixed)
{
	return (double)fixed / SAMPLE_ONE;
}

/* Shares the blocks' executions by what the sites of one callee saw. */
static void tell(struct told *told, const struct cfg *g, const struct infer_site *site, size_t n)
{
	double rates = 0, seen = 0, worth;
	size_t i;

	for (i = 0; i < n; i++) {
		rates += samples(g->block[site[i].block].samples) /
			 joint_insns(&g->block[site[i].block]);
		seen += samples(site[i].samples);
	}
	if (n < 2 || !(rates > 0))
		return;
	for (i = 0; i < n; i++) {
		worth = 1 / (1 / samples(site[i].samples) + BIAS);
		told[site[i].block].rate += worth * rates * samples(site[i].samples) / seen;
		told[site[i].block].worth += worth;
	}
}

void infer_sites(struct cfg *g, const struct infer_site *site, size_t n, struct arena *scratch)
{
	struct told *told = arena_array(scratch, g->nblock, sizeof *told);
	struct cfg_block *k;
	double own;
	size_t i, end;
	uint32_t b;

	for (i = 0; i < n; i = end) {
		for (end = i; end < n && site[end].callee == site[i].callee; end++)
			;
		tell(told, g, site + i, end - i);
	}
	for (b = 0; b < g->nblock; b++) {
		if (!(told[b].worth > 0))
			continue;
		k = &g->block[b];
		own = k->samples ? infer_worth(k, samples(k->samples)) : UNSEEN_WORTH;
		told[b].rate += own * samples(k->samples) / joint_insns(k);
		k->samples =
		    (uint64_t)(fmin(told[b].rate / (told[b].worth + own) * joint_insns(k), MOST) *
			       SAMPLE_ONE);
	}
}
