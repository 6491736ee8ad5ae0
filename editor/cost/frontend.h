/*
 * What a layout costs in the front end of a processor: an estimate of time from layout and profile
 * alone, to compare two layouts of one program.
 *
 * Taken branches, jumps and line changes follow from the counts of the edges. Misses of the
 * instruction cache and of its TLB need an order of events, which a profile does not hold; a random
 * walk over blocks, edges and calls by their counts, from a fixed seed, represents it (fe_walk).
 * The walk knows nothing of addresses; all layouts are run over the same one, so that only the
 * layouts differ.
 *
 * A sampled profile knows no time, only shares. So everything here is per executed instruction of
 * the original text, and becomes a share of time by an assumed number of cycles that an instruction
 * costs otherwise (FE_CPI): gain = 1 − cycles after / cycles before. Programs that wait for data or
 * for mispredicted branches gain and lose less than that, down to nothing, and others more: the one
 * constant is most of the error. The profile covers one module: the gain is a share of the time
 * spent in it. The cost constants are in frontend.c; how they were fitted, and their error:
 * docs/notes/front-end.md.
 *
 * Pure and deterministic; fe_walk and fe_run of distinct results may run in parallel.
 */
#ifndef MORPH_FRONTEND_H
#define MORPH_FRONTEND_H

#include "common/mem.h"
#include "editor/cfg.h"

#include <stdbool.h>

enum { FE_NONE = UINT32_MAX };

/* The executed functions of a module, their blocks one after the other. */
struct fe_block {
	double count;        /* executions, any one unit */
	uint32_t insns;      /* in the original text */
	uint32_t flags;      /* BLK_… */
	uint32_t entry;      /* block of its function's entry */
	uint32_t edge, call; /* its first; those of the next block end them */
};

struct fe_edge {
	uint32_t dst, kind; /* enum edge_kind */
	double count;
};

struct fe_call {
	uint32_t entry; /* of the callee, FE_NONE = called through a pointer */
};

struct fe_program {
	VEC(struct fe_block) block; /* and one more that ends the edges and calls */
	VEC(struct fe_edge) edge;   /* by source */
	VEC(struct fe_call) call;   /* by block, in the order of the text */
};

void fe_free(struct fe_program *p);

/* A step: a block, or its rest after a call returned. */
#define FE_RETURN ((uint32_t)1 << 31)
struct fe_walk {
	VEC(uint32_t) step; /* block, | FE_RETURN */
};

/*
 * Walks FE_STEPS steps, in FE_SEGMENTS pieces of which each begins at a block
 * drawn by its executions; none when nothing was executed. Counts need not
 * be consistent. Free with vec_free(&walk.step).
 */
enum { FE_STEPS = 1 << 19, FE_SEGMENTS = 8 };
void fe_walk(const struct fe_program *p, struct fe_walk *out);

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
	double l1i;    /* lines not in an instruction cache of 32 KB, 8 ways, LRU */
	double itlb;   /* pages not in a TLB of 64 entries of 4 KB, 8 ways, LRU */
	double cycles; /* cycles per instruction, see above; 0 when nothing was executed */
};

void fe_run(const struct fe_program *p, const struct fe_walk *w, const struct fe_layout *l,
    struct fe_cost *out);

/* The share of time that `after` saves over `before`; < 0 where it is slower. */
double fe_gain(const struct fe_cost *before, const struct fe_cost *after);

#endif
