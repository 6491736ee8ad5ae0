/*
 * Numbers that look random and are the same every time: splitmix64 (Steele,
 * Lea, Flood 2014). Any state will do as a seed.
 */
#ifndef MORPH_RANDOM_H
#define MORPH_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* 0 < u < 1 */
static inline double random_uniform(uint64_t *state)
{
	return ((double)(random_next(state) >> 11) + 0.5) * 0x1p-53;
}

/* What a count of this mean comes to, independent of others. */
uint64_t random_poisson(uint64_t *state, double mean);

#endif
