#include "managerd/samples/pairs.h"
#include "common/mem.h"

#include <stdlib.h>

enum { LEAST = 1024 };

static struct pair *place(const struct pairs *t, uint32_t a, uint32_t b)
{
	uint64_t h = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 32) & (t->cap - 1);

	while (t->v[i].n && (t->v[i].a != a || t->v[i].b != b))
		i = (i + 1) & (t->cap - 1);
	return &t->v[i];
}

static void grow(struct pairs *t)
{
	struct pairs old = *t;
	size_t i;

	t->cap = old.cap ? 2 * old.cap : LEAST;
	t->v = xcalloc(t->cap, sizeof *t->v);
	for (i = 0; i < old.cap; i++)
		if (old.v[i].n)
			*place(t, old.v[i].a, old.v[i].b) = old.v[i];
	free(old.v);
}

void pairs_add(struct pairs *t, uint32_t a, uint32_t b, uint32_t n)
{
	struct pair *p;

	if (t->n >= t->cap / 2)
		grow(t);
	p = place(t, a, b);
	t->n += !p->n;
	p->a = a;
	p->b = b;
	p->n += n;
}

static int by_pair(const void *pa, const void *pb)
{
	const struct pair *x = pa, *y = pb;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

void pairs_sort(struct pairs *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->cap; i++)
		if (t->v[i].n)
			t->v[n++] = t->v[i];
	if (n)
		qsort(t->v, n, sizeof *t->v, by_pair);
}

void pairs_free(struct pairs *t)
{
	free(t->v);
	*t = (struct pairs){0};
}
