#include "common/unwind/ehtable.h"
#include "common/le.h"

/* DW_EH_PE_*: the format, what a value is relative to, and a flag. */
enum {
	ABSPTR = 0,
	ULEB128 = 1,
	UDATA2 = 2,
	UDATA4 = 3,
	UDATA8 = 4,
	SLEB128 = 9,
	SDATA2 = 0xa,
	SDATA4 = 0xb,
	SDATA8 = 0xc,
	FORMAT = 0xf,
	PCREL = 0x10,
	RELATIVE = 0x70,
	INDIRECT = 0x80,
	OMIT = 0xff
};
enum { RECORDS_MAX = 1 << 12 };

static unsigned size_of(uint8_t encoding)
{
	switch (encoding & FORMAT) {
	case UDATA2:
	case SDATA2:
		return 2;
	case UDATA4:
	case SDATA4:
		return 4;
	case ABSPTR:
	case UDATA8:
	case SDATA8:
		return 8;
	}
	return 0;
}

int eh_value_read(
    const uint8_t **p, const uint8_t *end, uint8_t encoding, uint64_t addr, uint64_t *v)
{
	unsigned n = size_of(encoding);
	int64_t x;

	if ((encoding & RELATIVE) != 0 && (encoding & RELATIVE) != PCREL)
		return -1;
	switch (encoding & FORMAT) {
	case ULEB128:
		if (uleb_read(p, end, v))
			return -1;
		break;
	case SLEB128:
		if (sleb_read(p, end, &x))
			return -1;
		*v = (uint64_t)x;
		break;
	default:
		if (!n || n > (uint64_t)(end - *p))
			return -1;
		*v = n == 8 ? get_le64(*p) : n == 4 ? get_le32(*p) : get_le16(*p);
		if ((encoding & FORMAT) == SDATA4)
			*v = (uint64_t)(int32_t)*v;
		if ((encoding & FORMAT) == SDATA2)
			*v = (uint64_t)(int16_t)*v;
		*p += n;
	}
	if (*v && (encoding & RELATIVE) == PCREL)
		*v += addr;
	return 0;
}

static int read_site(struct eh_table *t, const uint8_t **p, const uint8_t *end, uint8_t encoding,
    uint64_t func, uint64_t pads)
{
	uint64_t begin, n, pad, last = t->site.n ? t->site.v[t->site.n - 1].end : func;
	struct eh_site s;

	if (eh_value_read(p, end, encoding, 0, &begin) || eh_value_read(p, end, encoding, 0, &n) ||
	    eh_value_read(p, end, encoding, 0, &pad) || uleb_read(p, end, &s.action) ||
	    begin > UINT32_MAX || n > UINT32_MAX || func + begin < last)
		return -1;
	s.begin = func + begin;
	s.end = s.begin + n;
	s.pad = pad ? pads + pad : 0;
	if (n)
		vec_push(&t->site, s);
	return 0;
}

int eh_table_read(
    const uint8_t *p, const uint8_t *end, uint64_t addr, uint64_t func, struct eh_table *t)
{
	const uint8_t *begin = p, *sites;
	uint64_t pads = func, n;
	uint8_t encoding;

	*t = (struct eh_table){.p = p, .end = end, .addr = addr};
	if (p == end)
		return -1;
	encoding = *p++;
	if (encoding != OMIT && (encoding & INDIRECT || eh_value_read(&p, end, encoding,
							    addr + (uint64_t)(p - begin), &pads)))
		return -1;
	t->own_base = encoding != OMIT;
	if (p == end)
		return -1;
	t->encoding = *p++;
	if (t->encoding != OMIT) {
		if (!size_of(t->encoding) || uleb_read(&p, end, &n) || n > (uint64_t)(end - p))
			return -1;
		t->types = (uint64_t)(p - begin) + n;
	}
	if (p == end)
		return -1;
	encoding = *p++;
	if (encoding & (RELATIVE | INDIRECT) || uleb_read(&p, end, &n) || n > (uint64_t)(end - p))
		return -1;
	sites = p + n;
	while (p < sites)
		if (read_site(t, &p, sites, encoding, func, pads))
			return -1;
	t->actions = (uint64_t)(sites - begin);
	return t->types && t->types < t->actions ? -1 : 0;
}

void eh_table_free(struct eh_table *t)
{
	vec_free(&t->site);
}

const struct eh_site *eh_table_at(const struct eh_table *t, uint64_t addr, uint64_t *until)
{
	size_t lo = 0, hi = t->site.n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->site.v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	*until = UINT64_MAX;
	if (lo == t->site.n)
		return NULL;
	*until = t->site.v[lo].begin;
	if (addr < *until)
		return NULL;
	*until = t->site.v[lo].end;
	return &t->site.v[lo];
}

int eh_table_filters(const struct eh_table *t, uint64_t action, eh_filters *out)
{
	const uint8_t *begin = t->p + t->actions, *p;
	int64_t filter, next, at = (int64_t)action - 1;

	out->n = 0;
	if (!action)
		return 0;
	if (action > (uint64_t)(t->end - begin))
		return -1;
	for (;;) {
		p = begin + at;
		if (out->n == RECORDS_MAX || sleb_read(&p, t->end, &filter))
			return -1;
		vec_push(out, filter);
		at = p - begin;
		if (sleb_read(&p, t->end, &next))
			return -1;
		if (!next)
			return 0;
		if (next < -at || next >= t->end - begin - at)
			return -1;
		at += next;
	}
}

int eh_table_type(const struct eh_table *t, int64_t filter, uint64_t *type)
{
	uint64_t size = size_of(t->encoding), at;
	const uint8_t *p;

	if (!t->types || filter <= 0 || (uint64_t)filter > (t->types - t->actions) / size)
		return -1;
	at = t->types - (uint64_t)filter * size;
	p = t->p + at;
	return eh_value_read(&p, t->end, t->encoding, t->addr + at, type);
}

int eh_table_list(const struct eh_table *t, int64_t filter, eh_filters *out)
{
	uint64_t room = (uint64_t)(t->end - t->p) - t->types, v;
	const uint8_t *p;

	out->n = 0;
	if (!t->types || filter >= 0 || (uint64_t) - (filter + 1) >= room)
		return -1;
	p = t->p + t->types - (filter + 1);
	for (;;) {
		if (out->n == RECORDS_MAX || uleb_read(&p, t->end, &v) || v > INT32_MAX)
			return -1;
		if (!v)
			return 0;
		vec_push(out, (int64_t)v);
	}
}

/* ---- two tables ---- */

static bool same_type(const struct eh_table *a, int64_t i, const struct eh_table *b, int64_t k,
    const struct eh_same_type *type)
{
	uint64_t x, y;

	if ((a->encoding ^ b->encoding) & INDIRECT || eh_table_type(a, i, &x) ||
	    eh_table_type(b, k, &y))
		return false;
	return !x || !y ? x == y : type->same(type->arg, x, y);
}

static bool same_list(const struct eh_table *a, const struct eh_table *b, int64_t filter,
    const struct eh_same_type *type)
{
	eh_filters x = {0}, y = {0};
	bool same = !eh_table_list(a, filter, &x) && !eh_table_list(b, filter, &y) && x.n == y.n;
	size_t i;

	for (i = 0; i < x.n && same; i++)
		same = same_type(a, x.v[i], b, y.v[i], type);
	vec_free(&x);
	vec_free(&y);
	return same;
}

/* The landing pad is given the filter that matched. */
static bool same_filter(const struct eh_table *a, const struct eh_table *b, int64_t x, int64_t y,
    const struct eh_same_type *type)
{
	if (x != y)
		return false;
	return !x || (x > 0 ? same_type(a, x, b, x, type) : same_list(a, b, x, type));
}

bool eh_table_same_actions(const struct eh_table *a, uint64_t action_a, const struct eh_table *b,
    uint64_t action_b, const struct eh_same_type *type)
{
	eh_filters x = {0}, y = {0};
	bool same = !action_a == !action_b && !eh_table_filters(a, action_a, &x) &&
		    !eh_table_filters(b, action_b, &y) && x.n == y.n;
	size_t i;

	for (i = 0; i < x.n && same; i++)
		same = same_filter(a, b, x.v[i], y.v[i], type);
	vec_free(&x);
	vec_free(&y);
	return same;
}
