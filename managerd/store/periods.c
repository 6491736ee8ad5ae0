#include "managerd/store/periods.h"
#include "managerd/store/calls.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES = 80, THIN_LEAST = 64 };

const struct period_span period_span[PERIOD_SPANS] = {
    {600, 2 * 3600}, {3600, 2 * 86400}, {86400, 0}};

int period_get(struct store *s, struct period *p, struct arena *a, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, GET_ADDRESSES, e, "iii", p->span_s, p->begin_s, p->file);
	int rc = sql_run(s, st, e);

	if (rc != 1)
		return rc;
	p->id = sqlite3_column_int64(st, 0);
	p->samples = (uint64_t)sqlite3_column_int64(st, 1);
	p->ns = (uint64_t)sqlite3_column_int64(st, 2);
	p->bytes = (uint64_t)sqlite3_column_int64(st, 3);
	p->n = (size_t)sqlite3_column_bytes(st, 4);
	p->data = arena_copy(a, sqlite3_column_blob(st, 4), p->n, 1);
	p->ncalls = (size_t)sqlite3_column_bytes(st, 5);
	p->calls = arena_copy(a, sqlite3_column_blob(st, 5), p->ncalls, 1);
	sqlite3_reset(st);
	return 1;
}

/* Writes the row with these counts. uid: of the file. */
static int write_row(struct store *s, const struct period *p, const struct buf *data,
    const struct buf *calls, uint32_t uid, struct err *e)
{
	uint64_t bytes = ROW_BYTES + data->n + calls->n;
	int rc;

	if (p->id)
		rc = sql_run(s,
		    sql_bind(s, CHANGE_ADDRESSES, e, "iiiibb", p->id, p->samples, p->ns, bytes,
			data->p, data->n, calls->p, calls->n),
		    e);
	else
		rc = sql_run(s,
		    sql_bind(s, NEW_ADDRESSES, e, "iiiiiibb", p->span_s, p->begin_s, p->file,
			p->samples, p->ns, bytes, data->p, data->n, calls->p, calls->n),
		    e);
	if (rc == 0 && !p->id)
		rc = address_file_uses(s, p->file, 1, e);
	if (rc == 0)
		addresses_use(s, uid, (int64_t)(bytes - p->bytes));
	return rc;
}

/* The sum of the counts of n periods, and of one more. */
static void add_counts(
    const struct period *to, const struct period *from, size_t n, struct buf *out)
{
	struct packed *in = xcalloc(n + 1, sizeof *in);
	struct packing w = {.out = out};
	struct packed_sum sum;
	struct buf all;
	size_t i;

	for (i = 0; i <= n; i++) {
		const struct period *p = i < n ? &from[i] : to;

		in[i] = (struct packed){.p = p->data, .end = p->data + p->n};
	}
	sum = packed_sum(in, n + 1);
	while (packed_sum_next(&sum))
		packing_add(&w, sum.address, sum.count);
	free(in);
	if (w.n <= ADDRESSES_OF_PERIOD)
		return;
	all = *out;
	*out = (struct buf){0};
	packed_thin(all.p, all.n, ADDRESSES_OF_PERIOD / 2, out);
	buf_free(&all);
}

static void add_calls(const struct period *to, const struct period *from, size_t n, struct buf *out)
{
	struct calls c = {0};
	size_t i;

	calls_read(&c, to->calls, to->ncalls);
	for (i = 0; i < n; i++)
		calls_read(&c, from[i].calls, from[i].ncalls);
	calls_sum(&c);
	if (c.v.n > CALLS_OF_PERIOD)
		calls_thin(&c, CALLS_OF_PERIOD / 2);
	calls_write(&c, out);
	calls_free(&c);
}

int period_add(
    struct store *s, struct period *to, const struct period *from, size_t n, struct err *e)
{
	struct arena mem = {0};
	struct buf data = {0}, calls = {0};
	uint32_t uid;
	size_t i;
	int rc = address_file_owner(s, to->file, &uid, e);

	if (rc == 1 && (rc = period_get(s, to, &mem, e)) >= 0) {
		for (i = 0; i < n; i++) {
			to->samples += from[i].samples;
			to->ns += from[i].ns;
		}
		add_counts(to, from, n, &data);
		add_calls(to, from, n, &calls);
		rc = write_row(s, to, &data, &calls, uid, e);
	}
	buf_free(&data);
	buf_free(&calls);
	arena_free(&mem);
	return rc;
}

int period_drop(struct store *s, const struct period *p, struct err *e)
{
	uint32_t uid;
	int rc = address_file_owner(s, p->file, &uid, e);

	if (rc < 0 || sql_run(s, sql_bind(s, DROP_ADDRESSES, e, "i", p->id), e))
		return -1;
	if (!rc)
		return 0;
	addresses_use(s, uid, -(int64_t)p->bytes);
	return address_file_uses(s, p->file, -1, e);
}

static size_t count_addresses(const uint8_t *p, size_t n)
{
	struct packed r = {.p = p, .end = p + n};
	size_t count = 0;

	while (packed_next(&r))
		count++;
	return count;
}

static void halve_calls(const struct period *p, struct buf *out)
{
	struct calls c = {0};

	calls_read(&c, p->calls, p->ncalls);
	calls_thin(&c, c.v.n / 2);
	calls_write(&c, out);
	calls_free(&c);
}

int period_thin(struct store *s, struct period *p, struct err *e)
{
	struct arena mem = {0};
	struct buf data = {0}, calls = {0};
	uint32_t uid;
	size_t n;
	int rc = address_file_owner(s, p->file, &uid, e);

	if (rc == 1)
		rc = period_get(s, p, &mem, e);
	n = rc == 1 ? count_addresses(p->data, p->n) : 0;
	if (rc >= 0 && n < THIN_LEAST) {
		rc = period_drop(s, p, e);
	} else if (rc == 1) {
		packed_thin(p->data, p->n, n / 2, &data);
		halve_calls(p, &calls);
		rc = write_row(s, p, &data, &calls, uid, e);
	}
	buf_free(&data);
	buf_free(&calls);
	arena_free(&mem);
	return rc;
}
