/*
 * Times in nanoseconds.
 */
#ifndef MORPH_CLOCK_H
#define MORPH_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define SECOND 1000000000ULL

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* The clock of events and deadlines. */
static inline uint64_t clock_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of all threads of a process, those that ended too; anybody may ask. false: it is gone.
 * The number of its clock is clock_getcpuclockid(3)'s. */
static inline bool clock_of_process(uint32_t pid, uint64_t *ns)
{
	struct timespec t;

	if (clock_gettime((clockid_t)(~pid << 3 | 2), &t))
		return false;
	*ns = (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
	return true;
}

#endif
