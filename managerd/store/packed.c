#include "managerd/store/packed.h"
#include "common/sort.h"

#include <string.h>

bool packed_next(struct packed *r)
{
	uint64_t delta;

	if (r->p == r->end || uleb_read(&r->p, r->end, &delta) < 0 ||
	    uleb_read(&r->p, r->end, &r->count) < 0 ||
	    __builtin_add_overflow(r->address, delta, &r->address)) {
		r->p = r->end;
		return false;
	}
	return true;
}

void packing_add(struct packing *w, uint64_t address, uint64_t count)
{
	if (!count)
		return;
	buf_uleb(w->out, address - w->address);
	buf_uleb(w->out, count);
	w->address = address;
	w->n++;
}

/* Reads on in one of them, or takes it away. */
static void advance(struct packed_sum *s, size_t i)
{
	if (!packed_next(&s->v[i]))
		s->v[i] = s->v[--s->n];
}

struct packed_sum packed_sum(struct packed *v, size_t n)
{
	struct packed_sum s = {.v = v, .n = n};
	size_t i;

	for (i = n; i; i--)
		advance(&s, i - 1);
	return s;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

bool packed_sum_next(struct packed_sum *s)
{
	size_t i;

	if (!s->n)
		return false;
	s->address = s->v[0].address;
	for (i = 1; i < s->n; i++)
		if (s->v[i].address < s->address)
			s->address = s->v[i].address;
	s->count = 0;
	for (i = s->n; i; i--)
		while (i <= s->n && s->v[i - 1].address == s->address) {
			s->count = add(s->count, s->v[i - 1].count);
			advance(s, i - 1);
		}
	return true;
}

void packed_thin(const void *p, size_t n, size_t keep, struct buf *out)
{
	struct packed r = {.p = p, .end = (const uint8_t *)p + n};
	struct packing w = {.out = out};
	VEC(uint64_t) count = {0};
	uint64_t least = 0;
	size_t ties = SIZE_MAX, i;

	while (packed_next(&r))
		vec_push(&count, r.count);
	if (count.n > keep) {
		vec_sort(&count, order_u64);
		i = count.n - keep; /* the rarest that stays */
		least = keep ? count.v[i] : UINT64_MAX;
		ties = keep ? partition_point(i, count.n, k, count.v[k] <= least) - i : 0;
	}
	vec_free(&count);
	r = (struct packed){.p = p, .end = (const uint8_t *)p + n};
	while (packed_next(&r))
		if (r.count > least || (r.count == least && ties && ties--))
			packing_add(&w, r.address, r.count);
}
