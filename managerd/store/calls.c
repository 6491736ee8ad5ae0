#include "managerd/store/calls.h"
#include "common/le.h"
#include "common/sort.h"

#include <string.h>

enum { ID_BYTES = 8 };

/* ---- reading ---- */

static bool read_one(const uint8_t **p, const uint8_t *end, struct address_caller *c)
{
	uint64_t site, address, twice;

	if (uleb_read(p, end, &site) < 0 || uleb_read(p, end, &address) < 0 ||
	    uleb_read(p, end, &twice) < 0 || __builtin_add_overflow(c->site, site, &c->site) ||
	    __builtin_add_overflow(site ? 0 : c->address, address, &c->address))
		return false;
	c->count = twice >> 1;
	c->waiting = twice & 1;
	return true;
}

void calls_read(struct calls *c, const void *data, size_t n)
{
	const uint8_t *p = data, *all = p + n, *end;
	struct address_caller one;
	uint64_t bytes;

	while (all - p > ID_BYTES) {
		one = (struct address_caller){.file = get_le64(p)};
		p += ID_BYTES;
		if (uleb_count(&p, all, 1, &bytes) < 0)
			return;
		for (end = p + bytes; p < end;) {
			if (!read_one(&p, end, &one))
				return;
			vec_push(&c->v, one);
		}
	}
}

/* ---- adding up ---- */

static int call_compare(const void *pa, const void *pb)
{
	const struct address_caller *a = pa, *b = pb;

	return ORDER(a->file, b->file) ?: ORDER(a->site, b->site) ?: ORDER(a->address, b->address)
	    ?: ORDER(a->waiting, b->waiting);
}

void calls_sum(struct calls *c)
{
	struct address_caller *v = c->v.v;
	size_t i, n = 0;

	vec_sort(&c->v, call_compare);
	for (i = 0; i < c->v.n; i++) {
		if (!n || call_compare(&v[n - 1], &v[i]))
			v[n++] = v[i];
		else if (__builtin_add_overflow(v[n - 1].count, v[i].count, &v[n - 1].count) ||
			 v[n - 1].count > INT64_MAX)
			v[n - 1].count = INT64_MAX;
	}
	c->v.n = n;
}

void calls_thin(struct calls *c, size_t keep)
{
	VEC(uint64_t) count = {0};
	uint64_t least;
	size_t i, n = 0, ties;

	if (c->v.n <= keep)
		return;
	for (i = 0; i < c->v.n; i++)
		vec_push(&count, c->v.v[i].count);
	vec_sort(&count, order_u64);
	i = count.n - keep; /* the rarest that stays */
	least = keep ? count.v[i] : UINT64_MAX;
	ties = keep ? partition_point(i, count.n, k, count.v[k] <= least) - i : 0;
	vec_free(&count);
	for (i = 0; i < c->v.n; i++)
		if (c->v.v[i].count > least || (c->v.v[i].count == least && ties && ties--))
			c->v.v[n++] = c->v.v[i];
	c->v.n = n;
}

/* ---- writing ---- */

void calls_write(const struct calls *c, struct buf *out)
{
	const struct address_caller *v = c->v.v;
	struct buf part = {0};
	size_t i, k;

	for (i = 0; i < c->v.n; i = k) {
		part.n = 0;
		for (k = i; k < c->v.n && v[k].file == v[i].file; k++) {
			bool same = k > i && v[k].site == v[k - 1].site;

			buf_uleb(&part, v[k].site - (k > i ? v[k - 1].site : 0));
			buf_uleb(&part, v[k].address - (same ? v[k - 1].address : 0));
			buf_uleb(&part, v[k].count << 1 | v[k].waiting);
		}
		buf_le64(out, v[i].file);
		buf_uleb(out, part.n);
		buf_add(out, part.p, part.n);
	}
	buf_free(&part);
}

void calls_free(struct calls *c)
{
	vec_free(&c->v);
}
