/*
 * A printed unit: what others add to it, and its debug sections, in which distances have changed.
 */
#ifndef MORPH_EDITOR_EMIT_H
#define MORPH_EDITOR_EMIT_H

#include "editor/map/blockmap.h"

/*
 * What is printed besides, such as counters (editor/count/). In `statement` and `edge`, cfi is the
 * unwind state there; what is added leaves it as it is.
 */
struct emit_callbacks {
	void *arg; /* of all of them */
	/* What follows is of this function. */
	void (*function)(void *arg, const struct func *f);
	/* Before code[i] of its block b, or after all of that (i = blk.last). An opaque function is
	 * block 0. */
	void (*statement)(void *arg, uint32_t b, uint32_t i, uint32_t cfi, struct buf *out);
	/* Is there something to do where the jump of block b is taken? Then it goes by way of a
	 * side block after the fragment. */
	bool (*detours)(void *arg, uint32_t b);
	/* Where it is taken, in this side block, or where control goes on otherwise. */
	void (*edge)(void *arg, uint32_t b, bool taken, uint32_t cfi, struct buf *out);
	/* After the unit. */
	void (*end)(void *arg, struct buf *out);
};
#define EMIT_SIDE ".LMT%u.%u" /* label of a side block; function, block */

/* unit_emit() with callbacks, all set; NULL: without any. */
void unit_emit_with(const struct unit *u, const struct unit_placement *placement, uint64_t tu,
    const struct emit_callbacks *cb, struct buf *out);

/* ranges.c: where the code of an edited unit lies. */
void ranges_find(struct unit_impl *u);
/* Prints a statement of a debug section when it is one of these; else false. */
bool ranges_emit_value(
    const struct unit_impl *u, const struct stmt *st, const struct map_order *m, struct buf *out);
/* Prints the list of all fragments that the unit's first DIE names then. */
void ranges_emit(const struct unit_impl *u, const struct map_order *m, struct buf *out);

/* debug.c: prints a statement of a debug section. Distances between labels in edited functions
 * become 0, and ranges between them empty, since those labels may now lie in different sections or
 * in another order. `m` is what was printed so far. */
void debug_emit(const struct unit_impl *u, const struct unit_placement *placement,
    const struct map_order *m, const struct stmt *st, struct buf *out);
/* Fills stmt.aux of the ends of absolute ranges. */
void debug_find_pairs(struct unit_impl *u);
/* Fills stmt.aux of every .loc: is_stmt holds until the next that says otherwise. */
void debug_follow_locs(struct unit_impl *u);
/* A .loc directive; *is_stmt is what holds in the printed text. `moved`: after
 * other code than before, so without its view label. */
void debug_emit_loc(const struct stmt *st, bool moved, bool *is_stmt, struct buf *out);

#endif
