/*
 * Schema 2. Build-ids are blobs, ids of modules hash_short as a signed
 * number, profile.blocks little-endian doubles, one per block; profile.edges
 * u32 block, u32 to, double each, profile.calls u32 block, 16 bytes function
 * key, double each. Schema 1, without these two, is brought up when it is opened.
 */
#include "managerd/store.h"
#include "common/le.h"
#include "common/log.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SCHEMA = 2, SEEN_DAYS = 90, DECISIONS_KEPT = 200, EVENTS_KEPT = 5000 };

static const char schema[] =
    "CREATE TABLE accounting (id INTEGER PRIMARY KEY CHECK (id = 1), batches INTEGER NOT NULL,"
    " taken INTEGER NOT NULL, mapped INTEGER NOT NULL, stale INTEGER NOT NULL,"
    " dropped INTEGER NOT NULL, kernel INTEGER NOT NULL, no_build_id INTEGER NOT NULL,"
    " no_artifact INTEGER NOT NULL, no_block INTEGER NOT NULL,"
    " CHECK (taken = mapped + stale + dropped + kernel + no_build_id + no_artifact + no_block));"
    "INSERT INTO accounting VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0);"
    "CREATE TABLE seen (session INTEGER NOT NULL, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL,"
    " PRIMARY KEY (session, seq)) WITHOUT ROWID;"
    "CREATE TABLE modules (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE,"
    " uid INTEGER NOT NULL, state INTEGER NOT NULL, text TEXT NOT NULL, artifact TEXT,"
    " current BLOB NOT NULL, origin BLOB NOT NULL, first_ms INTEGER NOT NULL,"
    " last_ms INTEGER NOT NULL, layout_ms INTEGER NOT NULL, held_until_ms INTEGER NOT NULL,"
    " held_why TEXT, mapped INTEGER NOT NULL, stale INTEGER NOT NULL, outside INTEGER NOT NULL,"
    " outside_aged REAL NOT NULL, outside_ms INTEGER NOT NULL, predicted INTEGER NOT NULL,"
    " gain REAL NOT NULL, taken_before REAL NOT NULL, taken_after REAL NOT NULL,"
    " predicted_ms INTEGER NOT NULL);"
    "CREATE TABLE builds (module INTEGER NOT NULL REFERENCES modules, id BLOB NOT NULL,"
    " origin BLOB NOT NULL, kind INTEGER NOT NULL, state INTEGER NOT NULL,"
    " made_ms INTEGER NOT NULL, bytes INTEGER NOT NULL, map BLOB NOT NULL,"
    " PRIMARY KEY (module, id));"
    "CREATE TABLE tables (origin BLOB PRIMARY KEY, data BLOB NOT NULL);"
    "CREATE TABLE profile (module INTEGER NOT NULL REFERENCES modules, kind INTEGER NOT NULL,"
    " key BLOB NOT NULL, name TEXT NOT NULL, tu TEXT NOT NULL, opaque TEXT,"
    " as_of_ms INTEGER NOT NULL, blocks BLOB NOT NULL, edges BLOB NOT NULL DEFAULT x'',"
    " calls BLOB NOT NULL DEFAULT x'', PRIMARY KEY (module, kind, key));"
    "CREATE TABLE decisions (id INTEGER PRIMARY KEY, module INTEGER NOT NULL REFERENCES modules,"
    " first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, times INTEGER NOT NULL,"
    " verdict INTEGER NOT NULL, rung INTEGER NOT NULL, text TEXT NOT NULL);"
    "CREATE INDEX decisions_of ON decisions (module, id);"
    "CREATE TABLE rungs (module INTEGER NOT NULL REFERENCES modules, rung INTEGER NOT NULL,"
    " outcome INTEGER NOT NULL, numbers INTEGER NOT NULL, value REAL NOT NULL,"
    " bound REAL NOT NULL, text TEXT NOT NULL, PRIMARY KEY (module, rung));"
    "CREATE TABLE events (id INTEGER PRIMARY KEY, module INTEGER NOT NULL REFERENCES modules,"
    " at_ms INTEGER NOT NULL, kind INTEGER NOT NULL, \"from\" BLOB NOT NULL, \"to\" BLOB NOT NULL,"
    " change INTEGER NOT NULL, text TEXT NOT NULL, samples REAL, gain REAL, seconds REAL,"
    " size_before INTEGER NOT NULL, size_after INTEGER NOT NULL);"
    "CREATE INDEX events_of ON events (module, id);"
    "PRAGMA user_version = 2;";

static const char schema_1_to_2[] =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE profile ADD COLUMN edges BLOB NOT NULL DEFAULT x'';"
    "ALTER TABLE profile ADD COLUMN calls BLOB NOT NULL DEFAULT x'';"
    "PRAGMA user_version = 2;"
    "COMMIT";

enum sql {
	BEGIN,
	COMMIT,
	ROLLBACK,
	SEEN,
	MARK_SEEN,
	FORGET_SEEN,
	ADD_ACCOUNTING,
	GET_ACCOUNTING,
	PUT_MODULE,
	GET_MODULES,
	PUT_BUILD,
	SET_BUILD_STATE,
	GET_BUILDS,
	GET_BUILD,
	DROP_MODULE,
	PRUNE_BUILDS,
	PRUNE_TABLES,
	PUT_TABLE,
	GET_TABLE,
	GET_PROFILE,
	PUT_PROFILE,
	CLEAR_PROFILE,
	LAST_DECISION,
	REPEAT_DECISION,
	NEW_DECISION,
	PRUNE_DECISIONS,
	PUT_RUNG,
	GET_RUNGS,
	GET_DECISIONS,
	PUT_EVENT,
	PRUNE_EVENTS,
	GET_EVENTS,
	COUNT_EVENTS,
	NSQL
};

static const char *const sql_text[NSQL] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [SEEN] = "SELECT 1 FROM seen WHERE session = ? AND seq = ?",
    [MARK_SEEN] = "INSERT INTO seen VALUES (?, ?, ?)",
    [FORGET_SEEN] = "DELETE FROM seen WHERE at_ms < ?",
    [ADD_ACCOUNTING] = "UPDATE accounting SET batches = batches + 1, taken = taken + ?,"
		       " mapped = mapped + ?, stale = stale + ?, dropped = dropped + ?,"
		       " kernel = kernel + ?, no_build_id = no_build_id + ?,"
		       " no_artifact = no_artifact + ?, no_block = no_block + ?",
    [GET_ACCOUNTING] = "SELECT batches, taken, mapped, stale, dropped, kernel, no_build_id,"
		       " no_artifact, no_block FROM accounting",
    [PUT_MODULE] = "INSERT INTO modules VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
		   " ON CONFLICT (id) DO UPDATE SET uid = excluded.uid, state = excluded.state,"
		   " text = excluded.text, artifact = excluded.artifact,"
		   " current = excluded.current, origin = excluded.origin,"
		   " last_ms = excluded.last_ms, layout_ms = excluded.layout_ms,"
		   " held_until_ms = excluded.held_until_ms, held_why = excluded.held_why,"
		   " mapped = excluded.mapped, stale = excluded.stale, outside = excluded.outside,"
		   " outside_aged = excluded.outside_aged, outside_ms = excluded.outside_ms,"
		   " predicted = excluded.predicted, gain = excluded.gain,"
		   " taken_before = excluded.taken_before, taken_after = excluded.taken_after,"
		   " predicted_ms = excluded.predicted_ms",
    [GET_MODULES] = "SELECT id, path, uid, state, text, artifact, current, origin, first_ms,"
		    " last_ms, layout_ms, held_until_ms, held_why, mapped, stale, outside,"
		    " outside_aged, outside_ms, predicted, gain, taken_before, taken_after,"
		    " predicted_ms FROM modules WHERE ?1 = 0 OR id = ?1 ORDER BY mapped DESC, path",
    [PUT_BUILD] = "INSERT OR REPLACE INTO builds VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [SET_BUILD_STATE] = "UPDATE builds SET state = ?3 WHERE module = ?1 AND id = ?2",
    [GET_BUILDS] = "SELECT id, origin, kind, state, made_ms, bytes, NULL FROM builds"
		   " WHERE module = ? ORDER BY made_ms DESC, rowid DESC",
    [GET_BUILD] = "SELECT id, origin, kind, state, made_ms, bytes, map FROM builds"
		  " WHERE module = ? AND id = ?",
    [DROP_MODULE] = "DELETE FROM modules WHERE id = ?",
    [PRUNE_BUILDS] = "DELETE FROM builds WHERE module = ?1 AND state = ?2 AND rowid NOT IN"
		     " (SELECT rowid FROM builds WHERE module = ?1 AND state = ?2"
		     " ORDER BY made_ms DESC, rowid DESC LIMIT ?3)",
    [PRUNE_TABLES] = "DELETE FROM tables WHERE origin NOT IN (SELECT origin FROM builds)",
    [PUT_TABLE] = "INSERT OR REPLACE INTO tables VALUES (?, ?)",
    [GET_TABLE] = "SELECT data FROM tables WHERE origin = ?",
    [GET_PROFILE] = "SELECT key, name, tu, opaque, as_of_ms, blocks, edges, calls FROM profile"
		    " WHERE module = ? AND kind = ? ORDER BY key",
    [PUT_PROFILE] = "INSERT OR REPLACE INTO profile VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [CLEAR_PROFILE] = "DELETE FROM profile WHERE module = ? AND kind = ?",
    [LAST_DECISION] = "SELECT d.id, d.module, m.path, d.first_ms, d.last_ms, d.times, d.verdict,"
		      " d.rung, d.text FROM decisions d JOIN modules m ON m.id = d.module"
		      " WHERE d.module = ? ORDER BY d.id DESC LIMIT 1",
    [REPEAT_DECISION] = "UPDATE decisions SET last_ms = ?, times = times + 1, text = ?"
			" WHERE id = ?",
    [NEW_DECISION] = "INSERT INTO decisions VALUES (NULL, ?1, ?2, ?2, 1, ?3, ?4, ?5)",
    [PRUNE_DECISIONS] = "DELETE FROM decisions WHERE module = ?1 AND id <= (SELECT id FROM"
			" decisions WHERE module = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
    [PUT_RUNG] = "INSERT OR REPLACE INTO rungs VALUES (?, ?, ?, ?, ?, ?, ?)",
    [GET_RUNGS] = "SELECT rung, outcome, numbers, value, bound, text FROM rungs WHERE module = ?",
    [GET_DECISIONS] = "SELECT d.id, d.module, m.path, d.first_ms, d.last_ms, d.times, d.verdict,"
		      " d.rung, d.text FROM decisions d JOIN modules m ON m.id = d.module"
		      " WHERE (?1 = 0 OR d.module = ?1) AND (?2 < 0 OR m.uid = ?2)"
		      " ORDER BY d.last_ms DESC, d.id DESC LIMIT ?3",
    [PUT_EVENT] = "INSERT INTO events VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PRUNE_EVENTS] = "DELETE FROM events WHERE module = ?1 AND id <= (SELECT id FROM events"
		     " WHERE module = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
    [GET_EVENTS] = "SELECT e.module, m.path, e.at_ms, e.kind, e.\"from\", e.\"to\", e.change,"
		   " e.text, e.samples, e.gain, e.seconds, e.size_before, e.size_after"
		   " FROM events e JOIN modules m ON m.id = e.module"
		   " WHERE (?1 = 0 OR e.module = ?1) AND (?2 < 0 OR m.uid = ?2)"
		   " ORDER BY e.id DESC LIMIT ?3",
    [COUNT_EVENTS] = "SELECT count(*) FROM events"
		     " WHERE (?1 = 0 OR module = ?1) AND kind = ?2 AND at_ms >= ?3",
};

struct store {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *stmt[NSQL];
	uint64_t accounted;
};

/* ---- statements ---- */

static int db_error(struct store *s, struct err *e)
{
	return err_set(e, "%s: %s", s->path, sqlite3_errmsg(s->db));
}

/*
 * The statement, reset and bound: i int64, d double, t text or NULL,
 * b pointer and size_t, z const struct build_id *.
 */
static sqlite3_stmt *bind(struct store *s, enum sql q, struct err *e, const char *fmt, ...)
{
	const struct build_id *id;
	const void *p;
	sqlite3_stmt *st;
	va_list ap;
	int i, rc = SQLITE_OK;

	if (!s->stmt[q] && sqlite3_prepare_v3(s->db, sql_text[q], -1, SQLITE_PREPARE_PERSISTENT,
			       &s->stmt[q], NULL) != SQLITE_OK) {
		db_error(s, e);
		return NULL;
	}
	st = s->stmt[q];
	sqlite3_reset(st);
	va_start(ap, fmt);
	for (i = 1; *fmt && rc == SQLITE_OK; fmt++, i++) {
		switch (*fmt) {
		case 'i':
			rc = sqlite3_bind_int64(st, i, va_arg(ap, int64_t));
			break;
		case 'd':
			rc = sqlite3_bind_double(st, i, va_arg(ap, double));
			break;
		case 't':
			rc = sqlite3_bind_text(
			    st, i, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
			break;
		case 'b':
			p = va_arg(ap, const void *);
			rc = sqlite3_bind_blob64(
			    st, i, p ? p : "", va_arg(ap, size_t), SQLITE_TRANSIENT);
			break;
		case 'z':
			id = va_arg(ap, const struct build_id *);
			rc = sqlite3_bind_blob(st, i, id->b, id->n, SQLITE_TRANSIENT);
			break;
		}
	}
	va_end(ap);
	if (rc == SQLITE_OK)
		return st;
	db_error(s, e);
	return NULL;
}

/* 1 a row, 0 no (more) row, -1 error. Resets at the end. */
static int step(struct store *s, sqlite3_stmt *st, struct err *e)
{
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		db_error(s, e);
	sqlite3_reset(st);
	return rc == SQLITE_DONE ? 0 : -1;
}

static int run(struct store *s, sqlite3_stmt *st, struct err *e)
{
	return st ? step(s, st, e) : -1;
}

static const char *text_of(sqlite3_stmt *st, int col, struct arena *a)
{
	const char *t = (const char *)sqlite3_column_text(st, col);

	return t ? arena_strdup(a, t) : NULL;
}

static struct build_id id_of(sqlite3_stmt *st, int col)
{
	struct build_id id = {0};
	const void *p = sqlite3_column_blob(st, col);
	int n = sqlite3_column_bytes(st, col);

	if (p && n <= (int)sizeof id.b) {
		id.n = (uint8_t)n;
		memcpy(id.b, p, (size_t)n);
	}
	return id;
}

static double real_of(sqlite3_stmt *st, int col)
{
	return sqlite3_column_type(st, col) == SQLITE_NULL ? NAN : sqlite3_column_double(st, col);
}

/* ---- opening ---- */

static int try_open(struct store *s, struct err *e)
{
	sqlite3_stmt *st = NULL;
	const char *found;
	int version = -1, rc = -1;

	if (sqlite3_open_v2(s->path, &s->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
		NULL) != SQLITE_OK)
		return err_set(e, "%s: %s", s->path, s->db ? sqlite3_errmsg(s->db) : "no memory");
	sqlite3_busy_timeout(s->db, 5000);
	if (sqlite3_exec(s->db,
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
		" PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON",
		NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &st, NULL) != SQLITE_OK)
		return db_error(s, e);
	if (sqlite3_step(st) == SQLITE_ROW)
		version = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	if (version == 0) {
		if (sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
		    sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK ||
		    sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
			return db_error(s, e);
		return 0;
	}
	if (version == 1) {
		if (sqlite3_exec(s->db, schema_1_to_2, NULL, NULL, NULL) != SQLITE_OK)
			return db_error(s, e);
		version = SCHEMA;
	}
	if (version != SCHEMA)
		return err_set(e, "%s: schema %d, this program reads %d", s->path, version, SCHEMA);
	if (sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &st, NULL) != SQLITE_OK)
		return db_error(s, e);
	found = sqlite3_step(st) == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0)
					       : sqlite3_errmsg(s->db);
	if (!strcmp(found, "ok"))
		rc = 0;
	else /* its first line only names the database */
		err_set(e, "%s: damaged: %.200s", s->path,
		    strchr(found, '\n') ? strchr(found, '\n') + 1 : found);
	sqlite3_finalize(st);
	/* Every statement must fit the tables that are there. */
	for (int q = 0; rc == 0 && q < NSQL; q++)
		if (!bind(s, (enum sql)q, e, ""))
			rc = -1;
	return rc;
}

static void shut(struct store *s)
{
	size_t i;

	for (i = 0; i < NSQL; i++) {
		sqlite3_finalize(s->stmt[i]);
		s->stmt[i] = NULL;
	}
	sqlite3_close(s->db);
	s->db = NULL;
}

static int move_aside(const char *path, struct err *e)
{
	static const char *const tail[] = {"", "-wal", "-shm"};
	char stamp[32], *from, *to;
	time_t now = time(NULL);
	struct tm tm;
	size_t i;
	int rc = 0;

	strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	for (i = 0; i < 3 && rc == 0; i++) {
		from = xasprintf("%s%s", path, tail[i]);
		to = xasprintf("%s.bad-%s%s", path, stamp, tail[i]);
		if (rename(from, to) && errno != ENOENT)
			rc = err_sys(e, "%s: cannot be moved aside", from);
		free(from);
		free(to);
	}
	return rc;
}

/* Whether another file would do better: not when this one is only locked,
 * unreadable or the disk is full. */
static bool hopeless(struct store *s)
{
	int rc = s->db ? sqlite3_errcode(s->db) : SQLITE_NOMEM;

	return rc != SQLITE_BUSY && rc != SQLITE_LOCKED && rc != SQLITE_CANTOPEN &&
	       rc != SQLITE_PERM && rc != SQLITE_READONLY && rc != SQLITE_FULL &&
	       rc != SQLITE_IOERR && rc != SQLITE_NOMEM && rc != SQLITE_AUTH;
}

struct store *store_open(const char *path, struct err *e)
{
	struct store *s = xcalloc(1, sizeof *s);
	struct err why;
	bool again;

	s->path = xstrdup(path);
	if (try_open(s, &why) == 0)
		return s;
	again = hopeless(s);
	shut(s);
	if (again) {
		log_warn("%s; moved aside, beginning a new store", why.text);
		if (move_aside(path, e) == 0 && try_open(s, e) == 0)
			return s;
		shut(s);
	} else {
		err_set(e, "%s", why.text);
	}
	free(s->path);
	free(s);
	return NULL;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	shut(s);
	free(s->path);
	free(s);
}

int store_begin(struct store *s, struct err *e)
{
	return run(s, bind(s, BEGIN, e, ""), e);
}

int store_commit(struct store *s, struct err *e)
{
	return run(s, bind(s, COMMIT, e, ""), e);
}

void store_rollback(struct store *s)
{
	if (!sqlite3_get_autocommit(s->db))
		run(s, bind(s, ROLLBACK, NULL, ""), NULL);
}

/* ---- accounting ---- */

int store_seen(struct store *s, uint64_t session, uint64_t seq, struct err *e)
{
	sqlite3_stmt *st = bind(s, SEEN, e, "ii", session, seq);
	int rc = run(s, st, e);

	if (rc == 1)
		sqlite3_reset(st);
	return rc;
}

int store_account(struct store *s, uint64_t session, uint64_t seq, int64_t at_ms,
    const struct accounting *a, struct err *e)
{
	if (s->accounted++ % 1000 == 0 &&
	    run(s, bind(s, FORGET_SEEN, e, "i", at_ms - SEEN_DAYS * INT64_C(86400000)), e))
		return -1;
	if (run(s, bind(s, MARK_SEEN, e, "iii", session, seq, at_ms), e))
		return -1;
	return run(s,
	    bind(s, ADD_ACCOUNTING, e, "iiiiiiii", a->taken, a->mapped, a->stale, a->dropped,
		a->kernel, a->no_build_id, a->no_artifact, a->no_block),
	    e);
}

int store_accounting(struct store *s, struct accounting *out, struct err *e)
{
	sqlite3_stmt *st = bind(s, GET_ACCOUNTING, e, "");
	uint64_t *field[] = {&out->batches, &out->taken, &out->mapped, &out->stale, &out->dropped,
	    &out->kernel, &out->no_build_id, &out->no_artifact, &out->no_block};
	int i, rc = run(s, st, e);

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
	struct hash128 h = hash_bytes(path, strlen(path));
	uint64_t id = hash_short(&h);

	return id ? id : 1; /* 0 stands for all modules */
}

const char *module_state_name(enum module_state m)
{
	static const char *const name[] = {"original", "laid-out", "held", "no-artifact", "gone"};

	return (unsigned)m <= MODULE_GONE ? name[m] : "unknown";
}

int store_put_module(struct store *s, const struct store_module *m, struct err *e)
{
	return run(s,
	    bind(s, PUT_MODULE, e, "itiittzziiiitiiidiidddi", m->id, m->path, (int64_t)m->uid,
		(int64_t)m->state, m->text ? m->text : "", m->artifact, &m->current, &m->origin,
		m->first_ms, m->last_ms, m->layout_ms, m->held_until_ms, m->held_why, m->mapped,
		m->stale, m->outside, m->outside_aged, m->outside_ms, (int64_t)m->predicted,
		m->gain, m->taken_before, m->taken_after, m->predicted_ms),
	    e);
}

int store_modules(struct store *s, uint64_t id, struct arena *a, struct store_module **out,
    size_t *n, struct err *e)
{
	sqlite3_stmt *st = bind(s, GET_MODULES, e, "i", id);
	VEC(struct store_module) v = {0};
	int rc;

	while ((rc = run(s, st, e)) == 1)
		vec_push(&v, (struct store_module){.id = (uint64_t)sqlite3_column_int64(st, 0),
				 .path = text_of(st, 1, a),
				 .uid = (uint32_t)sqlite3_column_int64(st, 2),
				 .state = sqlite3_column_int(st, 3),
				 .text = text_of(st, 4, a),
				 .artifact = text_of(st, 5, a),
				 .current = id_of(st, 6),
				 .origin = id_of(st, 7),
				 .first_ms = sqlite3_column_int64(st, 8),
				 .last_ms = sqlite3_column_int64(st, 9),
				 .layout_ms = sqlite3_column_int64(st, 10),
				 .held_until_ms = sqlite3_column_int64(st, 11),
				 .held_why = text_of(st, 12, a),
				 .mapped = (uint64_t)sqlite3_column_int64(st, 13),
				 .stale = (uint64_t)sqlite3_column_int64(st, 14),
				 .outside = (uint64_t)sqlite3_column_int64(st, 15),
				 .outside_aged = sqlite3_column_double(st, 16),
				 .outside_ms = sqlite3_column_int64(st, 17),
				 .predicted = sqlite3_column_int(st, 18),
				 .gain = sqlite3_column_double(st, 19),
				 .taken_before = sqlite3_column_double(st, 20),
				 .taken_after = sqlite3_column_double(st, 21),
				 .predicted_ms = sqlite3_column_int64(st, 22)});
	*n = v.n;
	*out = arena_array(a, v.n, sizeof **out);
	if (v.n)
		memcpy(*out, v.v, v.n * sizeof **out);
	vec_free(&v);
	return rc;
}

int store_drop_module(struct store *s, uint64_t id, struct err *e)
{
	return run(s, bind(s, DROP_MODULE, e, "i", id), e);
}

/* ---- builds ---- */

int store_put_build(struct store *s, const struct store_build *b, struct err *e)
{
	return run(s,
	    bind(s, PUT_BUILD, e, "izziiiib", b->module, &b->id, &b->origin, (int64_t)b->kind,
		(int64_t)b->state, b->made_ms, b->bytes, b->map, b->nmap),
	    e);
}

int store_set_build_state(
    struct store *s, uint64_t module, const struct build_id *id, int state, struct err *e)
{
	return run(s, bind(s, SET_BUILD_STATE, e, "izi", module, id, (int64_t)state), e);
}

int store_prune_builds(struct store *s, uint64_t module, unsigned keep, struct err *e)
{
	if (run(s, bind(s, PRUNE_BUILDS, e, "iii", module, (int64_t)BUILD_PAST, (int64_t)keep), e))
		return -1;
	return run(s, bind(s, PRUNE_TABLES, e, ""), e);
}

int store_builds(struct store *s, uint64_t module, const struct build_id *id, struct arena *a,
    struct store_build **out, size_t *n, struct err *e)
{
	sqlite3_stmt *st =
	    id ? bind(s, GET_BUILD, e, "iz", module, id) : bind(s, GET_BUILDS, e, "i", module);
	VEC(struct store_build) v = {0};
	struct store_build b;
	int rc;

	while ((rc = run(s, st, e)) == 1) {
		b = (struct store_build){.module = module,
		    .id = id_of(st, 0),
		    .origin = id_of(st, 1),
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
	*out = arena_array(a, v.n, sizeof **out);
	if (v.n)
		memcpy(*out, v.v, v.n * sizeof **out);
	vec_free(&v);
	return rc;
}

int store_put_table(
    struct store *s, const struct build_id *origin, const void *p, size_t n, struct err *e)
{
	return run(s, bind(s, PUT_TABLE, e, "zb", origin, p, n), e);
}

int store_table(struct store *s, const struct build_id *origin, struct buf *out, struct err *e)
{
	sqlite3_stmt *st = bind(s, GET_TABLE, e, "z", origin);
	int rc = run(s, st, e);

	if (rc == 1) {
		buf_add(out, sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0));
		sqlite3_reset(st);
	}
	return rc;
}

/* ---- profiles ---- */

/* A row as a function; a garbled one is left out. */
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

/* Adds what is of a function's form; it is as of its as_of_ms already. */
static void load_ways(sqlite3_stmt *st, struct profile_func *f)
{
	const uint8_t *edge = sqlite3_column_blob(st, 6), *call = sqlite3_column_blob(st, 7);
	int nedge = sqlite3_column_bytes(st, 6) / EDGE_SIZE;
	int ncall = sqlite3_column_bytes(st, 7) / CALL_SIZE;
	struct hash128 key;
	int i;

	for (i = 0; i < nedge; i++, edge += EDGE_SIZE)
		if (get_le32(edge) < f->nblock && get_le32(edge + 4) < f->nblock)
			profile_add_edge(f, get_le32(edge), get_le32(edge + 4),
			    get_real(edge + 8), f->as_of_ms, 1);
	for (i = 0; i < ncall; i++, call += CALL_SIZE) {
		memcpy(key.b, call + 4, sizeof key.b);
		if (get_le32(call) < f->nblock)
			profile_add_call(
			    f, get_le32(call), &key, get_real(call + 20), f->as_of_ms, 1);
	}
	f->dirty = false;
}

static void print_ways(const struct profile_func *f, struct buf *edges, struct buf *calls)
{
	size_t i;

	edges->n = calls->n = 0;
	for (i = 0; i < f->edge.n; i++) {
		buf_le32(edges, f->edge.v[i].block);
		buf_le32(edges, f->edge.v[i].to);
		put_real(edges, f->edge.v[i].n);
	}
	for (i = 0; i < f->call.n; i++) {
		buf_le32(calls, f->call.v[i].block);
		buf_add(calls, f->call.v[i].callee.b, sizeof f->call.v[i].callee.b);
		put_real(calls, f->call.v[i].n);
	}
}

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
		memcpy(f->block, blocks, n);
	for (i = 0; i < f->nblock; i++)
		if (!(f->block[i] >= 0) || !isfinite(f->block[i]))
			f->block[i] = 0;
	f->as_of_ms = sqlite3_column_int64(st, 4);
	load_ways(st, f);
}

int store_load_profile(
    struct store *s, uint64_t module, enum profile_kind kind, struct profile *p, struct err *e)
{
	sqlite3_stmt *st = bind(s, GET_PROFILE, e, "ii", module, (int64_t)kind);
	int rc;

	*p = (struct profile){0};
	while ((rc = run(s, st, e)) == 1)
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
		print_ways(f, &edges, &calls);
		rc = run(s,
		    bind(s, PUT_PROFILE, e, "iibtttibbb", module, (int64_t)kind, f->key.b,
			sizeof f->key.b, f->name, f->tu, f->opaque, f->as_of_ms, f->block,
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
	return run(s, bind(s, CLEAR_PROFILE, e, "ii", module, (int64_t)kind), e);
}

/* ---- decisions ---- */

static struct store_decision decision_of(sqlite3_stmt *st, struct arena *a)
{
	return (struct store_decision){.module = (uint64_t)sqlite3_column_int64(st, 1),
	    .path = text_of(st, 2, a),
	    .first_ms = sqlite3_column_int64(st, 3),
	    .last_ms = sqlite3_column_int64(st, 4),
	    .times = (uint64_t)sqlite3_column_int64(st, 5),
	    .verdict = sqlite3_column_int(st, 6),
	    .rung = sqlite3_column_int(st, 7),
	    .text = text_of(st, 8, a)};
}

/* An unchanged outcome of the ladder goes on in its row. */
static int put_decision_row(
    struct store *s, uint64_t module, int64_t at_ms, const struct decision *d, struct err *e)
{
	sqlite3_stmt *st = bind(s, LAST_DECISION, e, "i", module);
	int64_t id;
	int rc = run(s, st, e);
	bool same;

	if (rc < 0)
		return -1;
	if (rc == 1) {
		id = sqlite3_column_int64(st, 0);
		same = d->verdict == VERDICT_WAIT && sqlite3_column_int(st, 6) == (int)d->verdict &&
		       sqlite3_column_int(st, 7) == (int)d->rung;
		sqlite3_reset(st);
		if (same)
			return run(s, bind(s, REPEAT_DECISION, e, "iti", at_ms, d->text, id), e);
	}
	if (run(s,
		bind(s, NEW_DECISION, e, "iiiit", module, at_ms, (int64_t)d->verdict,
		    (int64_t)d->rung, d->text),
		e))
		return -1;
	return run(s, bind(s, PRUNE_DECISIONS, e, "ii", module, (int64_t)DECISIONS_KEPT), e);
}

int store_put_decision(
    struct store *s, uint64_t module, int64_t at_ms, const struct decision *d, struct err *e)
{
	const struct rung_step *p;
	int i;

	if (put_decision_row(s, module, at_ms, d, e))
		return -1;
	for (i = 1; i < RUNG_COUNT; i++) {
		p = &d->step[i];
		if (run(s,
			bind(s, PUT_RUNG, e, "iiiiddt", module, (int64_t)i, (int64_t)p->outcome,
			    (int64_t)p->numbers, p->value, p->limit, p->text),
			e))
			return -1;
	}
	return 0;
}

int store_decisions(struct store *s, uint64_t module, int64_t uid, size_t limit, struct arena *a,
    struct store_decision **out, size_t *n, struct err *e)
{
	sqlite3_stmt *st = bind(s, GET_DECISIONS, e, "iii", module, uid, (int64_t)limit);
	VEC(struct store_decision) v = {0};
	int rc;

	while ((rc = run(s, st, e)) == 1)
		vec_push(&v, decision_of(st, a));
	*n = v.n;
	*out = arena_array(a, v.n, sizeof **out);
	if (v.n)
		memcpy(*out, v.v, v.n * sizeof **out);
	vec_free(&v);
	return rc;
}

int store_last_decision(
    struct store *s, uint64_t module, struct arena *a, struct store_decision *out, struct err *e)
{
	sqlite3_stmt *st = bind(s, LAST_DECISION, e, "i", module);
	struct rung_step *p;
	const char *text;
	int rc = run(s, st, e), i;

	if (rc != 1)
		return rc;
	*out = decision_of(st, a);
	sqlite3_reset(st);
	out->step = arena_array(a, RUNG_COUNT, sizeof *out->step);
	st = bind(s, GET_RUNGS, e, "i", module);
	while ((rc = run(s, st, e)) == 1) {
		i = sqlite3_column_int(st, 0);
		if (i <= 0 || i >= RUNG_COUNT)
			continue;
		p = &out->step[i];
		p->outcome = (enum outcome)sqlite3_column_int(st, 1);
		p->numbers = sqlite3_column_int(st, 2);
		p->value = sqlite3_column_double(st, 3);
		p->limit = sqlite3_column_double(st, 4);
		text = (const char *)sqlite3_column_text(st, 5);
		snprintf(p->text, sizeof p->text, "%s", text ? text : "");
	}
	return rc ? -1 : 1;
}

/* ---- history ---- */

const char *event_name(enum event_kind k)
{
	static const char *const name[EVENT_KINDS] = {
	    "learned", "swapped", "rolled-back", "failed", "recovered", "replaced"};

	return (unsigned)k < EVENT_KINDS ? name[k] : "unknown";
}

int store_put_event(struct store *s, const struct store_event *v, struct err *e)
{
	if (run(s,
		bind(s, PUT_EVENT, e, "iiizzitdddii", v->module, v->at_ms, (int64_t)v->kind,
		    &v->from, &v->to, v->change, v->text ? v->text : "", v->samples, v->gain,
		    v->seconds, v->size_before, v->size_after),
		e))
		return -1;
	return run(s, bind(s, PRUNE_EVENTS, e, "ii", v->module, (int64_t)EVENTS_KEPT), e);
}

int store_events(struct store *s, uint64_t module, int64_t uid, size_t limit, struct arena *a,
    struct store_event **out, size_t *n, struct err *e)
{
	sqlite3_stmt *st = bind(s, GET_EVENTS, e, "iii", module, uid, (int64_t)limit);
	VEC(struct store_event) v = {0};
	int rc;

	while ((rc = run(s, st, e)) == 1)
		vec_push(&v, (struct store_event){.module = (uint64_t)sqlite3_column_int64(st, 0),
				 .path = text_of(st, 1, a),
				 .at_ms = sqlite3_column_int64(st, 2),
				 .kind = sqlite3_column_int(st, 3),
				 .from = id_of(st, 4),
				 .to = id_of(st, 5),
				 .change = (uint64_t)sqlite3_column_int64(st, 6),
				 .text = text_of(st, 7, a),
				 .samples = real_of(st, 8),
				 .gain = real_of(st, 9),
				 .seconds = real_of(st, 10),
				 .size_before = (uint64_t)sqlite3_column_int64(st, 11),
				 .size_after = (uint64_t)sqlite3_column_int64(st, 12)});
	*n = v.n;
	*out = arena_array(a, v.n, sizeof **out);
	if (v.n)
		memcpy(*out, v.v, v.n * sizeof **out);
	vec_free(&v);
	return rc;
}

int store_count_events(struct store *s, uint64_t module, enum event_kind kind, int64_t since_ms,
    uint64_t *n, struct err *e)
{
	sqlite3_stmt *st = bind(s, COUNT_EVENTS, e, "iii", module, (int64_t)kind, since_ms);
	int rc = run(s, st, e);

	if (rc != 1)
		return -1;
	*n = (uint64_t)sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	return 0;
}
