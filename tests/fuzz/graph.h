/*
 * A flow graph out of fuzzed bytes: two bytes of size, three per block (flags
 * and instructions, bytes, a count as mantissa and exponent), three per edge.
 */
#ifndef MORPH_TESTS_FUZZ_GRAPH_H
#define MORPH_TESTS_FUZZ_GRAPH_H

#include "common/mem.h"
#include "editor/cfg.h"

#include <stdbool.h>
#include <stdlib.h>

static int fuzz_by_src(const void *pa, const void *pb)
{
	const struct cfg_edge *a = pa, *b = pb;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->dst != b->dst)
		return a->dst < b->dst ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

/* Edges out of the rest of the bytes, sorted, none twice. */
static inline void fuzz_edges(struct cfg *g, const uint8_t *p, size_t n, struct arena *a)
{
	uint32_t i, last = 0;

	g->edge = arena_array(a, n / 3, sizeof *g->edge);
	for (i = 0; i < n / 3; i++, p += 3)
		g->edge[i] = (struct cfg_edge){p[0] % g->nblock, p[1] % g->nblock,
		    p[2] % (EDGE_INDIRECT + 1), (uint64_t)p[2] << (p[2] % 50),
		    p[2] & 1 ? (uint64_t)(p[2] >> 3) << (p[1] & 63) : 0};
	g->nedge = i;
	if (g->nedge)
		qsort(g->edge, g->nedge, sizeof *g->edge, fuzz_by_src);
	for (i = 1; i < g->nedge; i++)
		if (fuzz_by_src(&g->edge[last], &g->edge[i]))
			g->edge[++last] = g->edge[i];
	g->nedge = g->nedge ? last + 1 : 0;
}

static inline bool fuzz_graph(struct cfg *g, const uint8_t *p, size_t n, struct arena *a)
{
	struct cfg_block *b;
	uint32_t i;

	if (n < 5)
		return false;
	*g = (struct cfg){.nblock = 1 + p[0] % 200};
	p++, n--;
	g->block = arena_array(a, g->nblock, sizeof *g->block);
	for (i = 0; i < g->nblock && n >= 3; i++, p += 3, n -= 3) {
		b = &g->block[i];
		b->flags = p[0] & 31;
		b->insns = p[0] == 255 ? UINT32_MAX : p[0] >> 5;
		b->bytes = p[1] == 255 ? UINT32_MAX : p[1];
		b->count = b->samples = (uint64_t)(p[2] >> 6) << (p[2] & 63);
	}
	fuzz_edges(g, p, n, a);
	cfg_index(g, a);
	return true;
}

#endif
