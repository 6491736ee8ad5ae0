/*
 * What came up for each pair of numbers in a batch. Pure. A zero-filled
 * struct is an empty one.
 */
#ifndef MORPH_MANAGERD_PAIRS_H
#define MORPH_MANAGERD_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct pair {
	uint32_t a, b;
	uint32_t n; /* 0 = a free place */
};

struct pairs {
	struct pair *v; /* cap places, a power of two */
	size_t n, cap;
};

/* n > 0 */
void pairs_add(struct pairs *t, uint32_t a, uint32_t b, uint32_t n);
/* Packs the pairs into v[0 … n), by a and b; only pairs_free() may follow. */
void pairs_sort(struct pairs *t);
void pairs_free(struct pairs *t);

#endif
