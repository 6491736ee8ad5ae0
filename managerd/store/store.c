/* What the store knows of samples, modules and builds. */
#include "managerd/store/sql.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEN_DAYS = 90 };

static int has_row(struct store *s, sqlite3_stmt *st, struct err *e)
{
	int rc = sql_run(s, st, e);

	if (rc == 1)
		sqlite3_reset(st);
	return rc;
}

/* ---- accounting ---- */

int store_seen(struct store *s, uint64_t session, uint64_t seq, struct err *e)
{
	return has_row(s, sql_bind(s, SEEN, e, "ii", session, seq), e);
}

int store_account(struct store *s, uint64_t session, uint64_t seq, int64_t at_ms,
    const struct accounting *a, struct err *e)
{
	if (s->accounted++ % 1000 == 0 &&
	    sql_run(s, sql_bind(s, FORGET_SEEN, e, "i", at_ms - SEEN_DAYS * INT64_C(86400000)), e))
		return -1;
	if (sql_run(s, sql_bind(s, MARK_SEEN, e, "iii", session, seq, at_ms), e))
		return -1;
	return sql_run(s,
	    sql_bind(s, ADD_ACCOUNTING, e, "iiiiiiii", a->taken, a->mapped, a->stale, a->dropped,
		a->kernel, a->no_build_id, a->no_artifact, a->no_block),
	    e);
}

int store_accounting(struct store *s, struct accounting *out, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, GET_ACCOUNTING, e, "");
	uint64_t *field[] = {&out->batches, &out->taken, &out->mapped, &out->stale, &out->dropped,
	    &out->kernel, &out->no_build_id, &out->no_artifact, &out->no_block};
	int i, rc = sql_run(s, st, e);

	*out = (struct accounting){0};
	if (rc != 1)
		return rc ? -1 : err_set(e, "%s: no accounting", s->path);
	for (i = 0; i < 9; i++)
		*field[i] = (uint64_t)sqlite3_column_int64(st, i);
	sqlite3_reset(st);
	return 0;
}

/* ---- modules ---- */

uint64_t module_id(const char *path)
{
	struct hash128 h;
	uint64_t id;

	crypto_generichash(h.b, sizeof h.b, (const uint8_t *)path, strlen(path), NULL, 0);
	id = hash_short(&h);
	return id ? id : 1; /* 0 means all modules */
}

const char *module_state_name(enum module_state m)
{
	static const char *const name[] = {"original", "laid-out", "held", "no-artifact", "gone"};

	return (unsigned)m <= MODULE_GONE ? name[m] : "unknown";
}

int store_put_module(struct store *s, const struct store_module *m, struct err *e)
{
	return sql_run(s,
	    sql_bind(s, PUT_MODULE, e, "itiittzziiiitiiidiidddidiiitdddddti", m->id, m->path,
		(int64_t)m->uid, (int64_t)m->state, m->text ? m->text : "", m->artifact,
		&m->current, &m->origin, m->first_ms, m->last_ms, m->layout_ms, m->held_until_ms,
		m->held_why, m->mapped, m->stale, m->outside, m->outside_aged, m->outside_ms,
		(int64_t)m->predicted, m->estimate.gain, m->taken_before, m->taken_after,
		m->predicted_ms, m->samples, m->samples_ms, m->fetch_ms, m->fetch_tries,
		m->fetch_why, m->estimate.low, m->estimate.high, m->estimate.missed,
		m->estimate.samples, m->squares, m->lift_why, m->list),
	    e);
}

int store_modules(struct store *s, uint64_t id, struct arena *a, struct store_module **out,
    size_t *n, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, GET_MODULES, e, "i", id);
	VEC(struct store_module) v = {0};
	int rc;

	while ((rc = sql_run(s, st, e)) == 1)
		vec_push(&v, (struct store_module){.id = (uint64_t)sqlite3_column_int64(st, 0),
				 .path = sql_text_of(st, 1, a),
				 .uid = (uint32_t)sqlite3_column_int64(st, 2),
				 .state = sqlite3_column_int(st, 3),
				 .text = sql_text_of(st, 4, a),
				 .artifact = sql_text_of(st, 5, a),
				 .current = sql_id_of(st, 6),
				 .origin = sql_id_of(st, 7),
				 .first_ms = sqlite3_column_int64(st, 8),
				 .last_ms = sqlite3_column_int64(st, 9),
				 .layout_ms = sqlite3_column_int64(st, 10),
				 .held_until_ms = sqlite3_column_int64(st, 11),
				 .held_why = sql_text_of(st, 12, a),
				 .mapped = (uint64_t)sqlite3_column_int64(st, 13),
				 .stale = (uint64_t)sqlite3_column_int64(st, 14),
				 .outside = (uint64_t)sqlite3_column_int64(st, 15),
				 .outside_aged = sqlite3_column_double(st, 16),
				 .outside_ms = sqlite3_column_int64(st, 17),
				 .predicted = sqlite3_column_int(st, 18),
				 .estimate = {sqlite3_column_double(st, 19), sql_real_of(st, 28),
				     sql_real_of(st, 29), sqlite3_column_double(st, 30),
				     sqlite3_column_double(st, 31)},
				 .taken_before = sqlite3_column_double(st, 20),
				 .taken_after = sqlite3_column_double(st, 21),
				 .predicted_ms = sqlite3_column_int64(st, 22),
				 .samples = sqlite3_column_double(st, 23),
				 .samples_ms = sqlite3_column_int64(st, 24),
				 .squares = sqlite3_column_double(st, 32),
				 .list = (uint64_t)sqlite3_column_int64(st, 34),
				 .fetch_ms = sqlite3_column_int64(st, 25),
				 .fetch_tries = sqlite3_column_int64(st, 26),
				 .fetch_why = sql_text_of(st, 27, a),
				 .lift_why = sql_text_of(st, 33, a)});
	*n = v.n;
	*out = arena_copy(a, v.v, v.n, sizeof **out);
	vec_free(&v);
	return rc;
}

int store_drop_module(struct store *s, uint64_t id, struct err *e)
{
	static const enum sql all[] = {DROP_BUILDS, DROP_TABLES, DROP_PROFILE, DROP_DECISIONS,
	    DROP_TRIAL, DROP_GAINS, DROP_RUNGS, DROP_EVENTS, DROP_MODULE};
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (sql_run(s, sql_bind(s, all[i], e, "i", id), e))
			return -1;
	return 0;
}

/* ---- trials ---- */

int store_put_trial(struct store *s, const struct store_trial *t, struct err *e)
{
	return sql_run(s,
	    sql_bind(s, PUT_TRIAL, e, "izziiiddb", t->module, &t->build[TRIAL_OLD],
		&t->build[TRIAL_NEW], t->began_ms, t->ended_ms, (int64_t)t->verdict, t->promised,
		t->model, t->data, t->ndata),
	    e);
}

int store_trials(
    struct store *s, struct arena *a, struct store_trial **out, size_t *n, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, GET_TRIALS, e, "");
	VEC(struct store_trial) v = {0};
	struct store_trial t;
	int rc;

	while ((rc = sql_run(s, st, e)) == 1) {
		t = (struct store_trial){.module = (uint64_t)sqlite3_column_int64(st, 0),
		    .build = {sql_id_of(st, 1), sql_id_of(st, 2)},
		    .began_ms = sqlite3_column_int64(st, 3),
		    .ended_ms = sqlite3_column_int64(st, 4),
		    .verdict = sqlite3_column_int(st, 5),
		    .promised = sql_real_of(st, 6),
		    .model = sql_real_of(st, 7),
		    .ndata = (size_t)sqlite3_column_bytes(st, 8)};
		t.data = arena_copy(a, sqlite3_column_blob(st, 8), t.ndata, 1);
		vec_push(&v, t);
	}
	*n = v.n;
	*out = arena_copy(a, v.v, v.n, sizeof **out);
	vec_free(&v);
	return rc;
}

int store_drop_trial(struct store *s, uint64_t module, struct err *e)
{
	return sql_run(s, sql_bind(s, DROP_TRIAL, e, "i", module), e);
}

/* ---- gains ---- */

int store_put_gain(struct store *s, const struct store_gain *g, unsigned keep, struct err *e)
{
	const struct posterior_terms *from = &g->edit.before, *to = &g->edit.after;

	if (sql_run(s,
		sql_bind(s, PUT_GAIN, e, "iiidddddddd", g->edit.program, g->at_ms, g->cpu,
		    from->insns, from->taken, from->lines, to->insns, to->taken, to->lines,
		    g->edit.gain, g->edit.sd),
		e))
		return -1;
	return sql_run(s, sql_bind(s, PRUNE_GAINS, e, "ii", g->edit.program, (int64_t)keep), e);
}

static struct posterior_terms terms_of(sqlite3_stmt *st, int col)
{
	return (struct posterior_terms){
	    sql_real_of(st, col), sql_real_of(st, col + 1), sql_real_of(st, col + 2)};
}

int store_gains(struct store *s, struct arena *a, struct store_gain **out, size_t *n, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, GET_GAINS, e, "");
	VEC(struct store_gain) v = {0};
	int rc;

	while ((rc = sql_run(s, st, e)) == 1)
		vec_push(&v, (struct store_gain){.at_ms = sqlite3_column_int64(st, 2),
				 .cpu = (uint64_t)sqlite3_column_int64(st, 3),
				 .edit = {(uint64_t)sqlite3_column_int64(st, 1), terms_of(st, 4),
				     terms_of(st, 7), sql_real_of(st, 10), sql_real_of(st, 11)}});
	*n = v.n;
	*out = arena_copy(a, v.v, v.n, sizeof **out);
	vec_free(&v);
	return rc;
}

/* ---- builds ---- */

int store_put_build(struct store *s, const struct store_build *b, struct err *e)
{
	return sql_run(s,
	    sql_bind(s, PUT_BUILD, e, "izziiiib", b->module, &b->id, &b->origin, (int64_t)b->kind,
		(int64_t)b->state, b->made_ms, b->bytes, b->map, b->nmap),
	    e);
}

int store_set_build_state(
    struct store *s, uint64_t module, const struct build_id *id, int state, struct err *e)
{
	return sql_run(s, sql_bind(s, SET_BUILD_STATE, e, "izi", module, id, (int64_t)state), e);
}

int store_prune_builds(struct store *s, uint64_t module, unsigned keep, struct err *e)
{
	if (sql_run(s,
		sql_bind(s, PRUNE_BUILDS, e, "iii", module, (int64_t)BUILD_PAST, (int64_t)keep), e))
		return -1;
	return sql_run(s, sql_bind(s, PRUNE_TABLES, e, "i", module), e);
}

int store_builds(struct store *s, uint64_t module, const struct build_id *id, struct arena *a,
    struct store_build **out, size_t *n, struct err *e)
{
	sqlite3_stmt *st = id ? sql_bind(s, GET_BUILD, e, "iz", module, id)
			      : sql_bind(s, GET_BUILDS, e, "i", module);
	VEC(struct store_build) v = {0};
	struct store_build b;
	int rc;

	while ((rc = sql_run(s, st, e)) == 1) {
		b = (struct store_build){.module = module,
		    .id = sql_id_of(st, 0),
		    .origin = sql_id_of(st, 1),
		    .kind = sqlite3_column_int(st, 2),
		    .state = sqlite3_column_int(st, 3),
		    .made_ms = sqlite3_column_int64(st, 4),
		    .bytes = (uint64_t)sqlite3_column_int64(st, 5),
		    .nmap = (size_t)sqlite3_column_bytes(st, 6)};
		if (b.nmap)
			b.map = memcpy(arena_alloc(a, b.nmap), sqlite3_column_blob(st, 6), b.nmap);
		vec_push(&v, b);
	}
	*n = v.n;
	*out = arena_copy(a, v.v, v.n, sizeof **out);
	vec_free(&v);
	return rc;
}

int store_put_table(struct store *s, uint64_t module, const struct build_id *origin, const void *p,
    size_t n, struct err *e)
{
	return sql_run(s, sql_bind(s, PUT_TABLE, e, "izb", module, origin, p, n), e);
}

int store_table(
    struct store *s, uint64_t module, const struct build_id *origin, struct buf *out, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, GET_TABLE, e, "iz", module, origin);
	int rc = sql_run(s, st, e);

	if (rc == 1) {
		buf_add(out, sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0));
		sqlite3_reset(st);
	}
	return rc;
}

int store_same_table(struct store *s, uint64_t module, const struct build_id *origin, const void *p,
    size_t n, struct err *e)
{
	enum { PART = 64 << 10 };
	sqlite3_stmt *st = sql_bind(s, FIND_TABLE, e, "izi", module, origin, (int64_t)n);
	int rc = sql_run(s, st, e);
	sqlite3_blob *blob = NULL;
	uint8_t part[PART];
	size_t at, more;
	bool read;

	if (rc != 1)
		return rc;
	read = sqlite3_blob_open(s->db, "main", "tables", "data", sqlite3_column_int64(st, 0), 0,
		   &blob) == SQLITE_OK;
	sqlite3_reset(st);
	for (at = 0; at < n && read && rc == 1; at += more) {
		more = n - at < PART ? n - at : PART;
		read = sqlite3_blob_read(blob, part, (int)more, (int)at) == SQLITE_OK;
		rc = read && !memcmp(part, (const char *)p + at, more);
	}
	if (!read)
		rc = sql_error(s, e);
	sqlite3_blob_close(blob);
	return rc;
}
