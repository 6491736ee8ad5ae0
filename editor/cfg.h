/*
 * Control flow graph of one function, as numbers only: what inference, layout
 * and scoring work on. Block 0 is the entry; block ids are ordinals of the
 * original text, so the graph is the same for every layout.
 */
#ifndef MORPH_CFG_H
#define MORPH_CFG_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BLK_EXIT = 1,      /* may leave the function (ret, tail call, conditional tail call) */
	BLK_NORETURN = 2,  /* ends in a call that does not return, ud2 or hlt */
	BLK_COLD = 4,      /* the compiler put it into a .cold part */
	BLK_INDIRECT = 8,  /* ends in an indirect jump: its edges are EDGE_INDIRECT */
	BLK_ADDRESSED = 16, /* its label's address is taken: may be entered indirectly */
	BLK_ONCE = 32,      /* holds what must not be there twice (inline assembly, data) */
	BLK_SKIP = 64,      /* a jump and nothing else, or nothing: has one edge */
	BLK_CALLS = 128,    /* calls what may not come back (exit, longjmp), or twice (setjmp) */
	BLK_TABLED = 256,   /* its indirect jump goes to its edges' targets and nowhere else;
			       found only where there are several such jumps */
	BLK_OPEN = 512,     /* an instruction takes its label's address: may be entered from
			       anywhere, even where it is the target of edges */
	BLK_POINTER = 1024  /* calls through a pointer */
};

struct cfg_block {
	uint32_t insns;   /* instructions, >= 0 (an empty block has 0) */
	uint32_t bytes;   /* code size; exact from a block map, else an estimate */
	uint32_t jump;    /* of these, its direct jump to a block; from a block map, else 0 */
	uint32_t flags;   /* BLK_… */
	uint32_t align;   /* log2 of the alignment asked for by the compiler, 0 = none */
	uint64_t samples; /* in: program counter samples, fixed point (SAMPLE_ONE) */
	uint64_t count;   /* executions, in any one unit per module */
	uint64_t signature; /* in: hash of what its conditional jump looks like; 0 = it has none */
};

enum { SAMPLE_ONE = 256 };

enum edge_kind {
	EDGE_FALL,     /* src ends without a jump: dst followed it */
	EDGE_JUMP,     /* unconditional jump */
	EDGE_TAKEN,    /* conditional jump taken */
	EDGE_NOTTAKEN, /* the other way of a conditional jump */
	EDGE_INDIRECT  /* jump table, computed goto, asm goto */
};

struct cfg_edge {
	uint32_t src, dst;
	uint32_t kind;  /* enum edge_kind */
	uint64_t count; /* same unit as blocks */
	/* In: of the executions of src that were seen, those that went this way;
	 * 0 = none seen. With samples in fixed point (SAMPLE_ONE); with counts
	 * executions, and all that did. Of edges between the same two blocks the
	 * first has it all. */
	uint64_t witness;
	/* In: of the executions of dst that were seen from behind, those that came this
	 * way, likewise; with samples alone. */
	uint64_t pred;
	/* What jumps that look the same say: so many more witnesses (infer_similarity()). */
	double similar;
	/* The compiler made it for what all but never is: a comparison with NaN, an overflow. */
	bool rare;
};

struct cfg {
	struct cfg_block *block;
	struct cfg_edge *edge; /* grouped by src, ascending; no two alike (src, dst, kind) */
	uint32_t nblock, nedge;
};

#endif
