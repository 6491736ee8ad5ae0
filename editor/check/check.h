/*
 * What the parts of the output check share: check.c (the whole, and functions that move as a
 * whole), block.c (blocks), handlers.c (exceptions), rest.c (what is in neither, and what has no
 * position), text.c (how all of them read and compare). Functions that return an int return 0, or
 * -1 with the first difference in the checker's error.
 */
#ifndef MORPH_CHECK_CHECK_H
#define MORPH_CHECK_CHECK_H

#include "editor/asm/lsda.h"

struct checker {
	const struct unit_impl *u; /* the original */
	struct unit_impl out;      /* only its statements and sections are filled */
	struct err *e;
	bool **seen;     /* [function][block] */
	bool *label_met; /* of the original's labels */
	struct cfi_state cfi;
	struct cfi_stack stack;
	bool in_proc;
	uint32_t proc; /* function whose blocks the open procedure holds, or NONE */
	/* Of this procedure: where it begins, its personality routine, its exception table. */
	uint32_t startproc;
	struct str personality;
	struct lsda table;
	struct htab where; /* labels of the output -> statements */
	uint8_t *own;      /* per statement of the output: it is in a table that was read */
	size_t rest;       /* statement of the original that must come next outside of blocks */
	uint32_t left;     /* the function that came last, when it moved; NONE */
	uint64_t symbols, out_symbols; /* order-independent sums over what has no position */
};

struct block_ref {
	uint32_t func, id;
	uint32_t copy; /* 0: the block itself */
};

/* Is st the label .LMB or .LME (prefix) of a block? */
bool is_ref(const struct stmt *st, const char *prefix, struct block_ref *r);
/* The same of a jump's operand. */
bool parse_ref(struct str s, const char *prefix, struct block_ref *r);

/* Sets the error: about a block, or statement i of the output. Returns -1. */
int wrong_block(struct checker *c, struct block_ref r, const char *what);
int wrong_line(struct checker *c, size_t i, const char *what);

/* Exact comparison. */
/* Are they equivalent? Labels by name, inline assembly by its line. */
bool same_stmt(const struct stmt *a, const struct stmt *b);
/* A directive of unwind information. */
bool is_cfi(const struct stmt *st);
/* Of a statement of this text. */
const struct section *section_of(const struct unit_impl *u, const struct stmt *st);
/* Are they one section, of two texts? */
bool same_section(const struct section *a, const struct section *b);
/* May code of f be in section s, when it was in section `was`? */
bool section_fits(const struct func *f, const struct section *was, const struct section *s);
/* May an exception table of section was be in s? A far one refers to code, and so may be in the
 * code's COMDAT group, or NULL, where the original's is in none. */
bool table_fits(const struct section *was, const struct section *s, const char *group);

/* Whose unwind procedure is it that begins at statement i? NONE: of code in no block. */
uint32_t proc_owner(struct checker *c, size_t i);
/* A CFI directive among the blocks of function func. */
int apply_cfi(struct checker *c, const struct stmt *st, uint32_t func);
/* Statement i begins a procedure. */
void handlers_reset(struct checker *c, size_t i);
/* A directive that names a personality routine or an exception table. */
int handlers_apply(struct checker *c, const struct stmt *st, struct block_ref r);
/* An instruction of block r against the original's o: what becomes of its exceptions. */
int handlers_check(
    struct checker *c, struct block_ref r, const struct stmt *st, const struct stmt *o);
void handlers_free(struct checker *c);

/* The block whose label is statement i; *end becomes where it stopped. */
int check_block(struct checker *c, struct block_ref r, size_t i, size_t *end);

/* Statement i of the output, when it is in no block. */
int check_outside(struct checker *c, size_t i);
/* What of the original must come next in no block; NULL: nothing more. */
const struct stmt *rest_next(struct checker *c);
/* A sum over what has no position in `text` (bindings, types, sizes, values), in any order; u is
 * the original. */
uint64_t symbol_sum(const struct unit_impl *u, const struct unit_impl *text);

#endif
