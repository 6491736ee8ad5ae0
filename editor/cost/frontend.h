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
 * costs otherwise (FE_CPI): gain = 1 − cycles after / cycles before. Programs that wait for data or
 * for mispredicted branches gain and lose less than that, down to nothing, and others more: the one
 * constant is most of the error. The profile covers one module: the gain is a share of the time
 * spent in it. The cost constants are in frontend.c; how they were fitted, and their error:
 * docs/notes/front-end.md.
 *
 * Pure and deterministic.
 */
#ifndef MORPH_FRONTEND_H
#define MORPH_FRONTEND_H

#include "common/mem.h"
#include "editor/cfg.h"

#include <stdbool.h>

enum { FE_NONE = UINT32_MAX };

/* The executed functions of a module, their blocks one after the other. */
struct fe_block {
	double count;   /* executions, any one unit */
	uint32_t insns; /* in the original text */
	uint32_t edge;  /* its first; that of the next block ends them */
};

struct fe_edge {
	uint32_t dst, kind; /* enum edge_kind */
	double count;
};

struct fe_program {
	VEC(struct fe_block) block; /* and one more that ends the edges */
	VEC(struct fe_edge) edge;   /* by source */
};

void fe_free(struct fe_program *p);

/* One layout: where blocks are, function by function. A block may have copies
 * (editor/layout/layout.h), which are only entered from the slot before. */
struct fe_slot {
	uint64_t addr;
	uint32_t bytes;
	uint32_t block;
	bool falls;   /* the next slot follows it in one fragment */
	double count; /* the slots of a block add up to its executions */
};

struct fe_layout {
	VEC(struct fe_slot) slot;
	uint32_t *primary; /* by block: its primary slot */
};

/* Per instruction of the original text that is executed. */
struct fe_cost {
	double insns;  /* 1 + jumps that the layout added − jumps it saved */
	double taken;  /* jumps taken inside functions */
	double lines;  /* changes from one 64-byte line to another, inside functions */
	double cycles; /* cycles per instruction, see above; 0 when nothing was executed */
};

void fe_run(const struct fe_program *p, const struct fe_layout *l, struct fe_cost *out);

/* The share of time that `after` saves over `before`; < 0 where it is slower. */
double fe_gain(const struct fe_cost *before, const struct fe_cost *after);

#endif
