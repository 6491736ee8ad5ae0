/*
 * A function while it is lifted: its instructions, what leads to them, and its jump tables.
 */
#ifndef MORPH_LIFT_BODY_H
#define MORPH_LIFT_BODY_H

#include "common/unwind/ehtable.h"
#include "lifter/survey.h"

struct step {
	uint64_t addr;
	struct code c;
	uint8_t part;
	bool label;        /* printed with one: something leads to it */
	bool entered;      /* by a jump, a table or an exception: not only from before it */
	bool padding;      /* only aligns what follows: not printed */
	uint32_t operand;  /* 1 + the table whose address its operand is, 0 = another */
	uint32_t table[2]; /* 1 + tables that this jump goes by; 0 = none */
};

/* Of an instruction with a distance (decode.h). */
static inline uint64_t step_target(const struct step *s)
{
	return code_target(&s->c, s->addr);
}

struct jump_table {
	uint64_t addr;          /* of the original */
	uint32_t n;             /* entries that it can have */
	bool wide;              /* 8 bytes, addresses; else 4, distances from addr */
	bool bounded;           /* n is what a comparison allows */
	bool printed;           /* after a jump already */
	const uint64_t *target; /* n of them */
};

struct body {
	const struct image *m;
	const struct survey *s;
	const struct function *f;
	const struct fragment *part[2]; /* [1] NULL: no cold part */
	struct eh_table lsda[2];
	VEC(struct step) step; /* of part 0, then 1, by address */
	VEC(struct jump_table) table;
	VEC(struct image_word) word; /* that are to lead into the new body */
	uint32_t first1;             /* step at which part 1 begins, or all of them */
	uint32_t indirect;           /* indirect jumps */
	struct arena mem;
};

/* body.c: the instructions and what leads to them. NULL, or why the function stays. Free with
 * body_free in both cases. */
const char *body_read(
    struct body *b, const struct image *m, const struct survey *s, const struct function *f);
void body_free(struct body *b);
/* The instruction at an address, or NULL. */
struct step *body_step(const struct body *b, uint64_t addr);
/* Marks it as one that something leads to; false: there is none. */
bool body_enter(struct body *b, uint64_t addr);
/* Where the jump to the new body is written: the entry, behind endbr64. */
uint64_t body_patch(const struct body *b);

/* tables.c: finds the jump tables; registers.h: what instructions do with registers. */
void body_tables(struct body *b);

/* cfi.c: DW_CFA instructions as directives. */
struct cfi_note {
	uint64_t addr; /* before the instruction there */
	const char *text;
};
typedef VEC(struct cfi_note) cfi_notes;
/* NULL, or why not. Texts are mem's. Free the notes in both cases. */
const char *cfi_read(const struct eh_fde *f, struct arena *mem, cfi_notes *out);

/* print.c: the unit's text. NULL, or why the function stays; then what was appended is void. */
const char *body_print(struct body *b, struct buf *out);
/* The unit of a function that stays. */
void body_print_stays(const char *name, const char *why, struct buf *out);
/* lsda.c: the exception table of a part, after its code; and can it be printed? */
bool lsda_printable(const struct eh_table *t);
void lsda_print(const struct body *b, unsigned part, struct buf *out);

#endif
