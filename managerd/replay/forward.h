/*
 * Register witness: from one sample's registers the instructions that follow
 * are evaluated forward, and every conditional branch that is reached with
 * known flags tells its direction. After DCPI's value sampling (Burrows et
 * al., ASPLOS 2000), over the intermediate form instead of the machine code.
 *
 * Pure. Nothing of the registers outlives the call.
 *
 * What is known is kept bit by bit (known bits, "tnum": Vishwanathan et al.,
 * CGO 2022), flags one by one. Loads give unknown values, but from the copy of
 * the top of the stack that came with the sample, as long as no store through
 * an unknown address may have changed it. It goes on into the witnessed
 * successor, behind calls, with what callees save, and behind the call that led
 * to the function when it returns and the address is known, and behind a branch
 * whose flags are not known where its ways meet again, with what none of them
 * writes: until something is unknown, or a bound. A call is taken to come back
 * unless the table says otherwise.
 */
#ifndef MORPH_MANAGERD_WITNESS_H
#define MORPH_MANAGERD_WITNESS_H

#include "common/uops.h"

enum {
	WITNESS_EDGES = 64,  /* directions of one sample, at most */
	WITNESS_UOPS = 1000, /* instructions evaluated, at most */
	WITNESS_IDLE = 128,  /* … behind the last direction: a loop that tells nothing new */
	WITNESS_BLIND = 32,  /* … a branch that is not known counts like so many */
	WITNESS_STACK = 512  /* bytes of stack looked at, at most */
};

struct witness_place {
	uint32_t func, block; /* as in struct witness_sample */
	uint32_t offset;      /* from the block's first byte in the layout that ran */
};

struct witness_sample {
	uint32_t func;  /* index in the table: uops_find() of the function's key */
	uint32_t block; /* id */
	uint32_t uop;   /* of it, the next instruction's: uops_at() */
	uint64_t gpr[UR_N]; /* enum uop_reg */
	uint64_t flags;     /* RFLAGS */
	const uint8_t *stack; /* copy of memory from gpr[UR_SP] upwards; NULL = none */
	size_t nstack;
	/*
	 * Which byte of the program lies at an address of the sampled process;
	 * false where none of the table's functions does. For indirect jumps and
	 * returns. NULL: these are not followed.
	 */
	bool (*place_at)(void *arg, uint64_t address, struct witness_place *at);
	void *arg;
};

struct witness_edge {
	uint32_t func, from, to; /* index in the table; ids of blocks of it */
	uint32_t out;            /* of the callers: 0 the sample's function, 1 that which
				    called it, … */
};

/*
 * Evaluates one sample; writes the directions in the order of execution to
 * edge[] (room for WITNESS_EDGES) and returns their number. Of conditional and
 * indirect jumps only: other edges have no alternative. Of each branch only the
 * next one: a loop's last turns are seen from more samples than the first ones.
 * *own: the first one is of the sample's own block.
 */
uint32_t witness_run(const struct uops *u, const struct witness_sample *s,
    struct witness_edge edge[WITNESS_EDGES], bool *own);

#endif
