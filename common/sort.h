/* Comparing, sorting, searching. */
#ifndef MORPH_SORT_H
#define MORPH_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* -1, 0 or 1; of several keys: ORDER(a->x, b->x) ?: ORDER(a->y, b->y). */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* For qsort() and bsearch() of numbers. */
static inline int order_u32(const void *a, const void *b)
{
	return ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

static inline int order_u64(const void *a, const void *b)
{
	return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Of a VEC (common/mem.h). */
#define vec_sort(V, compare) \
	do { \
		if ((V)->n) \
			qsort((V)->v, (V)->n, sizeof *(V)->v, compare); \
	} while (0)

/* The first number i from lo on for which `before`, an expression in i, is false, or hi: it holds
 * up to some number and not from there on. */
#define partition_point(lo, hi, i, before) \
	({ \
		size_t lo_ = (lo), hi_ = (hi), i; \
		while (lo_ < hi_) { \
			i = lo_ + (hi_ - lo_) / 2; \
			if (before) \
				lo_ = i + 1; \
			else \
				hi_ = i; \
		} \
		lo_; \
	})

/* Is x one of v[n], ascending? */
static inline bool sorted_has(const uint64_t *v, size_t n, uint64_t x)
{
	size_t k = partition_point(0, n, i, v[i] < x);

	return k < n && v[k] == x;
}

#endif
