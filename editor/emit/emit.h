/*
 * A printed unit: what others add to it, and its debug sections, in which distances have changed.
 */
#ifndef MORPH_EDITOR_EMIT_H
#define MORPH_EDITOR_EMIT_H

#include "editor/emit/moved.h"
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

/* The debug sections of a unit that is being printed. */
struct debug {
	const struct unit_impl *u;
	const struct unit_placement *placement; /* NULL: nothing is edited */
	const struct map_order *m;              /* what was printed so far */
	struct moved *moved;                    /* NULL while functions are to come */
	struct pieces pieces;                   /* scratch */
	uint32_t skip;                          /* statements before this one are printed */
	/* Of DIEs whose DW_AT_high_pc becomes DW_AT_ranges. */
	VEC(struct abbreviation) abbreviation; /* ascending */
	size_t next_abbreviation;
	VEC(uint32_t) die; /* statements of its values */
	bool dies;
	uint32_t gcc_ranges; /* the first statement of .debug_ranges as GCC prints it, or NONE */
	bool any;            /* debug sections */
};
/* In .debug_abbrev, of one DIE's attribute. */
struct abbreviation {
	uint32_t attr, form; /* statements; form NONE: DW_AT_GNU_locviews */
};

/* placement NULL: nothing is edited. All must outlive what is printed. */
void debug_begin(struct debug *d, const struct unit_impl *u, const struct unit_placement *placement,
    const struct map_order *m);
/* Prints a statement of a debug section; called for each, in order. Ranges and location lists of
 * edited functions name where the code lies now (moved.h); what else depends on distances in them
 * becomes 0. */
void debug_emit(struct debug *d, const struct stmt *st, struct buf *out);
/* After the unit: new sections. Ends what debug_begin() began. */
void debug_end(struct debug *d, struct buf *out);

/* ranges.c: where the code of an edited unit and its functions lies. */
void ranges_find(struct unit_impl *u);
void ranges_begin(struct debug *d);
/* Prints a statement of a debug section when it is one of these; else false. */
bool ranges_emit_value(struct debug *d, const struct stmt *st, struct buf *out);
/* Prints the lists that DIEs name then. */
void ranges_emit(struct debug *d, struct buf *out);

/* lists.c */
void lists_begin(struct debug *d);
/* Prints the offset of a range list in a DIE; false: it is none, or may stay. */
bool lists_emit_offset(struct debug *d, const struct stmt *st, struct buf *out);
/* Prints an entry of a range or location list that begins with this statement, of an edited
 * function; else false. */
bool lists_emit(struct debug *d, const struct stmt *st, struct buf *out);

/* True when the distance from a to b may have changed: one lies in an edited function, and they are
 * neither its two ends nor in one part of a function that moved as a whole. */
bool distance_lost(
    const struct unit_impl *u, const struct unit_placement *placement, struct str a, struct str b);
/* Fills stmt.aux of the ends of absolute ranges. */
void debug_find_pairs(struct unit_impl *u);
/* Fills stmt.aux of every .loc: is_stmt holds until the next that says otherwise. */
void debug_follow_locs(struct unit_impl *u);
/* A .loc directive; *is_stmt is what holds in the printed text. `moved`: after
 * other code than before, so without its view label. */
void debug_emit_loc(const struct stmt *st, bool moved, bool *is_stmt, struct buf *out);

#endif
