#include "editor/gainheap.h"

#include <stdbool.h>
#include <string.h>

static bool before(const struct gain *a, const struct gain *b)
{
	return a->gain != b->gain ? a->gain > b->gain : a->id < b->id;
}

static void enlarge(struct gainheap *h, struct arena *a)
{
	struct gain *v;

	h->cap = h->cap ? 2 * h->cap : 64;
	v = arena_array(a, h->cap, sizeof *v);
	if (h->n)
		memcpy(v, h->v, h->n * sizeof *v);
	h->v = v;
}

void gainheap_push(struct gainheap *h, struct gain g, struct arena *a)
{
	size_t i, up;

	if (h->n == h->cap)
		enlarge(h, a);
	for (i = h->n++; i; i = up) {
		up = (i - 1) / 2;
		if (!before(&g, &h->v[up]))
			break;
		h->v[i] = h->v[up];
	}
	h->v[i] = g;
}

struct gain gainheap_pop(struct gainheap *h)
{
	struct gain top = h->v[0], last = h->v[--h->n];
	size_t i = 0, kid;

	for (; (kid = 2 * i + 1) < h->n; i = kid) {
		if (kid + 1 < h->n && before(&h->v[kid + 1], &h->v[kid]))
			kid++;
		if (!before(&h->v[kid], &last))
			break;
		h->v[i] = h->v[kid];
	}
	h->v[i] = last;
	return top;
}
