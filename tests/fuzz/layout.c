/*
 * Block order, split and score on graphs and counts out of fuzzed bytes, which
 * need not be consistent: a permutation with the entry first comes out.
 */
#include "editor/layout.h"
#include "tests/fuzz/graph.h"

static void check(const struct cfg *g, const struct layout *l, struct arena *a)
{
	uint8_t *seen = arena_array(a, g->nblock, 1);
	struct layout_score s;
	uint32_t k;

	for (k = 0; k < g->nblock; k++)
		if (l->order[k] >= g->nblock || seen[l->order[k]]++)
			abort();
	if (l->order[0] || !l->nhot || l->nhot > g->nblock)
		abort();
	layout_score(g, l, &s);
	if (!(s.exttsp >= 0) || !(s.taken <= s.total))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct layout_options o;
	struct arena a = {0};
	struct layout l;
	struct cfg g;

	if (n && fuzz_graph(&g, p + 1, n - 1, &a)) {
		o.split = p[0] & 1;
		layout_blocks(&g, &o, &l, &a);
		check(&g, &l, &a);
		layout_random(&g, &o, p[0], &l, &a);
		check(&g, &l, &a);
	}
	arena_free(&a);
	return 0;
}
