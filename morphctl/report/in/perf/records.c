#include "morphctl/report/in/perf/file.h"
#include "common/le.h"

#include <string.h>
#include <zstd.h>

enum { HEADER = 8, CHUNK = 128 << 10 };

struct walk {
	struct perf *f;
	int (*fn)(struct perf *, const struct perf_record *, void *, struct err *);
	void *arg;
	uint64_t seq;
	ZSTD_DStream *zstd;
	struct buf rest; /* of what was decompressed: no whole record yet */
};

int perf_bad(const struct perf *f, uint64_t at, struct err *e, const char *what)
{
	return err_set(e, "%s: offset %llu: %s", f->name, (unsigned long long)at, what);
}

/* 1: a whole record is at p, 0: it is cut off, -1: it is none. */
static int get_record(const uint8_t *p, size_t n, struct perf_record *rec)
{
	if (n < HEADER)
		return 0;
	rec->type = get_le32(p);
	rec->misc = get_le16(p + 4);
	rec->n = get_le16(p + 6);
	rec->p = p;
	if (rec->n < HEADER)
		return -1;
	return rec->n <= n;
}

/* Calls fn for the whole records of what was decompressed, and keeps what follows them. */
static int pass_on(struct walk *w, uint64_t at, struct err *e)
{
	struct perf_record rec = {.at = at};
	size_t i = 0;
	int r;

	while ((r = get_record((uint8_t *)w->rest.p + i, w->rest.n - i, &rec)) > 0) {
		if (rec.type == PERF_COMPRESSED || rec.type == PERF_COMPRESSED2)
			return perf_bad(w->f, at, e, "a compressed record in a compressed record");
		rec.seq = ++w->seq;
		if (w->fn(w->f, &rec, w->arg, e))
			return -1;
		i += rec.n;
	}
	if (r < 0)
		return perf_bad(w->f, at, e, "a compressed record is too short");
	memmove(w->rest.p, w->rest.p + i, w->rest.n - i);
	w->rest.n -= i;
	return 0;
}

/* All compressed records are one stream. */
static int decompress(struct walk *w, const struct perf_record *rec, struct err *e)
{
	size_t skip = rec->type == PERF_COMPRESSED2 ? 16 : HEADER;
	ZSTD_inBuffer in = {rec->p + skip, rec->n - skip, 0};
	ZSTD_outBuffer out;
	size_t r;

	if (rec->n < skip)
		return perf_bad(w->f, rec->at, e, "a compressed record is too short");
	if (rec->type == PERF_COMPRESSED2) {
		if (get_le64(rec->p + HEADER) > in.size)
			return perf_bad(w->f, rec->at, e, "compressed data exceed their record");
		in.size = get_le64(rec->p + HEADER);
	}
	if (!w->zstd && !(w->zstd = ZSTD_createDStream()))
		return err_set(e, "%s: no memory to decompress", w->f->name);
	do {
		out = (ZSTD_outBuffer){buf_grow(&w->rest, CHUNK), CHUNK, 0};
		r = ZSTD_decompressStream(w->zstd, &out, &in);
		w->rest.n -= CHUNK - out.pos;
		if (ZSTD_isError(r))
			return perf_bad(w->f, rec->at, e, "compressed data are damaged");
		if (pass_on(w, rec->at, e))
			return -1;
	} while (in.pos < in.size || out.pos == out.size);
	return 0;
}

/* Bytes after a record that its header does not count. */
static uint64_t payload(const struct perf *f, const struct perf_record *rec)
{
	if (rec->type == PERF_AUXTRACE && rec->n >= 16)
		return get_le64(rec->p + 8);
	if (rec->type == PERF_HEADER_TRACING_DATA && f->pipe && rec->n >= 12)
		return ((uint64_t)get_le32(rec->p + 8) + 7) & ~7ULL;
	return 0;
}

static int walk(struct walk *w, struct err *e)
{
	struct perf *f = w->f;
	struct perf_record rec;
	uint64_t more;
	int r;

	for (rec.at = f->data; rec.at < f->data_end; rec.at += rec.n + more) {
		r = get_record(f->p + rec.at, f->data_end - rec.at, &rec);
		if (r <= 0)
			return perf_bad(
			    f, rec.at, e, r ? "a record is too short" : "a record is cut off");
		more = payload(f, &rec);
		if (more > f->data_end - rec.at - rec.n)
			return perf_bad(f, rec.at, e, "the data of a record are cut off");
		if (rec.type == PERF_COMPRESSED || rec.type == PERF_COMPRESSED2) {
			if (decompress(w, &rec, e))
				return -1;
			continue;
		}
		rec.seq = ++w->seq;
		if (w->fn(f, &rec, w->arg, e))
			return -1;
	}
	return w->rest.n ? perf_bad(f, rec.at, e, "a compressed record is cut off") : 0;
}

int perf_each_record(struct perf *f,
    int (*fn)(struct perf *, const struct perf_record *, void *, struct err *), void *arg,
    struct err *e)
{
	struct walk w = {.f = f, .fn = fn, .arg = arg};
	int r = walk(&w, e);

	ZSTD_freeDStream(w.zstd);
	buf_free(&w.rest);
	return r;
}
