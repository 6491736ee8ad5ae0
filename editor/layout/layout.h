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
	uint8_t *align;  /* of each slot, log2, 0 = none; NULL = none at all. Ignored for the first
			    of a fragment */
	uint8_t *hop;    /* of each slot: it jumps to the next (editor/layout/hops.h), which is
			    never a copy; NULL = none does */
	uint8_t entry_offset; /* bytes from an alignment boundary to the entry, even */
	bool thread;     /* jumps to BLK_SKIP blocks go to their successors */
};

enum layout_transform {
	LAYOUT_ALIGN = 1,   /* alignment by counts, else that of the compiler where it pays */
	LAYOUT_TAILS = 2,   /* copies of small blocks (editor/layout/tails.h) */
	LAYOUT_THREAD = 4,  /* jumps past BLK_SKIP blocks; needs layout_thread() */
	LAYOUT_GOT = 8,     /* hot calls through the GOT instead of the PLT */
	LAYOUT_PAGE = 16,   /* hot code begins on a page of its own */
	LAYOUT_ROTATE = 32, /* loop rotation after chain merging (editor/layout/rotate.h) */
	LAYOUT_LINES = 64,  /* hot code on few lines of 64 bytes (editor/layout/lines.h) */
	LAYOUT_HUGE = 128,  /* all code lies on pages of 2 MiB, in address and file */
	LAYOUT_SPREAD = 256, /* branches on both halves of a line (editor/layout/spread.h) */
	LAYOUT_HOPS = 512, /* jumps before hard-to-predict branches (editor/layout/hops.h) */
	LAYOUT_FRUGAL = 1024, /* fewer copies (docs/notes/zen5.md, "Frugal") */
	LAYOUT_ALL = 2047
};

/* Taken jumps that a byte of copies or padding must save, as a share of the executions of a hot
 * block (docs/notes/layout.md, "Copies"). */
#define LAYOUT_BYTE (1. / 16)

struct layout_options {
	int split;           /* 0: one fragment, nhot == n */
	unsigned transforms; /* enum layout_transform */
	uint64_t hot;        /* executions of a block that count as hot in its module */
	uint64_t calls;      /* executions of calls in this function */
	double executed;     /* instructions of its module */
};

/* Deterministic. Quasi-linear in the size of the graph in practice. */
void layout_blocks(
    const struct cfg *g, const struct layout_options *o, struct layout *out, struct arena *a);
/* Redirects g's edges past BLK_SKIP blocks, and subtracts their counts from those. */
void layout_thread(struct cfg *g);
/* Any permutation that keeps block 0 first, any split, any legal use of the transforms; determined
 * by the seed. */
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

/* The primary slot of each block; slot[] has g->nblock. */
void layout_primary(const struct cfg *g, const struct layout *l, uint32_t *slot);

/* Executions of each slot: a copy gets its share of the flow from the slot before it, the primary
 * slot the rest of the block's. count[] has l->n. */
void layout_flow(const struct cfg *g, const struct layout *l, double *count);

/* The score of a layout under g's counts. */
struct layout_score {
	double exttsp;  /* ext-TSP: 1.0 (1.05) per fallthrough, less by distance */
	double taken;   /* jumps taken: executions of all edges that are no fallthrough */
	double total;   /* executions of all edges */
};
void layout_score(const struct cfg *g, const struct layout *l, struct layout_score *s);

/* The smallest number of 64-byte lines that hold `share` (0…1) of all executed instructions, with
 * block i at addr[i]; weights are count * insns. For several functions, pass the concatenation of
 * their blocks. */
uint64_t layout_hot_lines(const uint64_t *addr, const uint32_t *bytes, const uint64_t *weight,
    uint32_t n, double share);

#endif
