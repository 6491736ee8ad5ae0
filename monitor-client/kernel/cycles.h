/*
 * Instructions and cycles of running processes in user mode, by the CPU's counters: one group of
 * two for each thread, which threads that come later inherit and other processes do not. In a group
 * both count at the same times, so where the kernel has to share the counters out their ratio still
 * holds. The kernel adds what a thread counted that has ended.
 */
#ifndef MORPH_CYCLES_H
#define MORPH_CYCLES_H

#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum { CYCLES_THREADS_MAX = 1024 }; /* of all processes: each has two descriptors */

struct cycles_events { /* as perf_event_open(2) numbers them */
	uint32_t type;
	uint64_t instructions, cycles;
};
extern const struct cycles_events CYCLES_OF_CPU;

struct cycles { /* zero-filled but for the events */
	const struct cycles_events *events;
	VEC(struct cycles_process) process;
	unsigned threads;
	bool refused; /* they cannot be counted, and that was said */
};

struct cycles_gain {
	uint64_t instructions, cycles;
};

struct cycles_process {
	uint32_t pid;
	bool asked;                /* in this round */
	VEC(int) fd;               /* two of a thread */
	struct cycles_gain before; /* as last read */
};

/* A round begins. */
void cycles_begin(struct cycles *c);
/* What a process has counted since it was last asked for, which is 0 the first time. False: it is
 * not counted, or has done nothing. */
bool cycles_process(struct cycles *c, uint32_t pid, struct cycles_gain *out);
/* Ends it: what was not asked for is counted no more. */
void cycles_end(struct cycles *c);
/* Counts nothing any more. */
void cycles_free(struct cycles *c);

#endif
