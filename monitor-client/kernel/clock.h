/*
 * Times in nanoseconds.
 */
#ifndef MORPH_CLOCK_H
#define MORPH_CLOCK_H

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

#endif
