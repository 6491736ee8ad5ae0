/*
 * Forward register replay: from one sample's registers the instructions that
 * follow are evaluated, and every conditional branch that is reached with known
 * flags has a resolved outcome. After DCPI's value sampling (Burrows et al.,
 * ASPLOS 2000), over the intermediate form instead of the machine code.
 *
 * Pure. Nothing of the registers outlives the call.
 *
 * Values are tracked bit by bit (known bits, "tnum": Vishwanathan et al., CGO
 * 2022), flags one by one. Loads give unknown values, except from the copy of the
 * top of the stack that came with the sample, until a store through an unknown
 * address may have changed it. Replay continues in the resolved successor; after
 * a call, with the callee-saved registers; after a return, at the call site, if
 * the return address is known; and after an unresolved branch, at the block where
 * its successors join, with what none of them writes. It ends at anything else
 * that is unknown, or at a bound. A call is assumed to return unless the table
 * says otherwise.
 */
#ifndef MORPH_MANAGERD_REPLAY_H
#define MORPH_MANAGERD_REPLAY_H

#include "common/uops.h"

enum {
	REPLAY_OUTCOMES = 64, /* of one sample, at most */
	REPLAY_UOPS = 1000,   /* instructions evaluated, at most */
	REPLAY_IDLE = 128,    /* … after the last new outcome: a loop that adds nothing */
	REPLAY_BLIND = 32,    /* … that an unresolved branch costs */
	REPLAY_STACK = 512    /* bytes of stack used, at most */
};

struct replay_place {
	uint32_t func, block; /* as in struct replay_sample */
	uint32_t offset;      /* from the block's first byte in the layout that ran */
};

struct replay_sample {
	uint32_t func;        /* index in the table: uops_find() of the function's key */
	uint32_t block;       /* id */
	uint32_t uop;         /* of it, the next instruction's: uops_at() */
	uint64_t gpr[UR_N];   /* enum uop_reg */
	uint64_t flags;       /* RFLAGS */
	const uint8_t *stack; /* copy of memory from gpr[UR_SP] upwards; NULL = none */
	size_t nstack;
	/*
	 * Which byte of the program lies at an address of the sampled process;
	 * false where none of the table's functions does. For indirect jumps and
	 * returns. NULL: these are not followed.
	 */
	bool (*place_at)(void *arg, uint64_t address, struct replay_place *at);
	void *arg;
};

struct replay_outcome {
	uint32_t func, from, to; /* index in the table; ids of blocks of it */
	uint32_t out;            /* of the callers: 0 the sample's function, 1 that which
				    called it, … */
};

/*
 * Replays one sample; writes the resolved outcomes in the order of execution to
 * edge[] (room for REPLAY_OUTCOMES) and returns their number. Only conditional and
 * indirect jumps have outcomes. Of each branch only the first is returned: a loop's
 * last iterations are reached from more samples than its first ones.
 * *own: edge[0] is of the sample's own block.
 */
uint32_t replay_forward(const struct uops *u, const struct replay_sample *s,
    struct replay_outcome edge[REPLAY_OUTCOMES], bool *own);

#endif
