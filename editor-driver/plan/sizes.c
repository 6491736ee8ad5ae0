#include "editor-driver/plan/passes.h"
#include "editor/layout/relax.h"

#include <stdlib.h>

/* The lengths of the direct jumps at the ends of blocks follow from their targets. */
static void set_jumps(const struct bm_block *const *at, struct cfg *g)
{
	const struct bm_block *src, *dst;
	const struct cfg_edge *e;
	uint32_t n;

	for (e = g->edge; e < g->edge + g->nedge; e++) {
		src = at[e->src];
		dst = at[e->dst];
		if ((e->kind != EDGE_TAKEN && e->kind != EDGE_JUMP) || !src || !dst)
			continue;
		n = relax_jump(e->kind, src->addr + src->size, dst->addr);
		if (n <= src->size)
			g->block[e->src].jump = n;
	}
}

void plan_sizes(const struct plan *p, const struct plan_tu *t, struct unit_func *f)
{
	const struct bm_block **at = xcalloc(f->cfg.nblock, sizeof *at);
	struct func_blocks b;
	size_t i;

	mapindex_blocks(&p->index, hash_short(&t->art->hash), f->ord, f->cfg.nblock, &b);
	for (i = 0; i < b.block.n; i++) {
		at[b.block.v[i]->id] = b.block.v[i];
		f->cfg.block[b.block.v[i]->id].bytes = b.block.v[i]->size;
	}
	set_jumps(at, &f->cfg);
	mapindex_blocks_free(&b);
	free(at);
}
