/*
 * The top of a sampled program's stack while what followed is evaluated: as it
 * was copied, until stores change it, byte by byte known or not. Other memory
 * is never known. Used by the evaluator alone (managerd/replay/machine.h).
 */
#ifndef MORPH_MANAGERD_REPLAY_MEMORY_H
#define MORPH_MANAGERD_REPLAY_MEMORY_H

#include "managerd/replay/value.h"

#include <stddef.h>

enum {
	MEMORY_BELOW =
	    128, /* bytes below the stack pointer that are followed, too: pushes, red zone */
	MEMORY_STACK = 512, /* bytes from it upwards */
	MEMORY_LINE = 64,
	MEMORY_LINES = (MEMORY_BELOW + MEMORY_STACK) / MEMORY_LINE
};

struct memory {
	const uint8_t *stack; /* n bytes, borrowed: in force where a line is not own */
	size_t n;
	uint64_t low;     /* address of byte[0] */
	uint32_t own;     /* by bit: lines of which byte and known are in force */
	uint32_t touched; /* … and may hold anything of the sample's */
	uint8_t byte[MEMORY_LINES * MEMORY_LINE];
	uint64_t known[MEMORY_LINES];
};

/* Of n bytes (NULL = none) from address sp on. */
void memory_begin(struct memory *m, const uint8_t *stack, size_t n, uint64_t sp);
struct tnum memory_load(struct memory *m, uint64_t address, unsigned size);
void memory_store(struct memory *m, uint64_t address, unsigned size, struct tnum v);
/* n bytes become unknown. */
void memory_lose(struct memory *m, uint64_t address, unsigned n);
/* All of it does. */
void memory_forget(struct memory *m);
/* Zeroes what was copied. */
void memory_wipe(struct memory *m);

#endif
