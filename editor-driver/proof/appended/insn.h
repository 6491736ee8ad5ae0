/* Machine instructions (Zydis), as far as the comparison of two bodies of one function asks. */
#ifndef MORPH_APPENDED_INSN_H
#define MORPH_APPENDED_INSN_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_ODD,    /* none, or one whose distance is not understood */
	INSN_PLAIN,  /* goes on with the next; calls through registers and memory, too */
	INSN_NOP,    /* does nothing */
	INSN_JMP,    /* direct jump */
	INSN_JCC,    /* on a condition that has an opposite */
	INSN_BRANCH, /* loop, jrcxz, xbegin */
	INSN_CALL,   /* direct call */
	INSN_LEAVE,  /* jump through a register or memory */
	INSN_END     /* ret, ud2, hlt, far jumps: nothing comes after */
};

struct insn {
	enum insn_kind kind;
	uint8_t len;          /* bytes; 0 of what is none */
	uint8_t opcode;       /* offset of the first byte that is no prefix */
	uint8_t field, width; /* offset and bytes of a distance from the end of the instruction, of
				 memory or of a jump; 0: there is none */
	uint8_t cond;         /* INSN_JCC: 0…15, the opposite with the last bit changed */
	bool call;            /* INSN_PLAIN: a call through a register or memory */
	bool lea;             /* takes the address and does not look there */
	uint64_t to;          /* where that distance leads */
	/* jmp *T(,%reg,8), and mov T(,%reg,8), %reg: the offset of T, an address of 4 bytes; 0:
	 * neither of them. */
	uint8_t table;
	uint32_t absolute; /* the displacement of memory without a base; 0: there is none */
};

struct insn_decoder {
	ZydisDecoder quick, full;
};
void insn_decoder_init(struct insn_decoder *d);

/* The instruction at p, of at most n bytes, at an address. */
void insn_decode(
    const struct insn_decoder *d, const uint8_t *p, uint64_t n, uint64_t addr, struct insn *out);

/* The same with what it does with registers. */
struct insn_operands {
	ZydisDecodedInstruction i;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT]; /* i.operand_count, implicit ones, too */
};
bool insn_operands(
    const struct insn_decoder *d, const uint8_t *p, uint64_t n, struct insn_operands *out);

/* The number of the integer register that a register is or is in (rax 0 … r15 15), or -1. */
int insn_register(ZydisRegister r);
/* Does a function keep that one for its caller (System V ABI, AMD64, 3.2.1)? */
bool insn_is_kept(int reg);

#endif
