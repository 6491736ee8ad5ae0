/* Addresses of a file that is linked to fixed ones, wherever they are in its bytes. */
#ifndef MORPH_ADDRESSES_H
#define MORPH_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

struct addresses {
	uint64_t begin, end; /* they are in [begin, end), below 4 GiB */
	uint64_t *bit;       /* for each there */
};

/* Of v[n], at least one, in any order. -1: some do not fit into four bytes. Free in both cases. */
int addresses_make(struct addresses *a, const uint64_t *v, size_t n);
void addresses_free(struct addresses *a);

/* The first offset in p[n], at `from` or behind it, at which four bytes are one of them, *found; n:
 * there is none. */
size_t addresses_next(
    const struct addresses *a, const uint8_t *p, size_t n, size_t from, uint64_t *found);

#endif
