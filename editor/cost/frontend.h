/*
 * What a layout costs in the front end of a processor: an estimate of time from layout and profile
 * alone, to compare two layouts of one program.
 *
 * Taken branches, jumps and line changes follow from the counts of the edges. Misses of the
 * instruction cache and of its TLB are not modelled: predictions with them, from a random walk by
 * the counts, were no better (docs/notes/front-end.md).
 *
 * A sampled profile knows no time, only shares. So everything here is per executed instruction of
 * the original text, and becomes a share of time by an assumed number of cycles that an instruction
 * costs otherwise: gain = 1 − cycles after / cycles before. Programs that wait for data or
 * for mispredicted branches gain and lose less than that, down to nothing, and others more: the one
 * constant is most of the error. The profile covers one module: the gain is a share of the time
 * spent in it. The cost constants are in common/frontcosts.h; how they were fitted, and their
 * error: docs/notes/front-end.md.
 *
 * Pure and deterministic.
 */
#ifndef MORPH_FRONTEND_H
#define MORPH_FRONTEND_H

#include "editor/layout/layout.h"

/* Where a slot of a layout is, and how often it is executed: those of a block add up to its
 * count. */
struct fe_slot {
	uint64_t addr;
	uint32_t bytes;
	double count;
};

/* Per instruction of the original text that is executed. */
struct fe_cost {
	double insns;  /* 1 + jumps that the layout added − jumps it saved */
	double taken;  /* jumps taken inside functions */
	double lines;  /* changes from one 64-byte line to another, inside functions */
	double cycles; /* cycles per instruction, see above; 0 when nothing was executed */
};

/* Adds a function with its counts: slot[] has an entry for each slot of l. First *c is zero, … */
void fe_add(
    const struct cfg *g, const struct layout *l, const struct fe_slot *slot, struct fe_cost *c);
/* … and at the end, after so many executed instructions in all, it becomes what is said above. */
void fe_end(struct fe_cost *c, double insns);

/* The share of time that `after` saves over `before`; < 0 where it is slower. */
double fe_gain(const struct fe_cost *before, const struct fe_cost *after);

#endif
