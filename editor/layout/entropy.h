/*
 * Branch entropy: executions times the entropy of the two outcomes of a conditional jump, in bits
 * (Yokota et al., 2008). Correlation with earlier branches, which predictors use, is not modelled.
 */
#ifndef MORPH_ENTROPY_H
#define MORPH_ENTROPY_H

#include "editor/cfg.h"

/* Of each block's jump; bits[] has g->nblock, 0 where a block does not end in one. */
void entropy_blocks(const struct cfg *g, double *bits);

#endif
