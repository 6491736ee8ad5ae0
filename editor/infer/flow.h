/*
 * Graph, costs and passes that the steps of flow inference share.
 */
#ifndef MORPH_INFER_FLOW_H
#define MORPH_INFER_FLOW_H

#include "common/mem.h"
#include "editor/cfg.h"
#include "editor/infer/infer.h"

#include <stdbool.h>

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

/*
 * Minimum flow: raises blocks of count 0 to one execution unless the compiler marked them cold. Not
 * sampled does not mean unused: these blocks belong to the hot fragment. One unit per block, from
 * an entry through the block to an exit, along paths that are not cold. Preserves Kirchhoff's law.
 */
void flow_minimum(struct cfg *g, const struct reach *r, struct arena *a);

/* Instead of all counts: `estimate` units through each block, likewise, along any paths. For what
 * flow_round() cannot answer. */
void flow_cover(struct cfg *g, const struct reach *r, const double *estimate, struct arena *a);

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

/* How many unbiased samples s > 0 samples of a block are worth; an unsampled block has
 * UNSEEN_WEIGHT. */
#define UNSEEN_WEIGHT 0.1
double infer_weight(const struct cfg_block *k, double s);

/*
 * The flows that agree best with all evidence (joint.h); of blocks without any part, 0. estimate:
 * by block, by its own evidence. Where the graph is too irreducible for the sparse solver, the
 * flows are those that the solver would begin with.
 */
void infer_joint(const struct cfg *g, const struct reach *r, enum infer_input input,
    struct flows *f, double *estimate, struct arena *a);

#endif
