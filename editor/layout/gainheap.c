#include "editor/layout/gainheap.h"

#include <stdbool.h>

enum { KIDS = 4 };

static bool before(const struct gain *a, const struct gain *b)
{
	return a->gain != b->gain ? a->gain > b->gain : a->id < b->id;
}

static void put(struct gainheap *h, uint32_t i, struct gain g)
{
	h->v[i] = g;
	h->at[g.id] = i + 1;
}

/* The index for g, from the free index i on: towards the top, … */
static uint32_t rise(struct gainheap *h, uint32_t i, const struct gain *g)
{
	uint32_t up;

	for (; i; i = up) {
		up = (i - 1) / KIDS;
		if (!before(g, &h->v[up]))
			break;
		put(h, i, h->v[up]);
	}
	return i;
}

/* … or away from it. */
static uint32_t sink(struct gainheap *h, uint32_t i, const struct gain *g)
{
	uint32_t kid, best, end;

	for (; (kid = KIDS * i + 1) < h->n; i = best) {
		end = kid + KIDS < h->n ? kid + KIDS : h->n;
		for (best = kid++; kid < end; kid++)
			best = before(&h->v[kid], &h->v[best]) ? kid : best;
		if (!before(&h->v[best], g))
			break;
		put(h, i, h->v[best]);
	}
	return i;
}

static void settle(struct gainheap *h, uint32_t i, struct gain g)
{
	uint32_t at = rise(h, i, &g);

	put(h, at == i ? sink(h, i, &g) : at, g);
}

void gainheap_begin(struct gainheap *h, uint32_t n, struct arena *a)
{
	h->v = arena_array(a, n, sizeof *h->v);
	h->at = arena_array(a, n, sizeof *h->at);
	h->n = 0;
}

void gainheap_set(struct gainheap *h, uint32_t id, double gain)
{
	uint32_t i = h->at[id] ? h->at[id] - 1 : h->n++;

	settle(h, i, (struct gain){gain, id});
}

void gainheap_drop(struct gainheap *h, uint32_t id)
{
	uint32_t at = h->at[id];
	struct gain last;

	if (!at)
		return;
	h->at[id] = 0;
	last = h->v[--h->n];
	if (at - 1 < h->n)
		settle(h, at - 1, last);
}
