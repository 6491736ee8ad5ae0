/*
 * A heap of possible merges, the largest gain first, equal gains by the lower
 * id: the order of a greedy merging is the same everywhere. Entries are not
 * removed when they become void: their stamp tells.
 */
#ifndef MORPH_GAINHEAP_H
#define MORPH_GAINHEAP_H

#include "common/mem.h"

#include <stddef.h>
#include <stdint.h>

struct gain {
	double gain;
	uint32_t id, stamp;
};

struct gainheap { /* zero-filled = empty; memory comes from the arena */
	struct gain *v;
	size_t n, cap;
};

void gainheap_push(struct gainheap *h, struct gain g, struct arena *a);
/* h->n must be > 0. */
struct gain gainheap_pop(struct gainheap *h);

#endif
