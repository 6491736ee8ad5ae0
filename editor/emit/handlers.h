/*
 * The exception tables of a function that is printed in another order: one for each fragment, made
 * from what the original says of each statement.
 */
#ifndef MORPH_EMIT_HANDLERS_H
#define MORPH_EMIT_HANDLERS_H

#include "editor/asm/text.h"

/* Statements of one call site that follow one another in a fragment: between boundaries k and
 * k + 1, labels that are printed with the code. */
struct handler_range {
	uint32_t boundary, site; /* site: as in func_eh.site */
};

struct handlers {
	const struct func *f;
	uint32_t fragment;
	uint32_t boundary;               /* the next one */
	uint32_t first;                  /* the fragment's, at its begin */
	uint32_t site;                   /* in force */
	VEC(struct handler_range) range; /* of the fragment */
	struct buf table;                /* of both fragments */
};

/* After .cfi_startproc of a fragment. Nothing is printed for a function without a personality
 * routine. */
void handlers_begin(struct handlers *h, const struct func *f, uint32_t fragment, struct buf *out);
/* Before code[i], which is code but no jump of its block. */
void handlers_at(struct handlers *h, uint32_t i, struct buf *out);
/* After the code of a fragment: slots up to `end`, of which `first` is the first that has any.
 * primary: of each block. */
void handlers_end(struct handlers *h, const struct unit_impl *u, const uint32_t *primary,
    uint32_t first, uint32_t end, struct buf *out);
/* Prints the tables. */
void handlers_tables(struct handlers *h, struct buf *out);

#endif
