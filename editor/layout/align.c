/*
 * Alignment by counts. The header of a small hot loop begins on a boundary, so that the loop takes
 * the fewest lines; back edges must outnumber by far the executions of the padding. Nothing else is
 * aligned: padding enlarges the hot part.
 */
#include "editor/layout/slots.h"

#include <stdlib.h>

enum {
	ROUNDS_MIN = 16, /* iterations of a loop that is worth padding */
	WINDOW = 5,      /* log2 of what is fetched and decoded at once */
	LINE = 6         /* of a cache line */
};

/* Of the loops that end in a jump back to a slot: executions of the back edges, and the length of
 * the longest. */
struct loop {
	uint64_t back, bytes;
};

static void add_back_edges(
    const struct cfg *g, const struct layout *l, const uint64_t *addr, struct loop *loop)
{
	uint32_t *slot = xcalloc(g->nblock, sizeof *slot), i;
	const struct cfg_edge *e;
	struct loop *at;
	uint64_t bytes;

	layout_primary(g, l, slot);
	for (i = 0; i < g->nedge; i++) {
		e = &g->edge[i];
		if (!e->count || e->kind == EDGE_INDIRECT || slot[e->src] < slot[e->dst] ||
		    slot[e->src] >= l->nhot)
			continue;
		at = &loop[slot[e->dst]];
		bytes = addr[slot[e->src]] + g->block[e->src].bytes - addr[slot[e->dst]];
		at->back += e->count;
		at->bytes = bytes > at->bytes ? bytes : at->bytes;
	}
	free(slot);
}

/* The boundary that keeps a loop of so many bytes in one window or line. */
static uint8_t boundary(uint64_t bytes)
{
	if (bytes > 1u << LINE)
		return 0;
	return bytes > 1u << WINDOW ? LINE : WINDOW;
}

void align_slots(const struct cfg *g, uint64_t hot, struct layout *l, struct arena *a)
{
	struct loop *loop = xcalloc(l->n, sizeof *loop);
	uint64_t *addr = xcalloc(l->n, sizeof *addr), count;
	uint32_t k;

	l->align = arena_array(a, l->n, sizeof *l->align);
	layout_addresses(g, l, addr);
	add_back_edges(g, l, addr, loop);
	for (k = 1; k < l->nhot; k++) {
		layout_falls(g, l, k - 1, &count);
		if (loop[k].back >= hot && loop[k].back / ROUNDS_MIN >= count)
			l->align[k] = boundary(loop[k].bytes);
	}
	free(addr);
	free(loop);
}
