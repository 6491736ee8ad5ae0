/*
 * Loop rotation, after the merging of chains: of a loop that is laid out from
 * its head to the jump back, what comes first is put after that jump, so that
 * the loop is entered, or goes round, or is left by falling through, whichever
 * is worth most. (Whalley, Davidson 1992 for loops that are left at the head.)
 */
#ifndef MORPH_ROTATE_H
#define MORPH_ROTATE_H

#include "common/mem.h"
#include "editor/cfg.h"

#include <stdbool.h>

/*
 * order[] has n different blocks, the first stays. Exchanges neighbouring runs
 * of it where that raises its ext-TSP score (editor/layout/exttsp.h) and falls through
 * more often. Bounded work: ROUNDS looks at each jump back, none over more than
 * WINDOW blocks. Returns whether anything changed. Deterministic.
 */
bool rotate_loops(const struct cfg *g, uint32_t *order, uint32_t n, struct arena *a);

#endif
