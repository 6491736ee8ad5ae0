/*
 * Shapes: what of a function's blocks is the same after its program was built from changed source,
 * and which blocks of two builds correspond by it. A profile of the old build is carried over to
 * the new one with them, after Ayupov, Panchenko, Pupyrev, "Stale profile matching" (CC 2024).
 * Pure.
 *
 * A block has a hash at three levels, from strict to loose:
 *
 *	SHAPE_TEXT   its instructions, as written
 *	SHAPE_OPS    their mnemonics in order, and the symbols they name
 *	SHAPE_SET    which mnemonics there are, without nops
 *
 * Direct jumps do not count, since layouts change them; conditional ones do, but not which
 * condition (at SHAPE_TEXT, nor whether it is inverted), nor where they lead. What compilers number
 * through a unit (.L12, .LC3, count.4) counts without its number.
 *
 * File format: docs/FORMATS.md "Shapes". The reader checks everything once; whoever holds a struct
 * shapes may index by what it says.
 */
#ifndef MORPH_EDITOR_SHAPE_H
#define MORPH_EDITOR_SHAPE_H

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "editor/unit.h"

#include <stdint.h>

enum shape_level { SHAPE_TEXT, SHAPE_OPS, SHAPE_SET, SHAPE_LEVELS };

struct shape_block {
	uint32_t hash[SHAPE_LEVELS];
	uint32_t insns;
	uint32_t *succ, nsucc; /* ids of blocks, each once */
};

struct shape_func {
	const char *name, *tu; /* tu: name of its unit */
	struct hash128 key;
	uint32_t nblock;
	struct shape_block *block;
};

struct shapes {
	VEC(struct shape_func) func;
	struct arena mem;
};

/* The bytes every file begins with; appended to out. */
void shapes_begin(struct buf *out);
/* The functions of a unit, appended; tu: its name. */
void shapes_add(const struct unit *u, const char *tu, struct buf *out);
/* Fails, with *s empty, when anything is out of bounds. */
int shapes_decode(const void *p, size_t n, struct shapes *s, struct err *e);
void shapes_free(struct shapes *s);

/* ---- what corresponds ---- */

enum { SHAPE_NONE = UINT32_MAX };

enum shape_how {
	SHAPE_GONE,    /* no function corresponds */
	SHAPE_SAME,    /* of equal key: every block corresponds to the one of its id */
	SHAPE_CHANGED, /* of its name, the compiler's suffixes (.isra.0) aside */
	SHAPE_RENAMED  /* of its content */
};

struct shape_pair {
	enum shape_how how;
	uint32_t func; /* in the new build; not of SHAPE_GONE */
};

/*
 * For each function of old, the one of the new build that it has become; an array from the arena.
 * Of CHANGED and RENAMED ones no two become one. Several functions of one name are told apart by
 * their units, then by their order; of one content they are not.
 */
struct shape_pair *shapes_pair(const struct shapes *old, const struct shapes *now, struct arena *a);

/*
 * For each block of a function, the one it has become in another, or SHAPE_NONE; an array from the
 * arena. No two become one; entry corresponds to entry. Hashes decide from strict to loose, at each
 * level first together with those of successors and predecessors: first of blocks that are alone
 * with theirs, then of as many in both, in their order. After each, the edges of what corresponds
 * decide; at the end the order of what lies between. Quadratic in what lies between, up to a bound.
 */
uint32_t *shape_match(const struct shape_func *old, const struct shape_func *now, struct arena *a);

#endif
