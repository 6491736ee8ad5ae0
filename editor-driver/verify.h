/*
 * Proof by comparison: that a relink repeats the original link, and that a new
 * build is what it has to be.
 */
#ifndef MORPH_VERIFY_H
#define MORPH_VERIFY_H

#include "common/blockmap.h"

/*
 * The relink of unchanged objects at path against the original: the block map
 * of the artifact must be repeated exactly; where the module itself is at hand
 * (module, or NULL; used only when its build-id is map's), every section that
 * is loaded must have the same address and bytes. -1 and the first difference.
 */
int verify_repeat(
    const char *path, const struct blockmap *map, const char *module, struct err *e);

/*
 * A new build at path: to the outside the same as the unchanged build, a
 * build-id of its own, map's as its origin, and every block of every function
 * in its block map as often as in map. The map of the new build goes to out
 * (blockmap_free in both cases).
 */
int verify_build(const char *path, const char *unchanged, const struct blockmap *map,
    struct blockmap *out, struct err *e);

/* Bytes a build takes up in memory from its file. */
int verify_size(const char *path, uint64_t *bytes, struct err *e);

#endif
