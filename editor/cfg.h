/*
 * Control flow graph of one function, as numbers only: what inference, layout
 * and scoring work on. Block 0 is the entry; block ids are ordinals of the
 * original text, so the graph is the same for every layout.
 */
#ifndef MORPH_CFG_H
#define MORPH_CFG_H

#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	BLK_EXIT = 1,       /* may leave the function (ret, tail call, conditional tail call) */
	BLK_NORETURN = 2,   /* ends in a call that does not return, ud2 or hlt */
	BLK_COLD = 4,       /* in a .cold part of the compiler, or only landing pads lead there */
	BLK_INDIRECT = 8,   /* ends in an indirect jump: its edges are EDGE_INDIRECT */
	BLK_ADDRESSED = 16, /* its label's address is taken: may be entered indirectly */
	BLK_ONCE = 32,      /* must not be duplicated: holds inline assembly or data */
	BLK_CALLS = 64,     /* calls what may not return (exit, longjmp), or return twice (setjmp)
			     */
	BLK_OPEN = 128,     /* an instruction takes its label's address: may be entered from
			       anywhere, even where it is the target of edges */
	BLK_PAD = 256       /* a landing pad: the unwinder may enter it from any call */
};

struct cfg_block {
	uint32_t insns;   /* instructions, >= 0 (an empty block has 0) */
	uint32_t bytes;   /* code size; exact from a block map, else an estimate */
	uint32_t jump;    /* of these, its direct jump to a block; from a block map, else 0 */
	uint32_t flags;   /* BLK_… */
	uint64_t samples; /* in: program counter samples, fixed point (SAMPLE_ONE) */
	uint64_t count;   /* executions, in any one unit per module */
};

enum { SAMPLE_ONE = 256 };

enum edge_kind {
	EDGE_FALL,     /* src ends without a jump: dst followed it */
	EDGE_JUMP,     /* unconditional jump */
	EDGE_TAKEN,    /* conditional jump taken */
	EDGE_NOTTAKEN, /* conditional jump not taken */
	EDGE_INDIRECT, /* jump table, computed goto, asm goto */
	EDGE_THROW     /* from a call to the landing pad of its exceptions, by the unwinder */
};

/* Is it printed as a jump, or as nothing where dst comes next? */
static inline bool edge_direct(uint32_t kind)
{
	return kind < EDGE_INDIRECT;
}

struct cfg_edge {
	uint32_t src, dst;
	uint32_t kind;  /* enum edge_kind */
	uint64_t count; /* same unit as blocks */
	/* In: of the replayed executions of src, those that took this edge; 0 = none. With samples
	 * in fixed point (SAMPLE_ONE); with counts executions, and complete. Of parallel edges the
	 * first holds the sum. */
	uint64_t outcomes;
	/* In: of the replayed executions of dst, those that came from src, likewise; with samples
	 * only. */
	uint64_t pred;
};

struct cfg {
	struct cfg_block *block;
	struct cfg_edge *edge; /* grouped by src, ascending; no two alike (src, dst, kind) */
	uint32_t nblock, nedge;
	/* By cfg_index(): edge[succ[b]] … edge[succ[b + 1] - 1] leave block b, … */
	uint32_t *succ;
	/* … and edge[in[pred[b]]] … edge[in[pred[b + 1] - 1]], ascending, enter it. */
	uint32_t *pred, *in;
};

/* Sets the indices, with memory from the arena. */
void cfg_index(struct cfg *g, struct arena *a);

/* Sets head[b] of each block that a depth-first walk from block 0, and from the lowest blocks it
 * does not reach, meets again on the way to itself: the heads of loops. Else 0. */
void cfg_loop_heads(const struct cfg *g, uint8_t *head);

#endif
