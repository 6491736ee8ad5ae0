/*
 * A heap of possible merges, the largest gain first, equal gains by the lower id, so that greedy
 * merging is deterministic. An id is in it once, and its gain may change.
 */
#ifndef MORPH_GAINHEAP_H
#define MORPH_GAINHEAP_H

#include "common/mem.h"

#include <stdint.h>

struct gain {
	double gain;
	uint32_t id;
};

struct gainheap {
	struct gain *v; /* v[0] is the first */
	uint32_t n;
	uint32_t *at; /* per id: its index in v + 1; 0 = it is not in the heap */
};

/* Empty, for ids below n; memory comes from the arena. */
void gainheap_begin(struct gainheap *h, uint32_t n, struct arena *a);
/* Puts id into the heap, or changes its gain. */
void gainheap_set(struct gainheap *h, uint32_t id, double gain);
/* Takes id out, if it is in. */
void gainheap_drop(struct gainheap *h, uint32_t id);

#endif
