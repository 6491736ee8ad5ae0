/*
 * Counts by address, as the store keeps them: for each, ascending, uleb: address less the one
 * before, uleb: count; the first address is less 0. Pure. A reader stops where bytes are not of
 * this form.
 */
#ifndef MORPH_MANAGERD_PACKED_H
#define MORPH_MANAGERD_PACKED_H

#include "common/mem.h"

#include <stdbool.h>

struct packed { /* being read: the bytes not read yet, and what was read last */
	const uint8_t *p, *end;
	uint64_t address, count;
};

bool packed_next(struct packed *r);

struct packing { /* being written */
	struct buf *out;
	uint64_t address; /* the last one */
	size_t n;         /* addresses */
};

/* Addresses come in ascending order; one with a count of 0 is left out. */
void packing_add(struct packing *w, uint64_t address, uint64_t count);

/* Several that are read together, as the sum of them. */
struct packed_sum {
	struct packed *v; /* those at the end are gone */
	size_t n;
	uint64_t address, count;
};
/* v: n of them of which nothing was read yet, which stay the caller's and are reordered. */
struct packed_sum packed_sum(struct packed *v, size_t n);
bool packed_sum_next(struct packed_sum *s);

/* Appends at most keep addresses: the rarest are left out, of equally rare ones the highest. */
void packed_thin(const void *p, size_t n, size_t keep, struct buf *out);

#endif
