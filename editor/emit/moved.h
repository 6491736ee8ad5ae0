/*
 * Where the code of a range of the original text lies in the printed one: debug information names
 * ranges by labels, and what lay between two of them may be in many places now.
 */
#ifndef MORPH_EDITOR_MOVED_H
#define MORPH_EDITOR_MOVED_H

#include "editor/map/blockmap.h"

/* A place inside of a block: a label of its, or the byte before one. */
struct inside {
	bool is, before;
	struct str label;
	uint32_t at; /* in code[] of the function; NONE: after all that the block executes but a
		      * jump at its end */
};
/* Printed blocks that follow each other. */
struct piece {
	uint32_t first, last;   /* in map_order.block; NONE: `from` and `to` alone */
	struct inside from, to; /* if none: the begin of the first, the end of the last */
};
struct pieces {
	VEC(struct piece);
};

struct moved;
/* Of a unit whose functions have all been printed, as m says. In the unit's arena; it refers to
 * all of these. */
struct moved *moved_new(
    const struct unit_impl *u, const struct unit_placement *placement, const struct map_order *m);

/* Does one of these bounds lie in an edited function? */
bool moved_names(const struct moved *w, struct str from, struct str to);
/* Adds the pieces of [from, to); both are labels, or one byte before one (".LVL4-1"). False: not
 * known, the range may have changed. */
bool moved_range(const struct moved *w, struct str from, struct str to, struct pieces *out);
/* Puts pieces in order of address within each section, and together where they follow each
 * other: a whole function is two at most. */
void moved_join(const struct moved *w, struct pieces *list);
/* Where a call at the end of a block returns to: prints the label to use for that of the original
 * text. False: it is no such place. */
bool moved_return(const struct moved *w, struct str at, struct buf *out);
/* Prints the label of code[at] in block k of a function: the primary copy has those of
 * the original text, and only the one of NONE is printed besides. */
void moved_label(uint32_t func, const struct map_block *k, uint32_t at, struct buf *out);
/* Prints a bound of a piece as an expression. */
void moved_from(const struct moved *w, const struct piece *p, struct buf *out);
void moved_to(const struct moved *w, const struct piece *p, struct buf *out);

#endif
