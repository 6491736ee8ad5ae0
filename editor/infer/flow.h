/*
 * Parts of flow inference; only editor/infer*.c include this.
 */
#ifndef MORPH_INFER_PARTS_H
#define MORPH_INFER_PARTS_H

#include "common/mem.h"
#include "editor/cfg.h"
#include "editor/infer/infer.h"

#include <stdbool.h>

/* Edges by source, or by destination, each list in the order of g->edge. */
struct adjacency {
	uint32_t *first; /* edge[first[b]] … edge[first[b + 1]] are block b's */
	uint32_t *edge;
};
void adjacency_build(struct adjacency *adj, const struct cfg *g, bool in, struct arena *a);

/*
 * Where flow enters and leaves, so that every block lies on a way from an
 * entry to an exit. Entries: block 0; BLK_ADDRESSED blocks that no edge leads
 * to from there; then of the blocks still out of reach those without in-edges,
 * then the lowest of each cycle. Exits: BLK_EXIT, BLK_NORETURN, blocks without
 * out-edges; then the highest block of each endless loop.
 */
struct reach {
	uint8_t *entry, *exit; /* per block, 0 or 1 */
	struct adjacency out, in;
};
void reach_find(struct reach *r, const struct cfg *g, struct arena *a);

/*
 * The cost of a flow: convex, piecewise linear, its minimum at the block's own
 * estimate. Segments of the Poisson likelihood w (r - 1 - log r), r = flow by
 * estimate, where w says how many samples the estimate is worth; an unsampled
 * block costs one per sample that was to be expected of the flow.
 */
enum { COST_SEGS = 10 };
struct cost {
	double slope[COST_SEGS];
	int64_t end[COST_SEGS]; /* flow where the segment ends */
	uint32_t n;
};
/* A block's executions by its own samples (or count) alone, at most clamp. */
double cost_estimate(const struct cfg_block *b, enum infer_input input, double clamp);
void cost_block(struct cost *c, const struct cfg_block *b, bool entry, enum infer_input input,
    double clamp, int64_t most);
/* Of an edge that was counted. */
void cost_edge(struct cost *c, double x, int64_t most);
void cost_flat(struct cost *c, double slope, int64_t most);

/*
 * Lifts blocks of count 0 to the smallest flow that counts them as executed,
 * where the compiler did not call them cold: not seen is not unused, and the
 * hot fragment is where they belong. One unit per block, from the entry to the
 * block to an exit, by ways that are not cold. Keeps Kirchhoff's law.
 */
void infer_minflow(struct cfg *g, const struct reach *r, struct arena *a);

/* A bipartite flow whose sums at both sides are given by the present flows. */
struct free_arc {
	uint32_t from, to; /* nodes; no node is both a from and a to */
	int64_t flow;      /* >= 0, in and out */
};

/*
 * Where the sums leave the flows free (a loop's test and its copy before the
 * loop lead to the same two blocks), takes the most even flows: those of
 * largest entropy, by iterative proportional fitting (Deming, Stephan 1940),
 * rounded so that the sums stay. Sums are kept exactly.
 */
void infer_even(struct free_arc *arc, uint32_t n, uint32_t nnode, struct arena *a);

/* How many unbiased samples s samples of a block are worth, s > 0; an unsampled one
 * is taken to have UNSEEN_WEIGHT. */
#define UNSEEN_WEIGHT 0.1
double infer_weight(const struct cfg_block *k, double s);

/*
 * Sets the counts of g by its samples and witnesses together (infer_joint.h).
 * False, and nothing is set, where the graph is too entangled for that, or the
 * evidence too contrary.
 */
bool infer_joint(struct cfg *g, const struct reach *r, struct arena *a);

#endif
