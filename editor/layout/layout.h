/*
 * Block order of one function, by ext-TSP (Newell & Pupyrev, "Improved basic
 * block reordering", IEEE TC 2020), and its split into a hot and a cold
 * fragment.
 *
 * Needs: consistent counts (editor/infer/infer.h), bytes. Block 0 stays first.
 */
#ifndef MORPH_LAYOUT_H
#define MORPH_LAYOUT_H

#include "common/mem.h"
#include "editor/cfg.h"

#include <stdbool.h>

/*
 * A block has one primary slot, where its labels are and jumps to it go, and perhaps copies:
 * control enters a copy only by falling through from the slot before it. Where copies are not
 * marked (a layout read from a build) the primary slot is the first whose predecessor slot cannot
 * fall through to it, or else the first of all (layout_primary). Blocks with BLK_ONCE and block 0
 * have no copies.
 */
struct layout {
	uint32_t *order; /* the block at each slot; order[0] == 0; from the arena */
	uint32_t n;      /* slots; each block has at least one */
	uint32_t nhot;   /* the first nhot form the hot fragment; nhot >= 1 */
	uint8_t *copy;   /* of each slot: it is a copy; NULL = there are none, or they are not
			    marked; from the arena */
	uint8_t *hop;    /* of each slot: it jumps to the next (editor/layout/hops.h), which is
			    never a copy; NULL = none does */
	uint8_t *align;  /* of each slot, log2, 0 = none; NULL = none at all. Ignored for the first
			    of a fragment */
	uint8_t entry_align;  /* log2 of the boundary before the entry, 0 = the least; … */
	uint8_t entry_offset; /* … bytes from there to the entry, even */
};

/* Taken jumps that a byte of copies or padding must save, as a share of the executions of a hot
 * block. Fitted on ten programs, by lines of code against jumps (docs/notes/layout.md, "Copies").
 */
#define LAYOUT_BYTE (1. / 16)

/* What depends on the CPU that the program runs on; all 0: nothing of it is done. */
struct layout_cpu {
	double lines_share;   /* least share of the executed instructions for lines_pad() */
	double hop_func_bits; /* hops_add(): least branch entropy per executed block, … */
	double hop_calls;     /* … most calls per executed block of such a function, … */
	double hop_jump_bits; /* … least entropy of the branch */
};

struct layout_options {
	bool split;                   /* false: one fragment, nhot == n */
	bool copies;                  /* tail duplication (editor/layout/tails.h) */
	const struct layout_cpu *cpu; /* not NULL */
	uint64_t hot;                 /* executions of a block that count as hot in its module */
	uint64_t calls;               /* executions of calls in this function */
	double executed;              /* instructions of its module */
};

/* The passes, in order: block order, copies, split, hops, lines. */
/* Deterministic. Quasi-linear in the size of the graph in practice. */
void layout_blocks(
    const struct cfg *g, const struct layout_options *o, struct layout *out, struct arena *a);
/* Any permutation that keeps block 0 first, any split, any legal copies, hops and
 * alignments; determined by the seed. */
void layout_random(const struct cfg *g, const struct layout_options *o, uint64_t seed,
    struct layout *out, struct arena *a);
void layout_identity(const struct cfg *g, struct layout *out, struct arena *a);

static inline bool layout_hops(const struct layout *l, uint32_t k)
{
	return l->hop && l->hop[k];
}

/* Whether the next slot follows slot k in one fragment, … */
static inline bool layout_adjoins(const struct layout *l, uint32_t k)
{
	return k + 1 < l->n && k + 1 != l->nhot;
}

/* … and control can fall through to it. */
static inline bool layout_runs_on(const struct layout *l, uint32_t k)
{
	return layout_adjoins(l, k) && !layout_hops(l, k);
}

/* The jumps that a slot is printed with, by target block; UINT32_MAX = no such jump. */
struct layout_jumps {
	uint32_t cond, jump;
	bool inverse; /* cond goes where the original's jump is not taken */
};
/* For a block with the conditional jump to `taken` (UINT32_MAX: none), else the successor `on`
 * (UINT32_MAX: none), and that can fall through to `next` (UINT32_MAX: to nothing). */
struct layout_jumps layout_jumps(uint32_t taken, uint32_t on, uint32_t next);
/* Those of slot k. */
struct layout_jumps layout_slot_jumps(const struct cfg *g, const struct layout *l, uint32_t k);

/* The primary slot of each block; slot[] has g->nblock. */
void layout_primary(const struct cfg *g, const struct layout *l, uint32_t *slot);

/* Executions of each slot: a copy gets its share of the flow from the slot before it, the primary
 * slot the rest of the block's. count[] has l->n. */
void layout_flow(const struct cfg *g, const struct layout *l, double *count);

/* The score of a layout under g's counts. */
struct layout_score {
	double exttsp; /* ext-TSP: 1.0 (1.05) per fallthrough, less by distance */
	double taken;  /* jumps taken: executions of all edges that are no fallthrough */
	double total;  /* executions of all edges */
};
void layout_score(const struct cfg *g, const struct layout *l, struct layout_score *s);

/* The smallest number of 64-byte lines that hold `share` (0…1) of the executed instructions of all
 * these blocks. */
struct layout_block {
	uint64_t addr, weight; /* weight: executed instructions */
	uint32_t bytes;
};
uint64_t layout_hot_lines(const struct layout_block *b, size_t n, double share);

#endif
