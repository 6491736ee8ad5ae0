/*
 * Jump threading on the graph: an edge to a block that only jumps is redirected to its successor.
 * Indirect edges stay: tables hold the block's label.
 */
#include "editor/layout/slots.h"

#include <stdlib.h>

enum { HOPS_MAX = 16 }; /* ends in cycles of such blocks */

static bool skipped(const struct cfg *g, uint32_t b)
{
	return (g->block[b].flags & BLK_SKIP) && g->succ[b + 1] - g->succ[b] == 1 &&
	       g->edge[g->succ[b]].kind != EDGE_INDIRECT;
}

static void less(uint64_t *count, uint64_t n)
{
	*count -= n < *count ? n : *count;
}

void layout_thread(struct cfg *g)
{
	uint32_t *final = xcalloc(g->nblock, sizeof *final), i, b, hops;
	struct cfg_edge *e;

	for (i = 0; i < g->nblock; i++) {
		b = i;
		for (hops = 0; hops < HOPS_MAX && skipped(g, b); hops++)
			b = g->edge[g->succ[b]].dst;
		final[i] = hops < HOPS_MAX ? b : i;
	}
	for (i = 0; i < g->nblock; i++) {
		if (skipped(g, i))
			continue;
		for (e = g->edge + g->succ[i]; e < g->edge + g->succ[i + 1]; e++) {
			if (e->kind == EDGE_INDIRECT)
				continue;
			for (b = e->dst; b != final[e->dst]; b = g->edge[g->succ[b]].dst) {
				less(&g->block[b].count, e->count);
				less(&g->edge[g->succ[b]].count, e->count);
			}
			e->dst = final[e->dst];
		}
	}
	free(final);
	cfg_reindex(g);
}
