#include "editor/layout/entropy.h"
#include "common/mem.h"

#include <math.h>
#include <stdlib.h>

static double entropy(double taken, double not_taken)
{
	double n = taken + not_taken;

	if (taken <= 0 || not_taken <= 0)
		return 0;
	return n * log2(n) - taken * log2(taken) - not_taken * log2(not_taken);
}

void entropy_blocks(const struct cfg *g, double *bits)
{
	uint64_t *outcome = xcalloc((size_t)2 * g->nblock, sizeof *outcome);
	const struct cfg_edge *e;
	uint32_t b;

	for (e = g->edge; e < g->edge + g->nedge; e++)
		if (e->kind == EDGE_TAKEN || e->kind == EDGE_NOTTAKEN)
			outcome[2 * e->src + (e->kind == EDGE_TAKEN)] = e->count;
	for (b = 0; b < g->nblock; b++)
		bits[b] = entropy((double)outcome[2 * b], (double)outcome[2 * b + 1]);
	free(outcome);
}
