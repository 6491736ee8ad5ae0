/*
 * cov >= 120
 * Raw counts of a counting build: what is read lies in the file, and its
 * places give counts of a function or are refused.
 */
#include "editor-driver/profile/rawcounts.h"

#include <stdlib.h>
#include <string.h>

static void solve(const struct raw_func *f)
{
	static const struct cfg_edge edges[] = {{0, 1, EDGE_NOTTAKEN, 0}, {0, 2, EDGE_TAKEN, 0},
	    {1, 3, EDGE_INDIRECT, 0}, {1, 4, EDGE_INDIRECT, 0}, {2, 3, EDGE_INDIRECT, 0},
	    {2, 4, EDGE_INDIRECT, 0}, {3, 0, EDGE_JUMP, 0}};
	struct cfg_edge edge[7];
	struct cfg_block block[5] = {{.flags = BLK_CALLS}, {.flags = BLK_INDIRECT},
	    {.flags = BLK_INDIRECT}, {0}, {.flags = BLK_EXIT}};
	struct cfg g = {block, edge, 5, 7};
	struct arena scratch = {0};
	uint8_t known[7];
	uint64_t off;

	memcpy(edge, edges, sizeof edge);
	probes_solve(&g, &f->probes, f->value, known, &off, &scratch, NULL);
	arena_free(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct rawcounts c;
	struct err e;
	size_t i;

	if (!rawcounts_parse(p, n, "fuzz", &c, &e))
		for (i = 0; i < c.func.n; i++)
			solve(&c.func.v[i]);
	rawcounts_free(&c);
	return 0;
}
