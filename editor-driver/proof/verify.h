/*
 * Proof by comparison: that a relink repeats the original link, and that a new
 * build is what it has to be.
 */
#ifndef MORPH_VERIFY_H
#define MORPH_VERIFY_H

#include "editor-driver/proof/bytes.h"

/*
 * The relink of unchanged objects at path against the original: the block map
 * of the artifact must be repeated exactly, no needed library may be one in
 * the job's folder dir, and where the module itself is at hand (module, or
 * NULL; used only when its build-id is map's), every section that is loaded
 * must have the same address and bytes. -1 and the first difference.
 */
int verify_repeat(const char *path, const struct blockmap *map, const char *dir,
    const char *module, struct err *e);

/*
 * Looks at the build at path that a new one is to replace: it must have this
 * build-id, and no bytes that no header names (a payload after the section
 * headers would be lost). *stripped: it has no .symtab.
 */
int verify_replaced(
    const char *path, const struct build_id *id, bool *stripped, struct err *e);

/*
 * That build against the relink of unchanged objects: all that runs must be
 * the same, and so must every other section it has, but for symbols and debug
 * information. Else it was changed after its link (patchelf, objcopy), and a
 * relink would lose the change. -1 and the first section that differs.
 */
int verify_untouched(const char *path, const char *unchanged, struct err *e);

/* Of a block that has copies or is in a cold fragment: how many copies, and how
 * many of all n + 1 are cold. */
struct verify_copies {
	uint64_t tu; /* hash_short of the TU */
	uint32_t func, id, n, cold;
};

/*
 * A new build at path (counting: one that counts): to the outside the same as
 * the unchanged build, a build-id of its own, map's as its origin, and every
 * block of every function in its block map as often as in map, and its copies
 * as often again (copy[] is sorted; entries of one block are equal). Where
 * copies and threaded jumps took every way into a cold fragment, nothing refers
 * to it, and the linker may have left it out (--gc-sections). The map of the
 * new build goes to out (blockmap_free in both cases).
 */
int verify_build(const char *path, const char *unchanged, const struct blockmap *map,
    bool counting, struct verify_copies *copy, size_t ncopy, struct blockmap *out,
    struct err *e);

/* Every byte of it that is loaded against the unchanged build (editor-driver/proof/bytes.h);
 * made and map are their block maps. */
int verify_bytes(const char *path, const char *unchanged, const struct blockmap *made,
    const struct blockmap *map, const uint64_t *edited, size_t n, struct bytes_position *at,
    struct err *e);

/* Bytes a build takes up in memory from its file. */
int verify_size(const char *path, uint64_t *bytes, struct err *e);

#endif
