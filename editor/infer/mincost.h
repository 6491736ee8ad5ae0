/*
 * Minimum-cost circulation with convex costs: cost scaling by push and relabel
 * (Goldberg 1997; convex costs as in Ahuja, Magnanti, Orlin, "Network Flows",
 * 14.5). Pure integers; deterministic.
 *
 * An arc's cost is piecewise linear and convex: its segments have ascending
 * ends and ascending slopes, the first begins at flow 0, and no flow goes
 * beyond the end of the last. Zero flow is feasible, so an answer exists.
 */
#ifndef MORPH_MINCOST_H
#define MORPH_MINCOST_H

#include "common/mem.h"

#include <stdint.h>

struct mc_seg {
	int64_t end;   /* flow at which this segment ends; > the one before, > 0 */
	int64_t slope; /* cost of a unit of flow; |slope| <= MC_MAX_SLOPE */
};

struct mc_arc {
	uint32_t from, to;  /* nodes, different */
	uint32_t seg, nseg; /* its segments in seg[], nseg >= 1 */
	int64_t flow;       /* out */
	uint32_t at;        /* solver: 0…nseg-1, the segment that holds flow */
};

struct mincost {
	struct mc_arc *arc;
	struct mc_seg *seg;
	uint32_t nnode, narc;
	/* Stop at a flow whose reduced costs are >= -slack, a power of two: 0 =
	 * the optimum. */
	int64_t slack;
};

enum { MC_MAX_SLOPE = 1 << 24 };
/* Sums of flow into a node must stay below 2^62, nnode below 2^24. */

/* Sets every flow. Ends after an amount of work bounded by the size of the
 * network: then with the best circulation of the scaling phases completed so
 * far. Returns the work done (arcs looked at), for benchmarks. */
uint64_t mincost_solve(struct mincost *m, struct arena *scratch);

#endif
