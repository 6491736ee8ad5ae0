/*
 * cov >= 410
 * Flow inference on graphs and counts out of fuzzed bytes: it must end, and Kirchhoff's law must
 * hold.
 */
#include "editor/infer/infer.h"
#include "editor/infer/flow.h"
#include "tests/fuzz/graph.h"

static void check_flow(const struct cfg *g, struct arena *a)
{
	uint64_t *in = arena_array(a, g->nblock, sizeof *in);
	uint64_t *out = arena_array(a, g->nblock, sizeof *out);
	struct reach r;
	uint32_t i;

	reach_find(&r, g, a);
	for (i = 0; i < g->nedge; i++) {
		if (__builtin_add_overflow(
			out[g->edge[i].src], g->edge[i].count, &out[g->edge[i].src]) ||
		    __builtin_add_overflow(
			in[g->edge[i].dst], g->edge[i].count, &in[g->edge[i].dst]))
			abort();
	}
	for (i = 0; i < g->nblock; i++)
		if (in[i] > g->block[i].count || out[i] > g->block[i].count ||
		    (in[i] < g->block[i].count && !r.entry[i]) ||
		    (out[i] < g->block[i].count && !r.exit[i]))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct arena a = {0};
	struct cfg g;

	if (n && fuzz_graph(&g, p + 1, n - 1, &a)) {
		infer(&g, p[0] & 1 ? INFER_COUNTS : INFER_SAMPLES, &a);
		check_flow(&g, &a);
	}
	arena_free(&a);
	return 0;
}
