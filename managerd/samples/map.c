/*
 * Encoded table: "MTB1", then ULEB128: functions; of each: 16 bytes of key,
 * tu, ord, nblock, and three strings (length, bytes): name, name of the TU,
 * opaque ("" = understood).
 */
#include "managerd/samples/map.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SLOTS = 1u << 31 };

static const char magic[4] = "MTB1";

void map_table_add(struct map_table *t, const struct map_func *f)
{
	struct map_func g = *f;

	g.name = arena_strdup(&t->mem, f->name);
	g.tu_name = arena_strdup(&t->mem, f->tu_name);
	g.opaque = f->opaque ? arena_strdup(&t->mem, f->opaque) : NULL;
	vec_push(&t->func, g);
}

static int by_place(const void *a, const void *b)
{
	const struct map_func *x = a, *y = b;

	if (x->tu != y->tu)
		return x->tu < y->tu ? -1 : 1;
	return x->ord < y->ord ? -1 : x->ord > y->ord;
}

static bool too_long(const char *s)
{
	return s && strnlen(s, MAP_NAME_MAX + 1) > MAP_NAME_MAX;
}

int map_table_end(struct map_table *t, struct err *e)
{
	const struct map_func *f = t->func.v;
	uint64_t slot = 0;
	size_t i, n = 0;

	for (i = 0; i < t->func.n; i++)
		if (too_long(f[i].name) || too_long(f[i].tu_name) || too_long(f[i].opaque))
			return err_set(
			    e, "function table: a name of more than %d bytes", MAP_NAME_MAX);
	if (t->func.n)
		qsort(t->func.v, t->func.n, sizeof *t->func.v, by_place);
	for (i = 0; i < t->func.n; i++) {
		/* The same text linked twice has the same functions twice. */
		if (n && by_place(&t->func.v[n - 1], &t->func.v[i]) == 0)
			continue;
		t->func.v[n] = t->func.v[i];
		t->func.v[n].slot = (uint32_t)slot;
		slot += t->func.v[n++].nblock;
		if (slot >= MAX_SLOTS)
			return err_set(e, "function table: more than %u blocks", MAX_SLOTS);
	}
	t->func.n = n;
	t->nslot = (uint32_t)slot;
	return 0;
}

static void put_string(struct buf *out, const char *s)
{
	buf_uleb(out, strlen(s));
	buf_str(out, s);
}

void map_table_encode(const struct map_table *t, struct buf *out)
{
	const struct map_func *f;
	size_t i;

	buf_add(out, magic, sizeof magic);
	buf_uleb(out, t->func.n);
	for (i = 0; i < t->func.n; i++) {
		f = &t->func.v[i];
		buf_add(out, f->key.b, sizeof f->key.b);
		buf_uleb(out, f->tu);
		buf_uleb(out, f->ord);
		buf_uleb(out, f->nblock);
		put_string(out, f->name);
		put_string(out, f->tu_name);
		put_string(out, f->opaque ? f->opaque : "");
	}
}

static int get_string(struct arena *a, const uint8_t **p, const uint8_t *end, const char **s)
{
	uint64_t n;

	if (uleb_read(p, end, &n) || n > (uint64_t)(end - *p) || memchr(*p, 0, n))
		return -1;
	*s = arena_strndup(a, (const char *)*p, n);
	*p += n;
	return 0;
}

static int get_func(struct map_table *t, const uint8_t **p, const uint8_t *end)
{
	struct map_func f = {0};
	uint64_t ord, nblock;

	if ((size_t)(end - *p) < sizeof f.key.b)
		return -1;
	memcpy(f.key.b, *p, sizeof f.key.b);
	*p += sizeof f.key.b;
	if (uleb_read(p, end, &f.tu) || uleb_read(p, end, &ord) || uleb_read(p, end, &nblock) ||
	    ord > UINT32_MAX || nblock >= MAX_SLOTS || get_string(&t->mem, p, end, &f.name) ||
	    get_string(&t->mem, p, end, &f.tu_name) || get_string(&t->mem, p, end, &f.opaque))
		return -1;
	f.ord = (uint32_t)ord;
	f.nblock = (uint32_t)nblock;
	if (!*f.opaque)
		f.opaque = NULL;
	vec_push(&t->func, f);
	return 0;
}

int map_table_decode(const void *blob, size_t n, struct map_table *t, struct err *e)
{
	const uint8_t *p = blob, *end;
	uint64_t i, count;

	*t = (struct map_table){0};
	if (n < sizeof magic || memcmp(p, magic, sizeof magic))
		return err_set(e, "function table: not one");
	end = p + n;
	p += sizeof magic;
	if (uleb_read(&p, end, &count))
		goto garbled;
	for (i = 0; i < count; i++)
		if (get_func(t, &p, end))
			goto garbled;
	if (p != end)
		goto garbled;
	if (map_table_end(t, e) == 0)
		return 0;
	map_table_free(t);
	return -1;
garbled:
	map_table_free(t);
	return err_set(
	    e, "function table: garbled at byte %zu", (size_t)(p - (const uint8_t *)blob));
}

void map_table_free(struct map_table *t)
{
	vec_free(&t->func);
	arena_free(&t->mem);
	t->nslot = 0;
}

static const struct map_func *find_func(const struct map_table *t, uint64_t tu, uint32_t ord)
{
	struct map_func want = {.tu = tu, .ord = ord};

	return t->func.n ? bsearch(&want, t->func.v, t->func.n, sizeof want, by_place) : NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct map_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Those of one segment come in their order, and sorting takes a copy of them all. */
static void sort_ranges(struct map *m)
{
	size_t i;

	for (i = 1; i < m->range.n; i++)
		if (m->range.v[i].start < m->range.v[i - 1].start) {
			qsort(m->range.v, m->range.n, sizeof *m->range.v, by_start);
			return;
		}
}

int map_make(const struct blockmap *b, const struct map_table *t, struct map *m, struct err *e)
{
	const struct map_func *f = NULL;
	const struct bm_block *k;
	uint64_t off;
	size_t i, last = SIZE_MAX;

	*m = (struct map){0};
	for (i = 0; i < b->block.n; i++) {
		k = &b->block.v[i];
		if (k->frag != last)
			f = find_func(t, b->frag.v[k->frag].tu, b->frag.v[k->frag].func);
		last = k->frag;
		if (!f || k->id >= f->nblock) {
			m->unknown++;
			continue;
		}
		if (!k->size)
			continue;
		if (!blockmap_offset(b, k->addr, k->size, &off)) {
			map_free(m);
			return err_set(e, "block map: block %u at 0x%llx lies in no segment", k->id,
			    (unsigned long long)k->addr);
		}
		if (off + k->size > UINT32_MAX) {
			map_free(m);
			return err_set(e,
			    "block map: block %u at 0x%llx lies beyond 4 GiB of the"
			    " file",
			    k->id, (unsigned long long)k->addr);
		}
		vec_push(&m->range,
		    (struct map_range){(uint32_t)off, (uint32_t)off + k->size, f->slot + k->id});
	}
	if (m->range.n) { /* they stay for long: what growing left over goes */
		m->range.v = xrealloc(m->range.v, m->range.n, sizeof *m->range.v);
		m->range.cap = m->range.n;
	}
	sort_ranges(m);
	for (i = 1; i < m->range.n; i++)
		if (m->range.v[i].start < m->range.v[i - 1].end) {
			off = m->range.v[i].start;
			map_free(m);
			return err_set(e, "block map: blocks overlap at file offset 0x%llx",
			    (unsigned long long)off);
		}
	map_index(m);
	return 0;
}

/* A piece for each range, at most. */
void map_index(struct map *m)
{
	const struct map_range *r = m->range.v;
	size_t i, k, n = m->range.n;
	uint64_t last;

	m->first.n = 0;
	if (!n)
		return;
	last = r[n - 1].end - 1 - r[0].start;
	for (m->shift = 0; last >> m->shift >= n; m->shift++)
		;
	for (i = k = 0; k <= last >> m->shift; k++) {
		while (r[i].end - r[0].start <= (uint64_t)k << m->shift)
			i++;
		vec_push(&m->first, (uint32_t)i);
	}
	vec_push(&m->first, (uint32_t)n - 1);
	m->first.v = xrealloc(m->first.v, m->first.n, sizeof *m->first.v);
	m->first.cap = m->first.n;
}

void map_free(struct map *m)
{
	vec_free(&m->range);
	vec_free(&m->first);
}

/* The first range at or after i that ends after offset: a few steps for
 * near ones, doubling for far ones. */
static size_t advance(const struct map_range *r, size_t i, size_t n, uint64_t offset)
{
	size_t step = 1, lo = i, mid;

	if (i < n && r[i].end > offset)
		return i;
	while (i < n && r[i].end <= offset) {
		lo = i + 1;
		i += step;
		step *= 2;
	}
	if (i > n)
		i = n;
	while (lo < i) {
		mid = lo + (i - lo) / 2;
		if (r[mid].end <= offset)
			lo = mid + 1;
		else
			i = mid;
	}
	return lo;
}

uint64_t map_samples(
    const struct map *m, const struct wire_sample *s, size_t n, struct map_hits *hits)
{
	const struct map_range *r = m->range.v;
	size_t i, at = 0, last = m->range.n;
	uint64_t outside = 0;

	for (i = 0; i < n; i++) {
		at = advance(r, at, m->range.n, s[i].offset);
		if (at == m->range.n || s[i].offset < r[at].start) {
			outside += s[i].count;
			continue;
		}
		if (at != last)
			vec_push(&hits->v, (struct map_hit){r[at].slot, 0});
		hits->v.v[hits->v.n - 1].samples += s[i].count;
		last = at;
	}
	return outside;
}

const struct map_range *map_at(const struct map *m, uint64_t offset)
{
	const struct map_range *r = m->range.v;
	size_t lo, hi, mid, piece;

	if (!m->range.n || offset < r->start || offset >= r[m->range.n - 1].end)
		return NULL;
	piece = (offset - r->start) >> m->shift;
	lo = m->first.v[piece];
	hi = m->first.v[piece + 1];
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (r[mid].end <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return r[lo].start <= offset ? &r[lo] : NULL;
}

const struct map_func *map_slot(const struct map_table *t, uint32_t slot, uint32_t *block)
{
	size_t lo = 0, hi = t->func.n, mid;

	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (t->func.v[mid].slot <= slot)
			lo = mid;
		else
			hi = mid;
	}
	*block = slot - t->func.v[lo].slot;
	return &t->func.v[lo];
}

size_t map_size(const struct map *m, const struct map_table *t)
{
	/* The strings of a function take about 64 bytes. */
	return m->range.cap * sizeof *m->range.v + m->first.cap * sizeof *m->first.v +
	       t->func.cap * (sizeof *t->func.v + 64);
}
