/* Profiles in the store: a row is a function; its columns are in sql.c. */
#include "common/le.h"
#include "managerd/store/sql.h"

#include <math.h>
#include <string.h>

static const uint32_t PREDECESSOR = UINT32_C(1) << 31;
enum { EDGE_SIZE = 16, CALL_SIZE = 4 + 16 + 8 };

static double get_real(const uint8_t *p)
{
	double v;

	memcpy(&v, p, sizeof v);
	return v >= 0 && isfinite(v) ? v : 0;
}

static void put_real(struct buf *b, double v)
{
	buf_add(b, &v, sizeof v);
}

static void load_edge(struct profile_func *f, uint32_t block, uint32_t to, double n)
{
	bool predecessor = block & PREDECESSOR;

	block &= ~PREDECESSOR;
	if (block >= f->nblock || (to >= f->nblock && !(predecessor && to == PROFILE_UNRESOLVED)))
		return;
	if (predecessor)
		profile_add_predecessor(f, block, to, n, (struct decay){f->as_of_ms, 1});
	else
		profile_add_edge(f, block, to, n, (struct decay){f->as_of_ms, 1});
}

/* Adds what is of a function's form; it is as of its as_of_ms already. */
static void load_outcomes(sqlite3_stmt *st, struct profile_func *f)
{
	const uint8_t *edge = sqlite3_column_blob(st, 6), *call = sqlite3_column_blob(st, 7);
	int nedge = sqlite3_column_bytes(st, 6) / EDGE_SIZE;
	int ncall = sqlite3_column_bytes(st, 7) / CALL_SIZE;
	struct hash128 key;
	int i;

	for (i = 0; i < nedge; i++, edge += EDGE_SIZE)
		load_edge(f, get_le32(edge), get_le32(edge + 4), get_real(edge + 8));
	for (i = 0; i < ncall; i++, call += CALL_SIZE) {
		memcpy(key.b, call + 4, sizeof key.b);
		if (get_le32(call) < f->nblock)
			profile_add_call(f, get_le32(call), &key, get_real(call + 20),
			    (struct decay){f->as_of_ms, 1});
	}
	f->dirty = false;
}

static void print_edges(const struct profile_edges *e, uint32_t mark, struct buf *out)
{
	size_t i;

	for (i = 0; i < e->n; i++) {
		buf_le32(out, e->v[i].block | mark);
		buf_le32(out, e->v[i].to);
		put_real(out, e->v[i].n);
	}
}

static void print_outcomes(const struct profile_func *f, struct buf *edges, struct buf *calls)
{
	size_t i;

	edges->n = calls->n = 0;
	print_edges(&f->edge, 0, edges);
	print_edges(&f->predecessors, PREDECESSOR, edges);
	for (i = 0; i < f->call.n; i++) {
		buf_le32(calls, f->call.v[i].block);
		buf_add(calls, f->call.v[i].callee.b, sizeof f->call.v[i].callee.b);
		put_real(calls, f->call.v[i].n);
	}
}

/* A row as a function; a garbled one is left out. */
static void load_func(sqlite3_stmt *st, struct profile *p)
{
	const void *key = sqlite3_column_blob(st, 0), *blocks = sqlite3_column_blob(st, 5);
	size_t nkey = (size_t)sqlite3_column_bytes(st, 0), n = (size_t)sqlite3_column_bytes(st, 5);
	const char *name = (const char *)sqlite3_column_text(st, 1);
	const char *tu = (const char *)sqlite3_column_text(st, 2);
	struct profile_func *f;
	struct hash128 k;
	size_t i;

	if (nkey != sizeof k.b || n % sizeof(double) || !name || !tu || (n && !blocks))
		return;
	memcpy(k.b, key, sizeof k.b);
	f = profile_put(p, &k, name, tu, (const char *)sqlite3_column_text(st, 3),
	    (uint32_t)(n / sizeof(double)));
	if (!f)
		return;
	if (n)
		memcpy(profile_blocks(f), blocks, n);
	for (i = 0; n && i < f->nblock; i++)
		if (!(f->block[i] >= 0) || !isfinite(f->block[i]))
			f->block[i] = 0;
	f->as_of_ms = sqlite3_column_int64(st, 4);
	load_outcomes(st, f);
}

int store_load_profile(
    struct store *s, uint64_t module, enum profile_kind kind, struct profile *p, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, GET_PROFILE, e, "ii", module, (int64_t)kind);
	int rc;

	*p = (struct profile){0};
	while ((rc = sql_run(s, st, e)) == 1)
		load_func(st, p);
	if (rc)
		profile_free(p);
	return rc;
}

int store_save_profile(
    struct store *s, uint64_t module, enum profile_kind kind, struct profile *p, struct err *e)
{
	struct buf edges = {0}, calls = {0};
	struct profile_func *f;
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < p->func.n; i++) {
		f = &p->func.v[i];
		if (!f->dirty)
			continue;
		print_outcomes(f, &edges, &calls);
		rc = sql_run(s,
		    sql_bind(s, PUT_PROFILE, e, "iibtttibbb", module, (int64_t)kind, f->key.b,
			sizeof f->key.b, f->name, f->tu, f->opaque, f->as_of_ms, profile_blocks(f),
			f->nblock * sizeof *f->block, edges.p, edges.n, calls.p, calls.n),
		    e);
		if (rc == 0)
			f->dirty = false;
	}
	buf_free(&edges);
	buf_free(&calls);
	return rc;
}

int store_clear_profile(struct store *s, uint64_t module, enum profile_kind kind, struct err *e)
{
	return sql_run(s, sql_bind(s, CLEAR_PROFILE, e, "ii", module, (int64_t)kind), e);
}
