/*
 * Graph, costs and passes that the steps of flow inference share.
 */
#ifndef MORPH_INFER_FLOW_H
#define MORPH_INFER_FLOW_H

#include "common/mem.h"
#include "editor/cfg.h"
#include "editor/infer/infer.h"

#include <stdbool.h>

/* A tree of paths to (back = false: from the entries to) the blocks that roots lead to. */
struct tree {
	bool back;
	uint32_t *order, n; /* blocks, nearest first */
	uint32_t *via;      /* edge that leads to the block's nearer neighbour, or UINT32_MAX */
	uint8_t *seen;      /* per block: it is in the tree */
	uint32_t grown;     /* blocks whose neighbours are in it */
};
void tree_begin(struct tree *t, const struct cfg *g, bool back, struct arena *a);
/* Adds a root. */
void tree_root(struct tree *t, uint32_t b);
/* Adds what can be reached over usable blocks (NULL: all). */
void tree_grow(struct tree *t, const struct cfg *g, const uint8_t *usable);

/*
 * Where flow enters and leaves, so that every block lies on a path from an entry to an exit.
 * Entries: block 0; BLK_ADDRESSED blocks without predecessors that are reachable from there; then,
 * of the blocks still unreachable, those without predecessors, then the lowest of each cycle.
 * Exits: BLK_EXIT, BLK_NORETURN, blocks without successors; then the highest block of each infinite
 * loop.
 */
struct reach {
	uint8_t *entry, *exit; /* per block, 0 or 1 */
};
void reach_find(struct reach *r, const struct cfg *g, struct arena *a);

/* The trees from the entries and to the exits, over usable blocks alone. */
void tree_both(struct tree *in, struct tree *out, const struct cfg *g, const struct reach *r,
    const uint8_t *usable, struct arena *a);

/*
 * Minimum flow: raises blocks of count 0 to one execution unless the compiler marked them cold. Not
 * sampled does not mean unused: these blocks belong to the hot fragment. One unit per block, from
 * an entry through the block to an exit, along paths that are not cold. Preserves Kirchhoff's law.
 */
void flow_minimum(struct cfg *g, const struct reach *r, struct arena *a);

/* Sets all counts to 0. */
void flow_clear(struct cfg *g);
/* Instead of all counts: `estimate` units through each usable block, along any paths over such
 * blocks. For what flow_round() cannot answer. */
void flow_cover(struct cfg *g, const struct reach *r, const uint8_t *usable, const double *estimate,
    struct arena *a);

/* Real flows: per edge; per block, what enters and leaves the function there. */
struct flows {
	double *edge, *in, *out;
};

/*
 * Sets the counts of g to integers near the flows; Kirchhoff's law holds. exact: blocks keep their
 * counts, and edges those that are in outcomes, so that the flows only divide what these leave
 * undetermined. False where there is no such flow, or none was found: then g is unchanged.
 */
bool flow_round(
    struct cfg *g, const struct reach *r, const struct flows *f, bool exact, struct arena *a);

#endif
