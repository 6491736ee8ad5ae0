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
 * The cost of a flow: convex, piecewise linear, with its minimum at the block's own estimate.
 * Segments of the Poisson likelihood w (r - 1 - log r), r = flow by estimate, w = the weight of the
 * estimate in samples; an unsampled block costs one per sample that the flow should have produced.
 */
enum { COST_SEGS = 10 };
struct cost {
	double slope[COST_SEGS];
	int64_t end[COST_SEGS]; /* flow where the segment ends */
	uint32_t n;
};
/* A block's executions by its own samples or count only, at most clamp. */
double cost_estimate(const struct cfg_block *b, enum infer_input input, double clamp);
void cost_block(struct cost *c, const struct cfg_block *b, bool entry, enum infer_input input,
    double clamp, int64_t most);
/* Of an edge that was counted. */
void cost_edge(struct cost *c, double x, int64_t most);
void cost_flat(struct cost *c, double slope, int64_t most);

/*
 * Minimum flow: raises blocks of count 0 to one execution unless the compiler marked them cold. Not
 * sampled does not mean unused: these blocks belong to the hot fragment. One unit per block, from
 * an entry through the block to an exit, along paths that are not cold. Preserves Kirchhoff's law.
 */
void infer_minflow(struct cfg *g, const struct reach *r, struct arena *a);

/* A bipartite flow whose row and column sums are given by the present flows. */
struct free_arc {
	uint32_t from, to; /* nodes; no node is both a from and a to */
	int64_t flow;      /* >= 0, in and out */
};

/*
 * Where the sums leave the flows undetermined (a loop's test and its copy before the loop go to the
 * same two blocks), takes the flows of largest entropy, by iterative proportional fitting (Deming,
 * Stephan 1940), rounded so that the sums are kept exactly.
 */
void infer_even(struct free_arc *arc, uint32_t n, uint32_t nnode, struct arena *a);

/* How many unbiased samples s > 0 samples of a block are worth; an unsampled block has
 * UNSEEN_WEIGHT. */
#define UNSEEN_WEIGHT 0.1
double infer_weight(const struct cfg_block *k, double s);

/*
 * Sets the counts of g from its samples and outcomes together (joint.h). Returns false and sets
 * nothing where the graph is too irreducible for the sparse solver, or the evidence too
 * contradictory.
 */
bool infer_joint(struct cfg *g, const struct reach *r, struct arena *a);

#endif
