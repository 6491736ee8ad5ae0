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

#endif
