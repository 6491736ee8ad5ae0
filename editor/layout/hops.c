#include "editor/layout/hops.h"
#include "editor/layout/entropy.h"
#include "editor/layout/slots.h"

#include <stdlib.h>

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
