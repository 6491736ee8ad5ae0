/* What measuring programs share: CPU time, and inputs that are the same every time. */
#ifndef MORPH_BENCH_H
#define MORPH_BENCH_H

#include "common/random.h"

#include <time.h>

static inline uint64_t rnd(void)
{
	static uint64_t state;

	return random_next(&state);
}

/* CPU time of this process, s. */
static inline double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#endif
