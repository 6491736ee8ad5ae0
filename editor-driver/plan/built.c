#include "editor-driver/plan/built.h"

uint32_t built_func(const struct mapindex *build, uint64_t tu, const struct unit_func *f,
    struct arena *a, struct layout *l, struct fe_slot **slot)
{
	uint32_t nblock = f->cfg.nblock, present, i;
	uint8_t *seen = arena_array(a, nblock, 1);
	const struct bm_block *at;
	struct func_blocks b;

	*l = (struct layout){0};
	mapindex_blocks(build, tu, f->ord, nblock, &b);
	l->order = arena_array(a, b.block.n + nblock, sizeof *l->order);
	*slot = arena_array(a, b.block.n + nblock, sizeof **slot);
	for (i = 0; i < b.block.n; i++) {
		at = b.block.v[i];
		seen[at->id] = 1;
		(*slot)[l->n] = (struct fe_slot){.addr = at->addr, .bytes = at->size};
		l->order[l->n++] = at->id;
	}
	present = l->n;
	for (i = 0; i < nblock; i++)
		if (!seen[i]) {
			(*slot)[l->n].bytes = f->cfg.block[i].bytes;
			l->order[l->n++] = i;
		}
	l->nhot = b.nhot ? b.nhot : l->n;
	mapindex_blocks_free(&b);
	return present;
}
