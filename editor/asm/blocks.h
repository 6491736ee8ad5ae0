/*
 * What blocks.c and edges.c share: a function while its blocks are found.
 */
#ifndef MORPH_ASM_BLOCKS_H
#define MORPH_ASM_BLOCKS_H

#include "editor/asm/text.h"

struct builder {
	struct unit_impl *u;
	struct func *f;
	VEC(struct blk) blk;
	VEC(struct cfg_block) cb;
	VEC(struct cfg_edge) edge;
	VEC(struct unit_call) call;
	VEC(struct cfg_edge) asm_edge; /* src block, dst label index; src ascending */
	VEC(uint32_t)
	here, ahead;       /* in this inline assembly: labels "1:"; uses "1f" without one yet */
	uint32_t lead;     /* where the next block's lead begins */
	uint32_t cfi, loc; /* in force */
	VEC(uint32_t) addressed; /* blocks whose address is taken */
	bool open, content;      /* a block is open; it has code already */
	bool in_asm;
	bool proc_over;  /* the part's unwind procedure has ended */
	const char *why; /* the function is opaque; NULL */
};

/* Sets the targets of the blocks, the edges, and the flags that depend on these. Needs every block;
 * may set why. */
void blocks_edges(struct builder *b);

#endif
