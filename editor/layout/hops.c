#include "editor/layout/hops.h"
#include "editor/layout/entropy.h"
#include "editor/layout/slots.h"

#include <stdlib.h>

/* Tuned on ten programs, on a Zen 5 (docs/notes/zen5.md, "Hops"). */
static const double BITS_FUNC = 0.3, /* per executed block */
    BITS_JUMP = 0.8,                 /* of a branch: its rarer outcome is one in four */
    CALLS = 1. / 32;                 /* per executed block */

static bool helps(const struct cfg *g, const double *bits, uint64_t calls)
{
	double blocks = 0, sum = 0;
	uint32_t b;

	for (b = 0; b < g->nblock; b++) {
		blocks += (double)g->block[b].count;
		sum += bits[b];
	}
	return sum >= BITS_FUNC * blocks && (double)calls <= CALLS * blocks;
}

static void add(const struct cfg *g, uint64_t hot, const double *bits, struct layout *l)
{
	uint64_t count;
	uint32_t k, b;

	for (k = 0; k + 1 < l->nhot; k++) {
		b = l->order[k + 1];
		if (g->block[b].count < hot || (l->copy && l->copy[k + 1]) ||
		    bits[b] < BITS_JUMP * (double)g->block[b].count)
			continue;
		l->hop[k] = layout_falls(g, l, k, &count) && count;
	}
}

void hops_add(
    const struct cfg *g, const struct layout_options *o, struct layout *l, struct arena *a)
{
	double *bits = xcalloc(g->nblock, sizeof *bits);

	entropy_blocks(g, bits);
	if (helps(g, bits, o->calls)) {
		l->hop = arena_array(a, l->n, sizeof *l->hop);
		add(g, o->hot, bits, l);
	}
	free(bits);
}
