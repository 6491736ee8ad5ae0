/*
 * The machine that a sample's instructions are evaluated on: general registers
 * and flags of which bits are known, and the top of the stack. What they do is
 * described by micro-operations (common/uops.h); where they lead is not its matter
 * (managerd/replay/forward.c).
 */
#ifndef MORPH_MANAGERD_REPLAY_MACHINE_H
#define MORPH_MANAGERD_REPLAY_MACHINE_H

#include "managerd/replay/memory.h"

/* The flags of an operation with these operands. */
typedef struct tnum flags_of(struct tnum a, struct tnum b, unsigned size, struct tnum *f);

struct machine {
	/* Of registers bits known to be 1 and bits not known: separate, since a pair that
	 * is written in halves and read as a whole waits for the writes. */
	uint64_t v[UR_N], m[UR_N];
	struct tnum flags;
	struct { /* the last operation, whose flags nobody has asked for yet */
		struct tnum a, b;
		flags_of *of; /* NULL: there is none */
		unsigned size;
	} last;
	const struct uops *u;
	const struct uops_func *f; /* whose jump tables are looked up */
	uint32_t code_block;       /* code_reg holds the address of this block of f */
	uint8_t code_reg;          /* UR_N: none does */
	struct memory mem;
};

/* All registers and flags become known. The stack is borrowed. */
void machine_begin(struct machine *m, const struct uops *u, const uint64_t gpr[UR_N],
    uint64_t flags, const uint8_t *stack, size_t nstack);
/* Evaluates from o on, up to n: till a call, the end of a block, or what is not
 * understood. Returns how many. */
uint32_t machine_run(struct machine *m, const struct uop *o, uint32_t n);
static inline struct tnum machine_reg(const struct machine *m, unsigned r)
{
	return (struct tnum){m->v[r], m->m[r]};
}
/* As they are now. They may be changed there. */
struct tnum *machine_flags(struct machine *m);
/* Takes 1 << size bytes from the stack. */
struct tnum machine_pop(struct machine *m, unsigned size);
/* Registers, by bit, and the flags become unknown. */
void machine_forget(struct machine *m, unsigned set);
/* Zeroes what it held of the sample. */
void machine_wipe(struct machine *m);

#endif
