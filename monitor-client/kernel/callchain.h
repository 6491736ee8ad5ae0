/*
 * Where a tick interrupted the kernel. The tracepoint's registers are those of the tick's own
 * handler; the kernel's call chain from there goes through the interrupt's entry to the instruction
 * that was interrupted, which the unwinder takes from the saved registers, exactly. A tick that
 * interrupted user mode has nothing after the entry, so the last address of its chain is what the
 * entry is known by; what comes after that address in another chain was interrupted. The kernel may
 * reach the entry on several ways: what comes before it does not matter.
 *
 * Learned in each run, by majority, since of some ticks in the kernel the program's registers
 * look like user mode (page faults). Pure.
 */
#ifndef MORPH_CALLCHAIN_H
#define MORPH_CALLCHAIN_H

#include <stddef.h>
#include <stdint.h>

/* Addresses of a chain: the way to the entry has three on Linux 6.18. */
enum { CALLCHAIN_MAX = 8 };

struct callchain {
	uint64_t entry; /* that most chains ended with */
	uint32_t votes; /* by so many more than did not */
};

/* The chain of a tick in user mode, innermost first, as perf gives it. */
void callchain_user(struct callchain *c, const uint64_t *chain, size_t n);
/* The address in the kernel that a tick interrupted; 0: it is not known. */
uint64_t callchain_kernel(const struct callchain *c, const uint64_t *chain, size_t n);

#endif
