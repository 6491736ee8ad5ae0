/*
 * Micro-operations: what the instructions of a module's functions do to the
 * general registers and the flags, compiled once per artifact by the editor's
 * side (morph-edit --replay-table), so that the manager can evaluate forward
 * from a sample without knowing assembly (managerd/replay/forward.h). A block's
 * instructions keep their lengths in every layout, except the jump at its
 * end: one table serves the original and all layouts of it.
 *
 * File format: docs/FORMATS.md "Replay table". The reader checks everything
 * once; whoever holds a struct uops may index by what it says.
 */
#ifndef MORPH_UOPS_H
#define MORPH_UOPS_H

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* General registers in the kernel's order (perf_regs.h), so that a sample's
 * registers are taken as they come. */
enum uop_reg {
	UR_AX,
	UR_BX,
	UR_CX,
	UR_DX,
	UR_SI,
	UR_DI,
	UR_BP,
	UR_SP,
	UR_R8,
	UR_R9,
	UR_R10,
	UR_R11,
	UR_R12,
	UR_R13,
	UR_R14,
	UR_R15,
	UR_N
};

/* What a function may change by the ABI (System V, x86-64, 3.2.1). */
enum {
	UR_CALLER_SAVED = 1 << UR_AX | 1 << UR_CX | 1 << UR_DX | 1 << UR_SI | 1 << UR_DI |
			  1 << UR_R8 | 1 << UR_R9 | 1 << UR_R10 | 1 << UR_R11
};

/* Operands: a register, or one of these. */
enum {
	UO_HIGH = UR_N,       /* ah, bh, ch, dh are UO_HIGH + 0…3; size 1 only */
	UO_MEM = UO_HIGH + 4, /* memory at disp + base + index << scale */
	UO_IMM,               /* imm; as source only */
	UO_UNKNOWN,           /* as source: any value. As destination: no register,
				 and no memory of the stack (a variable) */
	UO_N
};

/* base and index of an address. */
enum {
	UA_NONE = UR_N, /* nothing is added */
	UA_UNKNOWN,     /* any address (base only) */
	UA_N
};

enum uop_kind {
	UOP_NOP,   /* neither registers nor flags nor memory */
	UOP_STOP,  /* not understood, or of no use to go beyond */
	UOP_CALL,  /* the next instruction is where it returns; aux: does not return; imm:
		      uops_callee() of what is called by name, else 0 */
	UOP_FLAGS, /* flags become unknown */
	UOP_MOV,   /* dst = src */
	UOP_MOVZX, /* dst = src of aux bytes (log2), zeros above */
	UOP_MOVSX, /* dst = src of aux bytes (log2), its sign above */
	UOP_LEA,   /* dst = address */
	UOP_ADD,   /* dst op= src, and flags */
	UOP_ADC,
	UOP_SUB,
	UOP_SBB,
	UOP_AND,
	UOP_OR,
	UOP_XOR,
	UOP_CMP,  /* flags of dst - src */
	UOP_TEST, /* flags of dst & src */
	UOP_INC,  /* dst alone */
	UOP_DEC,
	UOP_NEG,
	UOP_NOT,
	UOP_BSWAP,
	UOP_SHL, /* dst op= src, the count */
	UOP_SHR,
	UOP_SAR,
	UOP_ROL,
	UOP_ROR,
	UOP_SHLD, /* dst with bits of register aux coming in, by src */
	UOP_SHRD,
	UOP_IMUL,  /* dst *= src */
	UOP_IMUL3, /* dst = src * imm; src is no UO_IMM */
	UOP_MULA,  /* dx:ax = ax * src, unsigned; sizes of 2 and more bytes */
	UOP_IMULA, /* the same, signed */
	UOP_DIV,   /* ax, dx = dx:ax / src, unsigned; sizes of 2 and more bytes */
	UOP_IDIV,
	UOP_SIGN_DX, /* dx = sign of ax (cwd, cdq, cqo) */
	UOP_BT,      /* CF = bit src of dst */
	UOP_BTS,
	UOP_BTR,
	UOP_BTC,
	UOP_BSF, /* dst = place of src's lowest, highest bit */
	UOP_BSR,
	UOP_TZCNT,
	UOP_LZCNT,
	UOP_POPCNT,
	UOP_SETCC, /* dst = condition aux */
	UOP_CMOV,  /* if (condition aux) dst = src */
	UOP_XCHG,
	UOP_XADD,
	UOP_CMPXCHG, /* with dst; src is a register */
	UOP_PUSH,    /* src */
	UOP_POP,     /* dst */
	UOP_LEAVE,
	UOP_WIPE,     /* 64 bytes of memory at the address become unknown */
	UOP_LOOKUP,   /* dst = the code address at entry [index] of jump table imm, or its
			 distance from the register that UOP_ADD_BASE adds to dst */
	UOP_ADD_BASE, /* dst += src, registers of 8 bytes; flags become unknown */
	UOP_END,      /* the last of each block: represents the jumps at its end */
	UOP_N
};

/* Conditions in the order of the machine's encoding (o, no, b, ae, e, ne, be,
 * a, s, ns, p, np, l, ge, le, g): the lowest bit inverts. */
enum { UC_N = 16 };

enum { UOPS_NONE = UINT32_MAX };

struct uop {                        /* one instruction */
	uint8_t kind;               /* enum uop_kind */
	uint8_t size;               /* of the operation: 1 << size bytes, 0…3 */
	uint8_t dst, src;           /* operands */
	uint8_t base, index, scale; /* of UO_MEM, UOP_LEA, UOP_WIPE; scale: log2 */
	uint8_t aux;                /* condition, size of a source, register */
	int32_t disp;
	uint32_t at; /* offset from its block's first byte; of UOP_END: UOPS_NONE = not known */
	int64_t imm;
};

enum uop_term {
	UT_STOP,     /* leaves the function, or where it goes is not known */
	UT_GO,       /* goes on at `to` */
	UT_COND,     /* condition cond: to `to`, else to `other` */
	UT_COND_OUT, /* condition cond: leaves the function, else to `other` */
	UT_REG,      /* to the address in register reg */
	UT_LOOKUP,   /* to the block at entry [reg] of jump table `to` */
	UT_RET,      /* returns to the caller */
	UT_N
};

struct uops_block {
	uint32_t uop, nuop; /* >= 1: the last is UOP_END */
	uint32_t to, other; /* ids of blocks of this function; of UT_LOOKUP a table */
	uint32_t join;      /* id of the block where all ways from here meet again, or UOPS_NONE */
	uint16_t writes;    /* until then: registers that may change, by bit; the flags may */
	bool stores;        /* … and memory */
	uint8_t term, cond, reg;
	bool open; /* may be entered otherwise than from the blocks that say so */
	/* from[from … from + nfrom): those that do, by uops_link(); each once. */
	uint32_t from, nfrom;
};

struct uops_table {        /* jump table: ids of blocks of its function, or UOPS_NONE */
	uint32_t first, n; /* in target[] */
};

struct uops_func {
	struct hash128 key;
	uint32_t block, nblock; /* block id i is block[block + i] */
	uint32_t table, ntable; /* what `imm` and `to` count */
};

struct uops_frame { /* holds from this uop on to the next entry's */
	uint32_t uop;
	uint8_t reg;    /* UR_SP, UR_BP, …; UA_NONE = not known */
	int32_t offset; /* the frame's CFA = reg + offset; the return address lies below it */
};

struct uops {
	VEC(struct uops_func) func; /* by key, each once */
	VEC(struct uops_block) block;
	VEC(struct uop) uop;
	VEC(struct uops_table) table;
	VEC(uint32_t) target;
	VEC(uint32_t) from;           /* ids of blocks */
	VEC(struct uops_frame) frame; /* by uop */
	VEC(uint32_t) frames_before;  /* of each 16th uop on: entries of frame[] before it */
};

/* A function by its name: not 0, and seldom that of another one. */
uint32_t uops_callee(const char *name, size_t n);
/* What the evaluator takes for granted: the reader refuses others. ntable: jump
 * tables of the function. */
bool uops_sound(const struct uop *o, uint32_t ntable);
/* Sorts func by key and drops doubles, which are equal. */
void uops_sort(struct uops *u);
/* Where a block leads to within its function, each block once; how many. Not by indirect jumps. */
uint32_t uops_next(const struct uops_block *b, uint32_t to[2]);
/* Notes of each block from where it is entered: by UT_GO, UT_COND and UT_COND_OUT;
 * block 0 is open. And where frames are found. What uops_decode() gives has both. */
void uops_link(struct uops *u);
/* Bytes of a file of this format. u must be sorted. */
void uops_encode(const struct uops *u, struct buf *out);
/* Fails, with *u empty, when anything is out of bounds. */
int uops_decode(const void *p, size_t n, struct uops *u, struct err *e);
/* Likewise, with those functions only that keep() says yes to; all are checked. It is asked in
 * the order of the bytes; those before end are not read again. */
typedef bool uops_keep_fn(void *arg, const struct hash128 *key, const void *end);
int uops_decode_some(
    const void *p, size_t n, uops_keep_fn *keep, void *arg, struct uops *u, struct err *e);
void uops_free(struct uops *u);

/* The index of a function, or UOPS_NONE. */
uint32_t uops_find(const struct uops *u, const struct hash128 *key);
/*
 * The index of the uop of an instruction: offset counts from the block's first
 * byte, in any layout. UOPS_NONE where no instruction begins, or no such block.
 */
uint32_t uops_at(const struct uops *u, uint32_t func, uint32_t block, uint32_t offset);
/* Whether a function that is called is left by returning alone: by no jump to another one. */
bool uops_returns(const struct uops *u, uint32_t func);
/* The index of the uop after the call that ends at offset; UOPS_NONE where none
 * does. Of a return address the block is that of the byte before it: a call may
 * end its block. */
uint32_t uops_after_call(const struct uops *u, uint32_t func, uint32_t block, uint32_t offset);
/* Where the frame is while this uop (or UOPS_NONE) is the next one; NULL where
 * that is not known. */
const struct uops_frame *uops_frame(const struct uops *u, uint32_t uop);
/* Bytes of memory it holds. */
size_t uops_size(const struct uops *u);

#endif
