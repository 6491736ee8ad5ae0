/*
 * Operands of instructions in AT&T syntax, as far as micro-operations need
 * them (common/uops.h).
 */
#ifndef MORPH_EDITOR_OPERAND_H
#define MORPH_EDITOR_OPERAND_H

#include "common/uops.h"
#include "editor/asm/text.h"

enum { OPERANDS = 4 };

enum operand_class {
	OP_REG,    /* general register */
	OP_VECTOR, /* xmm, ymm, zmm, mm, k, st */
	OP_IMM,    /* a number */
	OP_SYMBOL, /* $symbol: a number that is not known */
	OP_MEM,    /* on the stack or anywhere: base, index, scale, disp */
	OP_VAR,    /* memory named by a symbol: no part of the stack */
	OP_ODD     /* not understood */
};

struct operand {
	uint8_t class;
	uint8_t uo;   /* as a field of struct uop: a register, UO_MEM, UO_IMM, UO_UNKNOWN */
	uint8_t size; /* of OP_REG: log2 of bytes */
	uint8_t base, index, scale;
	int32_t disp;
	int64_t imm;
	struct str symbol; /* of OP_VAR and OP_SYMBOL: the symbol without an addend */
};

/* The operands of an argument string; returns their number, or -1 when there
 * are more than OPERANDS. A leading '*' is skipped. */
int operands_read(struct str arg, struct operand op[OPERANDS]);

/* Whether a word is read as a register where these need no '%' (.att_syntax noprefix). */
bool operand_is_register(struct str word);

#endif
