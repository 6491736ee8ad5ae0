/*
 * What instructions do with general registers, for finding jump tables. Pure.
 */
#ifndef MORPH_LIFT_REGISTERS_H
#define MORPH_LIFT_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Registers are numbers, as machine code has them: 0 = rax, 1 = rcx, … 15 = r15. */
enum { NO_REGISTER = 0xff };

enum form {
	FORM_OTHER,
	FORM_LEA,     /* dst = an address, by %rip */
	FORM_LOAD4,   /* dst = signed 4 bytes at base + 4 * index */
	FORM_LOAD8,   /* dst = 8 bytes at displacement + 8 * index */
	FORM_ADD,     /* dst += src */
	FORM_JUMP,    /* to src */
	FORM_JUMP8,   /* to 8 bytes at displacement + 8 * index */
	FORM_COPY,    /* dst = src, of 32 or 64 bits, or 8 or 16 with zeros */
	FORM_COMPARE, /* src with number */
	FORM_MASK     /* dst &= number */
};

struct registers {
	uint8_t form;
	uint8_t dst, src, index; /* of the form; index of memory, and in src its base */
	bool sets_flags;
	uint16_t reads, writes; /* a bit for each register, of which a part is enough */
	int64_t number;
};

/* Of the instruction at p, of n bytes, which is one (decode.h). Thread safe. */
void registers_read(const uint8_t *p, unsigned n, struct registers *out);

#endif
