/*
 * The rows of unwind information: how, at each instruction of a function, the caller's frame and
 * registers are found. Runs the instructions (DW_CFA_*) of an FDE and of its CIE. Format: DWARF 5,
 * 6.4.2; DW_CFA_GNU_args_size and DW_CFA_GNU_negative_offset_extended: Linux Standard Base 5,
 * "DWARF Extensions".
 */
#ifndef MORPH_EHROWS_H
#define MORPH_EHROWS_H

#include "common/mem.h"
#include "common/unwind/ehframe.h"

/* DWARF's numbers on x86-64: 16 integer registers, the return address, 16 vector registers. */
enum { EH_REGISTERS = 33 };

enum eh_how {
	EH_UNSPECIFIED, /* nothing was said: the caller's value is still there */
	EH_SAME,        /* the same, said */
	EH_UNDEFINED,   /* lost; of the return address: there is no caller */
	EH_OFFSET,      /* in memory, at the frame's address + value */
	EH_VAL_OFFSET,  /* that address itself */
	EH_REGISTER,    /* in register `value` */
	EH_EXPRESSION,  /* in memory, at the address that a DWARF expression makes */
	EH_VAL_EXPRESSION
};
struct eh_rule {
	enum eh_how how;
	int64_t value;
	const uint8_t *expr, *end; /* of an expression */
};

struct eh_row {
	uint64_t begin, end;   /* addresses of the code; never equal */
	struct eh_rule cfa;    /* EH_VAL_OFFSET: register cfa_register + value; EH_VAL_EXPRESSION */
	uint64_t cfa_register; /* DWARF's number */
	uint64_t args;         /* bytes of arguments on the stack */
	struct eh_rule reg[EH_REGISTERS];
};

/*
 * Calls row() for one row after the other, ascending, which hold all of the function's code, until
 * it returns non-zero, and returns that. -1: an instruction that is not known, or that says what
 * cannot be; a register beyond those above.
 */
int eh_rows(const struct eh_fde *f, int (*row)(const struct eh_row *, void *), void *arg);

/* Appends what a row says, without where: the same bytes say the same. */
void eh_row_put(const struct eh_row *r, struct buf *out);

#endif
