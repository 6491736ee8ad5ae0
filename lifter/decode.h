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

struct code {
	uint64_t target;  /* of a direct jump or call; of an operand relative to %rip; else 0 */
	int32_t absolute; /* of jmp *T(,%reg,8) and mov T(,%reg,8), %reg: T; else 0 */
	uint8_t len;      /* bytes */
	uint8_t kind;     /* enum code_kind */
	uint8_t field;    /* where the four bytes of such a distance begin, 0 = it has none */
	uint8_t cond;     /* of CODE_JCC: 0…15 */
	bool prefixed;    /* a jump or call with prefixes */
	bool lea;
	bool endbr; /* endbr64 */
};

/* The instruction at p, of at most n bytes, address addr; false: there is none. Thread safe. */
bool code_decode(const uint8_t *p, uint64_t n, uint64_t addr, struct code *out);

#endif
