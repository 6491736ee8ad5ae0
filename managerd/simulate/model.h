/*
 * A program as arithmetic, for traces that need no real one. Pure.
 *
 * It has functions of so many branches each. A branch is two blocks, of which one is entered by
 * falling through and the other by a taken jump: a layout is which one falls through, and the
 * compiler's is the first. Functions are used by Zipf's law, a branch goes its likelier way with
 * a share of 0.5 … 1, and the compiler is right about which in two of three. What a layout costs
 * under a usage is what the editor's own model says (common/frontcosts.h) of
 *
 *	taken   branches whose other block is entered, for each instruction
 *	lines   a change of the 64-byte line every 16 instructions, and at each taken branch
 *
 * The best layout for a profile has the block with more samples fall through; where there are none
 * it stays with the compiler's. So few samples make worse layouts, and promise more than they
 * keep, as in life. In truth both terms cost `frontend` times what the editor takes them to; below
 * 0 every layout that the editor praises is a loss.
 */
#ifndef MORPH_MANAGERD_MODEL_H
#define MORPH_MANAGERD_MODEL_H

#include "common/editanswer/editanswer.h"

#include <stdint.h>

struct model {
	uint32_t functions, branches; /* branches: of each function; it has twice as many blocks */
	uint64_t seed;
	double frontend;
	double insns; /* for each branch */
};

uint32_t model_blocks(const struct model *m);
/* The share of each block in a workload of that name, 0…1; to free. uses: the share of functions
 * that it uses; differs: of these, the share that is used otherwise than in others. */
double *model_usage(const struct model *m, const char *workload, double uses, double differs);
/* The best layout for these samples of each block; by branch which block falls through. */
void model_lay_out(const struct model *m, const double *samples, uint8_t *falls);
/* As the editor sees it; falls NULL = the compiler's. */
struct editanswer_score model_score(
    const struct model *m, const double *samples, const uint8_t *falls);
/* How much better than the present one, and how sure that is. */
struct editanswer_estimate model_estimate(
    const struct model *m, const double *samples, const uint8_t *present, const uint8_t *falls);
/* In truth, over the compiler's layout. */
double model_gain(const struct model *m, const double *usage, const uint8_t *falls);

#endif
