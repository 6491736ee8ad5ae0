/*
 * cov >= 210
 * Block order, copies, split and score on graphs and counts out of fuzzed bytes, which
 * need not be consistent: every block has one main place, the entry first, and no copy
 * of what may not have one.
 */
#include "editor/layout/layout.h"
#include "editor/layout/tails.h"
#include "tests/fuzz/graph.h"

static void check(const struct cfg *g, const struct layout *l, struct arena *a)
{
	uint8_t *seen = arena_array(a, g->nblock, 1);
	struct layout_score s;
	uint32_t k;

	double *count = arena_array(a, l->n, sizeof *count);
	uint32_t n = 0;

	for (k = 0; k < l->n; k++) {
		if (l->order[k] >= g->nblock)
			abort();
		if (l->copy && l->copy[k] ? !tails_may_copy(g, l->order[k]) : seen[l->order[k]]++)
			abort();
		n += !l->copy || !l->copy[k];
	}
	for (k = 0; l->align && k < l->n; k++)
		if (l->align[k] > 6)
			abort();
	for (k = 0; l->hop && k < l->n; k++)
		if (l->hop[k] && (k + 1 == l->n || (l->copy && l->copy[k + 1])))
			abort();
	if (n != g->nblock || l->order[0] || !l->nhot || l->nhot > l->n)
		abort();
	layout_flow(g, l, count);
	for (k = 0; k < l->n; k++)
		if (!(count[k] >= 0 && count[k] <= (double)g->block[l->order[k]].count))
			abort();
	layout_score(g, l, &s);
	if (!(s.exttsp >= 0) || !(s.taken <= s.total))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const struct layout_cpu cpu[] = {{0}, {1e-3, .3, 1. / 32, .8}};
	struct layout_options o;
	struct arena a = {0};
	struct layout l;
	struct cfg g;

	if (n && fuzz_graph(&g, p + 1, n - 1, &a)) {
		o.split = p[0] & 1;
		o.copies = p[0] & 2;
		o.cpu = &cpu[p[0] >> 2 & 1];
		o.calls = p[0] % 4;
		o.executed = 1e5 * (p[0] % 8);
		o.hot = p[0];
		layout_blocks(&g, &o, &l, &a);
		check(&g, &l, &a);
		layout_random(&g, &o, p[0], &l, &a);
		check(&g, &l, &a);
	}
	arena_free(&a);
	return 0;
}
