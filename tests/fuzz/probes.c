/*
 * cov >= 160
 * Any graph: counters are found for it, of either kind, and any values of them
 * give all counts.
 */
#include "editor/probe/probes.h"
#include "tests/fuzz/graph.h"

#include <stdio.h>

static void try(struct cfg *g, const struct probe_want *want, struct arena *a)
{
	uint8_t *known = arena_array(a, g->nedge, 1);
	struct probes p;
	uint64_t *value, off;
	struct err e;
	uint32_t i;

	probes_choose(g, want, &p, a);
	value = arena_array(a, p.n, sizeof *value);
	for (i = 0; i < p.n; i++)
		value[i] = g->block[i % g->nblock].samples;
	if (probes_solve(g, &p, value, known, &off, a, &e)) {
		fprintf(stderr, "%s\n", e.text);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct arena a = {0};
	struct probe_want want;
	uint8_t *dear;
	struct cfg g;
	uint32_t i;

	if (fuzz_graph(&g, p, n, &a)) {
		dear = arena_array(&a, g.nblock, 1);
		for (i = 0; i < g.nblock; i++) {
			dear[i] = g.block[i].bytes & 1;
			g.block[i].flags |= g.block[i].bytes & 2 ? BLK_CALLS : 0;
		}
		for (i = 0; i < 8; i++) {
			want = (struct probe_want){i & 1, i & 2, i & 4, dear};
			try(&g, &want, &a);
		}
	}
	arena_free(&a);
	return 0;
}
