/*
 * A raw counts file is a head of 128 bytes, the section .morph.counted, zeros up
 * to a multiple of 4096 bytes, and the section .morph.counters.
 *
 *	0    8  "MorphCT1"
 *	8    8  bytes of .morph.counted, a multiple of 8
 *	16   8  bytes of .morph.counters, a multiple of 8
 *	24   8  address of the second less that of the first
 *	32   8  process id
 *	40  33  build-id of the counting build: length, bytes
 *	73  33  build-id of the original
 *	106 22  0
 *
 * .morph.counted holds records, each filled up with zeros to a multiple of 8
 * bytes; those without counters count nothing.
 *
 *	0    8  short hash of the TU
 *	8    4  ordinal of the function
 *	12   4  form of the graph
 *	16   4  n: counters
 *	20   4  place of the first counter less that of these four bytes
 *	24  4n  what each counts
 */
#include "editor-driver/profile/rawcounts.h"
#include "common/le.h"

enum { HEAD = 128, PAGE = 4096, ID_AT = 40, ORIGIN_AT = 73, RECORD = 24, REL_AT = 20, ID_MAX = 32 };

static int read_id(const uint8_t *p, struct build_id *id)
{
	if (!*p || *p > ID_MAX)
		return -1;
	id->n = *p;
	memcpy(id->b, p + 1, *p);
	return 0;
}

struct sections {
	const uint8_t *counted, *counters;
	uint64_t ncounted, ncounters, distance;
};

/* The counters of the record at p: their offset is in bytes of file and memory. */
static const uint8_t *counters_of(const struct sections *s, const uint8_t *p, uint32_t n)
{
	uint64_t at = (uint64_t)(p - s->counted) + REL_AT +
		      (uint64_t)(int64_t)(int32_t)get_le32(p + REL_AT) - s->distance;

	if (at % 8 || at > s->ncounters || (s->ncounters - at) / 8 < n)
		return NULL;
	return s->counters + at;
}

static int read_record(
    const struct sections *s, const uint8_t *p, uint32_t n, struct rawcounts *out, struct err *e)
{
	const uint8_t *from = counters_of(s, p, n);
	struct raw_func f = {.tu = get_le64(p),
	    .func = get_le32(p + 8),
	    .probes = {.form = get_le32(p + 12), .n = n}};
	uint64_t *value;
	uint32_t i;

	if (!from || f.probes.form > PROBES_EDGES)
		return err_set(e, "the record at %zu is damaged", (size_t)(p - s->counted) + HEAD);
	f.probes.site = arena_array(&out->mem, n, sizeof *f.probes.site);
	f.value = value = arena_array(&out->mem, n, sizeof *value);
	for (i = 0; i < n; i++) {
		f.probes.site[i] = get_le32(p + RECORD + 4 * (size_t)i);
		value[i] = get_le64(from + 8 * (size_t)i);
	}
	vec_push(&out->func, f);
	return 0;
}

static int read_records(const struct sections *s, struct rawcounts *out, struct err *e)
{
	const uint8_t *p = s->counted, *end = p + s->ncounted;
	uint64_t size;
	uint32_t n;

	for (; end - p >= RECORD; p += size) {
		n = get_le32(p + 16);
		size = RECORD + ((uint64_t)n + 1) / 2 * 8;
		if (size > (uint64_t)(end - p))
			return err_set(
			    e, "the record at %zu is cut off", (size_t)(p - s->counted) + HEAD);
		if (n && read_record(s, p, n, out, e))
			return -1;
	}
	return p == end ? 0 : err_set(e, "%zu bytes after its records", (size_t)(end - p));
}

static int read_all(const uint8_t *p, size_t n, struct rawcounts *out, struct err *e)
{
	struct sections s;
	uint64_t at;

	if (n < HEAD || memcmp(p, "MorphCT1", 8))
		return err_set(e, "no counts of a counting build");
	s = (struct sections){.counted = p + HEAD,
	    .ncounted = get_le64(p + 8),
	    .ncounters = get_le64(p + 16),
	    .distance = get_le64(p + 24)};
	at = (s.ncounted + HEAD + PAGE - 1) / PAGE * PAGE;
	if (s.ncounted > n || at > n || s.ncounters != n - at || (s.ncounted | s.ncounters) % 8)
		return err_set(e, "its size is not what its head says");
	s.counters = p + at;
	out->pid = get_le64(p + 32);
	if (read_id(p + ID_AT, &out->id) || read_id(p + ORIGIN_AT, &out->origin))
		return err_set(e, "it names no build");
	return read_records(&s, out, e);
}

int rawcounts_parse(const void *p, size_t n, const char *name, struct rawcounts *out, struct err *e)
{
	*out = (struct rawcounts){.pid = 0};
	return read_all(p, n, out, e) ? err_wrap(e, "%s", name) : 0;
}

void rawcounts_free(struct rawcounts *c)
{
	vec_free(&c->func);
	arena_free(&c->mem);
	*c = (struct rawcounts){.pid = 0};
}
