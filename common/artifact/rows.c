#include "common/artifact/rows.h"

#include <string.h>

enum { ROW_BYTES = 6 /* what a row takes of its page at least: a cell of 4 and a pointer of 2 */ };

void refuse(struct reader *r, const char *what)
{
	if (!r->bad)
		err_set(r->e, "%s: damaged artifact: table %s: %s", r->a->path, r->table, what);
	r->bad = true;
}

int64_t col_int(struct reader *r, int i, int64_t min, int64_t max)
{
	int64_t v = sqlite3_column_int64(r->st, i);

	if (sqlite3_column_type(r->st, i) == SQLITE_INTEGER && v >= min && v <= max)
		return v;
	refuse(r, "number out of range");
	return min;
}

int64_t col_int_or_null(struct reader *r, int i, int64_t max)
{
	return sqlite3_column_type(r->st, i) == SQLITE_NULL ? -1 : col_int(r, i, 0, max);
}

bool spend(struct reader *r, size_t n)
{
	r->a->spent += n;
	if (r->a->spent > (uint64_t)r->a->file_size)
		refuse(r, "more in it than in the file");
	return !r->bad;
}

const char *col_text(struct reader *r, int i)
{
	const char *s = NULL;
	int n;

	if (sqlite3_column_type(r->st, i) == SQLITE_TEXT)
		s = (const char *)sqlite3_column_text(r->st, i);
	n = sqlite3_column_bytes(r->st, i);
	if (n > NAME_MAX_BYTES)
		refuse(r, "a text of more than 64 KiB");
	else if (!s || strlen(s) != (size_t)n)
		refuse(r, "text out of range");
	return s && spend(r, (size_t)n) ? arena_strdup(&r->a->mem, s) : "";
}

const void *col_blob(struct reader *r, int i, size_t *n)
{
	const void *p = sqlite3_column_blob(r->st, i);

	*n = (size_t)sqlite3_column_bytes(r->st, i);
	if (sqlite3_column_type(r->st, i) != SQLITE_BLOB)
		refuse(r, "not a blob");
	return spend(r, *n) && p ? p : "";
}

struct hash128 col_hash(struct reader *r, int i)
{
	struct hash128 h = {0};
	size_t n;
	const void *p = col_blob(r, i, &n);

	if (n == sizeof h.b && !r->bad)
		memcpy(h.b, p, n);
	else
		refuse(r, "hash of the wrong length");
	return h;
}

int64_t rows_begin(const struct artifact *a)
{
	return (int64_t)a->current << PROGRAM_SHIFT;
}

int64_t rows_end(const struct artifact *a)
{
	return rows_begin(a) + ROWS_MAX;
}

int64_t col_id(struct reader *r, int i)
{
	return col_int(r, i, 0, INT64_MAX) - rows_begin(r->a);
}

static sqlite3_stmt *prepare(struct artifact *a, const struct query *q)
{
	sqlite3_stmt *st;

	if (sqlite3_prepare_v2(a->db, q->sql, -1, &st, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_bind_int64(st, 1, q->from);
	sqlite3_bind_int64(st, 2, q->to);
	return st;
}

int read_rows(struct artifact *a, const struct query *q, struct err *e)
{
	struct reader r = {a, prepare(a, q), q->table, q->arg, e, false};
	int s, n = 0;

	if (!r.st)
		return artifact_db_error(a, e);
	while ((s = sqlite3_step(r.st)) == SQLITE_ROW && spend(&r, ROW_BYTES)) {
		q->row(&r);
		if (++n == ROWS_MAX)
			refuse(&r, "too many rows");
		if (r.bad)
			break;
	}
	if (s != SQLITE_ROW && s != SQLITE_DONE && !r.bad) {
		artifact_db_error(a, e);
		r.bad = true;
	}
	sqlite3_finalize(r.st);
	return r.bad ? -1 : n;
}

int read_row(struct artifact *a, const struct query *q, struct err *e)
{
	struct reader r = {a, prepare(a, q), q->table, q->arg, e, false};

	if (!r.st)
		return artifact_db_error(a, e);
	switch (sqlite3_step(r.st)) {
	case SQLITE_ROW:
		a->spent = 0;
		q->row(&r);
		break;
	case SQLITE_DONE:
		refuse(&r, "no such row");
		break;
	default:
		artifact_db_error(a, e);
		r.bad = true;
	}
	sqlite3_finalize(r.st);
	return r.bad ? -1 : 0;
}
