/* Reading addresses: files and sums, counts of a file. */
#include "common/sort.h"
#include "managerd/store/calls.h"
#include "managerd/store/periods.h"

#include <stdlib.h>
#include <string.h>

/* ---- batches that are no periods yet ---- */

/* Calls fn for each file's part of those in the range. */
static int each_part(struct store *s, const struct address_range *r,
    void (*fn)(const struct period *p, void *arg), void *arg, struct err *e)
{
	const int64_t span = period_span[0].span_s;
	sqlite3_stmt *st = sql_bind(s, GET_ADDRESS_BATCHES, e, "i", (int64_t)-1);
	struct period p = {.span_s = span};
	struct batch_row row;
	int rc;

	while ((rc = sql_run(s, st, e)) == 1) {
		p.begin_s = period_begin(sqlite3_column_int64(st, 1) / 1000, span);
		if (p.begin_s <= r->since_s - span || p.begin_s >= r->until_s)
			continue;
		row = batch_row_of(st);
		while (batch_part(&row, &p))
			fn(&p, arg);
	}
	return rc;
}

/* ---- the range ---- */

/* The first period of a span in the range that begins after a time, or the last one. 1, 0, -1. */
static int bound(struct store *s, enum sql q, size_t span, int64_t after_s, int64_t until_s,
    int64_t *begin_s, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, q, e, "iii", period_span[span].span_s, after_s, until_s);
	int rc = sql_run(s, st, e);

	if (rc != 1)
		return -1;
	rc = sqlite3_column_type(st, 0) != SQLITE_NULL;
	*begin_s = sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	return rc;
}

static void widen(struct address_range *r, int64_t begin_s, int64_t span_s)
{
	if (r->since_s == r->until_s)
		*r = (struct address_range){begin_s, begin_s};
	if (begin_s < r->since_s)
		r->since_s = begin_s;
	if (begin_s + span_s > r->until_s)
		r->until_s = begin_s + span_s;
}

static void widen_by_part(const struct period *p, void *range)
{
	widen(range, p->begin_s, p->span_s);
}

int store_addresses_covered(
    struct store *s, const struct address_range *r, struct address_range *out, struct err *e)
{
	static const enum sql ends[] = {FIRST_PERIOD, LAST_PERIOD};
	int64_t span, begin;
	size_t i;
	int rc = 0;

	*out = (struct address_range){0};
	for (i = 0; rc >= 0 && i < 2 * PERIOD_SPANS; i++) {
		span = period_span[i / 2].span_s;
		rc = bound(s, ends[i % 2], i / 2, r->since_s - span, r->until_s, &begin, e);
		if (rc == 1)
			widen(out, begin, span);
	}
	return rc < 0 ? -1 : each_part(s, r, widen_by_part, out, e);
}

/* ---- files ---- */

struct file_sums {
	struct htab index; /* id -> index */
	VEC(struct address_file) file;
	uint64_t only; /* 0 = all */
};

static void sum_file(struct file_sums *f, uint64_t id, uint64_t samples, uint64_t ns)
{
	bool fresh;
	uint64_t *at;

	if (f->only && f->only != id)
		return;
	at = htab_put(&f->index, &id, sizeof id, &fresh);
	if (fresh) {
		*at = f->file.n;
		vec_push(&f->file, (struct address_file){.id = id});
	}
	f->file.v[*at].samples += samples;
	f->file.v[*at].ns += ns;
}

static void sum_part(const struct period *p, void *sums)
{
	sum_file(sums, p->file, p->samples, p->ns);
}

static int sum_files(
    struct store *s, const struct address_range *r, struct file_sums *f, struct err *e)
{
	sqlite3_stmt *st;
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < PERIOD_SPANS; i++) {
		st = sql_bind(s, SUM_ADDRESSES, e, "iiii", period_span[i].span_s,
		    r->since_s - period_span[i].span_s, r->until_s, f->only);
		while ((rc = sql_run(s, st, e)) == 1)
			sum_file(f, (uint64_t)sqlite3_column_int64(st, 0),
			    (uint64_t)sqlite3_column_int64(st, 1),
			    (uint64_t)sqlite3_column_int64(st, 2));
	}
	return rc ? -1 : each_part(s, r, sum_part, f, e);
}

static int most_first(const void *pa, const void *pb)
{
	const struct address_file *a = pa, *b = pb;

	return ORDER(b->ns, a->ns) ?: ORDER(a->id, b->id);
}

int store_address_sums(struct store *s, const struct address_range *r, uint64_t id, struct arena *a,
    struct address_file **out, size_t *n, struct err *e)
{
	struct file_sums f = {.only = id};
	int rc = sum_files(s, r, &f, e);

	vec_sort(&f.file, most_first);
	*n = f.file.n;
	*out = arena_copy(a, f.file.v, f.file.n, sizeof **out);
	vec_free(&f.file);
	htab_free(&f.index);
	return rc;
}

int store_address_file(
    struct store *s, struct address_file *f, int64_t uid, struct arena *a, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, GET_ADDRESS_FILE, e, "ii", f->id, uid);
	int rc = sql_run(s, st, e);

	if (rc != 1)
		return rc;
	f->kind = sqlite3_column_int(st, 0);
	f->uid = (uint32_t)sqlite3_column_int64(st, 1);
	f->pid = (uint32_t)sqlite3_column_int64(st, 2);
	f->build = sql_id_of(st, 3);
	f->path = sql_text_of(st, 4, a);
	f->origin = sql_id_of(st, 7);
	if (f->origin.n) {
		f->module = (uint64_t)sqlite3_column_int64(st, 5);
		f->owner = (uint32_t)sqlite3_column_int64(st, 6);
	}
	sqlite3_reset(st);
	return 1;
}

int store_address_ids(struct store *s, enum address_kind kind, const struct build_id *build,
    const char *path, struct arena *a, uint64_t **id, size_t *n, struct err *e)
{
	sqlite3_stmt *st =
	    sql_bind(s, ADDRESS_FILES_OF_BUILD, e, "izt", (int64_t)kind, build, path);
	VEC(uint64_t) v = {0};
	int rc;

	while ((rc = sql_run(s, st, e)) == 1)
		vec_push(&v, (uint64_t)sqlite3_column_int64(st, 0));
	*n = v.n;
	*id = arena_copy(a, v.v, v.n, sizeof **id);
	vec_free(&v);
	return rc;
}

/* ---- counts of a file ---- */

struct address_reader {
	struct arena mem;
	VEC(struct packed) part;
	struct packed_sum sum;
	struct calls calls; /* of which some were read */
	size_t ncall;
	uint64_t samples, ns;
	uint64_t file; /* while it is put together */
};

static void take_data(struct address_reader *r, const struct period *p)
{
	vec_push(&r->part, (struct packed){.p = p->data, .end = p->data + p->n});
	calls_read(&r->calls, p->calls, p->ncalls);
	r->samples += p->samples;
	r->ns += p->ns;
}

static void take_part(const struct period *p, void *reader)
{
	struct address_reader *r = reader;
	struct period copy = *p;

	if (p->file != r->file)
		return;
	copy.data = arena_copy(&r->mem, p->data, p->n, 1);
	take_data(r, &copy);
}

/* The file's periods of a span. */
static int take_span(struct store *s, const struct address_range *r, size_t span,
    struct address_reader *to, struct err *e)
{
	struct period p = {.span_s = period_span[span].span_s, .file = to->file};
	int rc;

	p.begin_s = r->since_s - p.span_s;
	while ((rc = bound(s, FIRST_PERIOD, span, p.begin_s, r->until_s, &p.begin_s, e)) == 1) {
		rc = period_get(s, &p, &to->mem, e);
		if (rc < 0)
			return -1;
		if (rc == 1)
			take_data(to, &p);
	}
	return rc;
}

struct address_reader *store_addresses(
    struct store *s, const struct address_range *r, uint64_t file, struct err *e)
{
	struct address_reader *to = xcalloc(1, sizeof *to);
	size_t i;
	int rc = 0;

	to->file = file;
	for (i = 0; rc == 0 && i < PERIOD_SPANS; i++)
		rc = take_span(s, r, i, to, e);
	if (rc == 0)
		rc = each_part(s, r, take_part, to, e);
	if (rc == 0) {
		to->sum = packed_sum(to->part.v, to->part.n);
		calls_sum(&to->calls);
		return to;
	}
	address_reader_free(to);
	return NULL;
}

void address_reader_sums(const struct address_reader *r, uint64_t *samples, uint64_t *ns)
{
	*samples = r->samples;
	*ns = r->ns;
}

bool address_reader_next(struct address_reader *r, uint64_t *address, uint64_t *count)
{
	bool more = packed_sum_next(&r->sum);

	*address = r->sum.address;
	*count = r->sum.count;
	return more;
}

bool address_reader_caller(struct address_reader *r, struct address_caller *out)
{
	if (r->ncall == r->calls.v.n)
		return false;
	*out = r->calls.v.v[r->ncall++];
	return true;
}

void address_reader_free(struct address_reader *r)
{
	if (!r)
		return;
	calls_free(&r->calls);
	arena_free(&r->mem);
	vec_free(&r->part);
	free(r);
}
