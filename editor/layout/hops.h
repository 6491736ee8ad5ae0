/*
 * Hops: jumps to the next instruction.
 *
 * On AMD's Zen 5 a loop of branches with random outcomes runs faster where other jumps are taken
 * between them: by making such branches adjacent, a layout loses more than it saves in taken jumps
 * (measured: docs/notes/zen5.md, "Hops"). So a block that would fall through to one with a
 * hard-to-predict branch jumps to it instead, in functions with many such branches and few calls;
 * others lose by it.
 */
#ifndef MORPH_HOPS_H
#define MORPH_HOPS_H

#include "common/mem.h"
#include "editor/layout/layout.h"

/* Branch entropy of each block's jump, 0 where it does not end in one: executions times the entropy
 * of the two outcomes of a conditional jump, in bits (Yokota et al., 2008). Correlation with
 * earlier branches, which predictors use, is not modelled. bits[] has g->nblock. */
void entropy_blocks(const struct cfg *g, double *bits);

/* Sets l->hop, for o->hot and o->calls. */
void hops_add(
    const struct cfg *g, const struct layout_options *o, struct layout *l, struct arena *a);

#endif
