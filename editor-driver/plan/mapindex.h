/*
 * A block map (common/elf/blockmap.h) by function instead of by address.
 */
#ifndef MORPH_MAPINDEX_H
#define MORPH_MAPINDEX_H

#include "common/elf/blockmap.h"
#include "common/hash.h"

struct mapindex {
	const struct blockmap *map; /* outlives the index */
	struct htab first;          /* (tu, func) -> fragment + 1 */
	int64_t *next;              /* further fragments of the function, -1 = none */
};

void mapindex_make(struct mapindex *x, const struct blockmap *map);
void mapindex_free(struct mapindex *x);

/* The fragments of a function in ascending address: first, then next[…]; -1
 * ends. tu is hash_short of the TU. A function that was linked twice (two
 * equal TUs) has all fragments of both. */
int64_t mapindex_first(const struct mapindex *x, uint64_t tu, uint32_t func);

/* The fragment with a function's entry, or NULL. */
const struct bm_frag *mapindex_entry(const struct mapindex *x, uint64_t tu, uint32_t func);

/*
 * The blocks of a function in the order of a build: fragment 0 first, with copies
 * (editor/layout/layout.h); ids from nblock on are left out. Of a function that was linked twice,
 * the first. nhot of them lie in fragment 0.
 */
struct func_blocks {
	VEC(const struct bm_block *) block;
	uint32_t nhot;
};
/* Free the result. */
void mapindex_blocks(
    const struct mapindex *x, uint64_t tu, uint32_t func, uint32_t nblock, struct func_blocks *out);
void mapindex_blocks_free(struct func_blocks *b);

#endif
