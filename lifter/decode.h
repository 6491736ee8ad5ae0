/*
 * One instruction, as far as lifting needs it (Zydis). Pure.
 */
#ifndef MORPH_LIFT_DECODE_H
#define MORPH_LIFT_DECODE_H

#include <stdbool.h>
#include <stdint.h>

enum code_kind {
	CODE_OTHER,
	CODE_NOP,
	CODE_CALL,     /* to target */
	CODE_CALL_IND, /* through a register or memory */
	CODE_JMP,      /* to target */
	CODE_JCC,      /* to target, or on */
	CODE_JMP_IND,
	CODE_RET,
	CODE_STOP,  /* ud2, hlt: nothing comes after it */
	CODE_SHORT, /* jrcxz, loop, xbegin: to target, or on */
	CODE_ODD    /* must not be copied: what is relative to its place in another way */
};

struct code { /* small: of all instructions of a file */
	/* Of a direct jump or call, and of an operand relative to %rip: from the instruction's end
	 * to the target. Of jmp *T(,%reg,8) and mov T(,%reg,8), %reg: T. Else 0. */
	int32_t distance;
	uint8_t kind;      /* enum code_kind */
	uint8_t len : 4;   /* bytes */
	uint8_t field : 4; /* where the four bytes of a distance begin, 0 = it has none */
	uint8_t cond : 4;  /* of CODE_JCC */
	bool absolute : 1; /* the distance is T */
	bool prefixed : 1; /* a jump or call with prefixes */
	bool lea : 1, movslq : 1;
	bool endbr : 1; /* endbr64 */
};

/* The instruction at p, of at most n bytes; false: there is none. Thread safe. */
bool code_decode(const uint8_t *p, uint64_t n, struct code *out);

/* Where the distance leads, of an instruction at addr that has one. */
static inline uint64_t code_target(const struct code *c, uint64_t addr)
{
	return addr + c->len + (uint64_t)c->distance;
}

#endif
