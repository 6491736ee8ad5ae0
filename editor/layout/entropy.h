/*
 * How hard conditional jumps are to predict: executions times the entropy of their
 * two ways, in bits. What a predictor knows from the jumps before is not in it.
 */
#ifndef MORPH_ENTROPY_H
#define MORPH_ENTROPY_H

#include "editor/cfg.h"

/* Of each block's jump; bits[] has g->nblock, 0 where a block ends in no such jump. */
void entropy_blocks(const struct cfg *g, double *bits);
/* Of all. */
double entropy_sum(const struct cfg *g);

#endif
