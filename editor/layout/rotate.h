/*
 * Loop rotation, after chain merging: of a loop laid out from its header to the back edge, the
 * first blocks are moved after the jump back, so that entering the loop, iterating, or leaving it
 * falls through, whichever weighs most. (Whalley, Davidson 1992 for loops that exit at the header.)
 */
#ifndef MORPH_ROTATE_H
#define MORPH_ROTATE_H

#include "common/mem.h"
#include "editor/cfg.h"

#include <stdbool.h>

/*
 * order[] has n different blocks, the first stays. Exchanges neighbouring runs of it where that
 * raises both the ext-TSP score (editor/layout/exttsp.h) and the fallthroughs. Bounded work: each
 * back edge is visited ROUNDS times, none spanning more than WINDOW blocks. Returns whether
 * anything changed. Deterministic.
 */
bool rotate_loops(const struct cfg *g, uint32_t *order, uint32_t n, struct arena *a);

#endif
