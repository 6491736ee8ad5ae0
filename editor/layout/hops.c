#include "editor/layout/hops.h"
#include "editor/layout/slots.h"

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

static bool helps(const struct cfg *g, const struct layout_options *o, const double *bits)
{
	double blocks = 0, sum = 0;
	uint32_t b;

	for (b = 0; b < g->nblock; b++) {
		blocks += (double)g->block[b].count;
		sum += bits[b];
	}
	return sum >= o->cpu->hop_func_bits * blocks &&
	       (double)o->calls <= o->cpu->hop_calls * blocks;
}

static void add(
    const struct cfg *g, const struct layout_options *o, const double *bits, struct layout *l)
{
	uint64_t count;
	uint32_t k, b;

	for (k = 0; k + 1 < l->nhot; k++) {
		b = l->order[k + 1];
		if (g->block[b].count < o->hot || (l->copy && l->copy[k + 1]) ||
		    bits[b] < o->cpu->hop_jump_bits * (double)g->block[b].count)
			continue;
		l->hop[k] = layout_falls(g, l, k, &count) && count;
	}
}

void hops_add(
    const struct cfg *g, const struct layout_options *o, struct layout *l, struct arena *a)
{
	double *bits = xcalloc(g->nblock, sizeof *bits);

	entropy_blocks(g, bits);
	if (helps(g, o, bits)) {
		l->hop = arena_array(a, l->n, sizeof *l->hop);
		add(g, o, bits, l);
	}
	free(bits);
}
