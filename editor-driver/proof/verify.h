/*
 * Proof by comparison: that a relink repeats the original link, and that a new
 * build is what it has to be.
 */
#ifndef MORPH_VERIFY_H
#define MORPH_VERIFY_H

#include "editor-driver/proof/bytes.h"

/* What is known of the linker. */
struct verify_linker {
	bool own_padding; /* as in struct bytes_build */
	/* The objects of the relink were given to the original link late, by a plugin (LTO):
	 * symbols may have another order, and with them GOT and PLT. */
	bool reorders;
};

/*
 * The relink of unchanged objects at path against the original: the block map
 * of the artifact must be repeated exactly, no needed library may be one in
 * the job's folder dir, and where the module itself is at hand (module, or
 * NULL; used only when its build-id is map's), every section that is loaded
 * must have the same address and bytes, or, where the linker reorders symbols, be the same as
 * bytes.h proves it. -1 and the first difference.
 */
int verify_repeat(const char *path, const struct blockmap *map, const char *dir, const char *module,
    const struct verify_linker *linker, struct err *e);

/*
 * Looks at the build at path that a new one is to replace: it must have this
 * build-id, and no bytes that no header names (a payload after the section
 * headers would be lost). *stripped: it has no .symtab.
 */
int verify_replaced(const char *path, const struct build_id *id, bool *stripped, struct err *e);
/* The same of bytes that were read; path is for messages. */
int verify_replaced_bytes(const struct buf *file, const char *path, const struct build_id *id,
    bool *stripped, struct err *e);

/*
 * That build against the relink of unchanged objects: all that runs must be
 * the same, and so must every other section it has, but for symbols and debug
 * information, and for its run path (runpath.h). Else it was changed after its link (patchelf,
 * objcopy), and a relink would lose the change. -1 and the first section that differs.
 */
int verify_untouched(
    const char *path, const char *unchanged, const struct verify_linker *linker, struct err *e);
/* Gives the new build, verified already, the run path that this build has by now. */
int verify_carry(const char *path, const char *unchanged, const char *made, struct err *e);

/* Of a block that has copies or is in a cold fragment: how many copies, and how
 * many of all n + 1 are cold. */
struct verify_copies {
	uint64_t tu; /* hash_short of the TU */
	uint32_t func, id, n, cold;
};

struct verify_wanted {
	const struct blockmap *map; /* of the original */
	bool counting;              /* a build that counts is expected */
	const struct verify_linker *linker;
	struct verify_copies *copy; /* gets sorted; entries of one block are equal */
	size_t ncopy;
	const uint64_t *edited; /* hash_short of the TUs that were edited, ascending */
	size_t nedited;
};

struct verified {
	struct blockmap map; /* of the new build; blockmap_free whatever comes of it */
	bool differs;        /* why it is refused: its bytes, at `at` */
	struct bytes_position at;
	uint64_t size_before, size_after; /* bytes loaded from the files */
};

/*
 * A new build at path: to the outside the same as the unchanged build, a build-id
 * of its own, the original's as its origin, and every block of every function in
 * its block map as often as in the original's, and its copies as often again.
 * Where copies took all predecessors of a cold fragment,
 * nothing refers to it, and the linker may have left it out (--gc-sections).
 * Unless it counts, every byte of it that is loaded is compared with the
 * unchanged build's (bytes.h).
 */
int verify_build(const char *path, const char *unchanged, const struct verify_wanted *w,
    struct verified *out, struct err *e);

#endif
