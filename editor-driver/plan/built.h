/*
 * A function as it lies in a build of its artifact: a layout without marks of copies, hops and
 * padding (editor/layout/layout.h), and where each slot is.
 */
#ifndef MORPH_BUILT_H
#define MORPH_BUILT_H

#include "editor-driver/plan/mapindex.h"
#include "editor/cost/frontend.h"
#include "editor/unit.h"

/* Blocks that the build lacks come last, at address 0 with their size in the original. tu:
 * hash_short of the TU. *l and *slot, one for each of l's, are the arena's. Returns how many slots
 * the build has; of a function that was linked twice, those of the first. */
uint32_t built_func(const struct mapindex *build, uint64_t tu, const struct unit_func *f,
    struct arena *a, struct layout *l, struct fe_slot **slot);

/* A build: its block map; and its file, or nothing. */
struct built_code {
	const struct blockmap *map;
	struct buf file;
};

/* What a block map does not say: sets l->hop, and the primary slot of each block
 * (layout_primary()), by the jumps in the code as far as there is a file. n: slots that the build
 * has. */
void built_jumps(const struct cfg *g, struct layout *l, const struct fe_slot *slot, uint32_t n,
    const struct built_code *code, uint32_t *primary, struct arena *a);

#endif
