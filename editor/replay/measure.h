/*
 * How long instructions are: what the assembler is asked to measure, and what it says.
 */
#ifndef MORPH_EDITOR_MEASURE_H
#define MORPH_EDITOR_MEASURE_H

#include "editor/asm/text.h"

/* What the assembler measures: an instruction, data, a run of inline assembly. */
struct item {
	uint32_t from, to; /* code[from…to) */
	bool jump;         /* at the end of its block, represented by UOP_END */
	bool shifts;       /* alignment in it or before it: the offsets of what follows are not
			      fixed */
};

/* The next item of a block, at or after it->to, which is k->first in the beginning. */
bool item_next(
    const struct unit_impl *u, const struct func *f, const struct blk *k, struct item *it);
/* The bytes of the next item that was measured. -1: there is none. */
int item_length(const uint8_t **p, const uint8_t *end, uint32_t *length);

#endif
