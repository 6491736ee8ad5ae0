/*
 * What the editor needs to know of x86-64 instructions: how they end blocks.
 */
#ifndef MORPH_EDITOR_INSN_H
#define MORPH_EDITOR_INSN_H

#include "editor/asm/text.h"

enum insn_class {
	INSN_PLAIN,
	INSN_CALL,
	INSN_JMP,     /* direct; operand is a label or symbol */
	INSN_JMP_IND, /* jmp * */
	INSN_JCC,
	INSN_RET,
	INSN_STOP,  /* ud2, hlt: nothing comes after */
	INSN_SHORT, /* jrcxz, loop, xbegin: reach is too short to move */
};

/* The class; for jumps *prefix is the length of a leading "notrack " or "bnd "
 * and *operand what follows the mnemonic. */
enum insn_class insn_classify(const struct stmt *st, struct str *operand);
/* The opposite condition of a jcc mnemonic ("jne" for "je"), or NULL. */
const char *insn_inverse(struct str mnemonic);
/* True when a call to this symbol never comes back, by the C library's rules. */
bool insn_noreturn(struct str callee);
/* True when a call to this symbol comes back, and once, by the C library's rules. */
bool insn_returns(struct str callee);
/* What an instruction does with the arithmetic flags. What is not known to set them all counts as
 * preserving them. */
enum insn_flags { FLAGS_KEEP, FLAGS_SET, FLAGS_USE };
enum insn_flags insn_flags(const struct stmt *st);
/* A rough size in bytes, for layout before a block map is known. */
uint32_t insn_bytes(const struct stmt *st, enum insn_class class);
/* "foo@PLT" -> "foo" */
struct str symbol_of(struct str operand);

#endif
