/*
 * Schema 12. Build-ids are blobs, ids of modules module_id() as a signed
 * number, profile.blocks little-endian doubles, one per block; profile.edges
 * u32 block, u32 to, double each (block + 2^31: of those that came from `to`;
 * 2^32 - 1: unresolved), profile.calls u32 block, 16 bytes function key, double
 * each. Older schemas are brought up when they are opened: 1 has neither of these
 * two, in 2 the modules shared the function tables of their originals, in 3 ids were
 * XXH3 of the path, and modules without the sum of their samples, in 4 without what was fetched, in
 * 5 without trials, in 6 with another ladder, in 7 without squares of samples' weights, in 8
 * without addresses (addresses.h), in 9 without calls: addresses.data as packed.h says,
 * addresses.calls as calls.h does; address_batches.data for each file of a batch its id (8 bytes),
 * uleb: samples, uleb: bytes, and so many of packed.h, address_batches.calls for each that was
 * called its id, uleb: bytes, and so many of calls.h; in 10 without what cannot be lifted, and
 * without lists, in 11 without gains of trials that are over.
 */
#include "managerd/store/sql.h"
#include "common/publish.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SCHEMA = 12 };

#define TRIALS \
	"CREATE TABLE trials (module INTEGER PRIMARY KEY REFERENCES modules, old BLOB NOT NULL," \
	" new BLOB NOT NULL, began_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL," \
	" verdict INTEGER NOT NULL, promised REAL, model REAL, data BLOB NOT NULL);"

#define GAINS \
	"CREATE TABLE gains (id INTEGER PRIMARY KEY, module INTEGER NOT NULL REFERENCES modules," \
	" at_ms INTEGER NOT NULL, cpu INTEGER NOT NULL, insns_before REAL NOT NULL," \
	" taken_before REAL NOT NULL, lines_before REAL NOT NULL, insns_after REAL NOT NULL," \
	" taken_after REAL NOT NULL, lines_after REAL NOT NULL, gain REAL NOT NULL," \
	" sd REAL NOT NULL); CREATE INDEX gains_of ON gains (module, id);"

#define ADDRESSES \
	"CREATE TABLE address_files (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL," \
	" uid INTEGER NOT NULL, pid INTEGER NOT NULL, build BLOB NOT NULL, path TEXT NOT NULL," \
	" periods INTEGER NOT NULL);" \
	"CREATE TABLE address_batches (id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL," \
	" period_ns INTEGER NOT NULL, data BLOB NOT NULL);" \
	"CREATE TABLE addresses (id INTEGER PRIMARY KEY, span INTEGER NOT NULL," \
	" begin_s INTEGER NOT NULL, file INTEGER NOT NULL, samples INTEGER NOT NULL," \
	" ns INTEGER NOT NULL, bytes INTEGER NOT NULL, data BLOB NOT NULL);" \
	"CREATE INDEX addresses_at ON addresses (span, begin_s, file, samples, ns, bytes);"

#define CALLS \
	"ALTER TABLE addresses ADD COLUMN calls BLOB NOT NULL DEFAULT x'';" \
	"ALTER TABLE address_batches ADD COLUMN calls BLOB NOT NULL DEFAULT x'';"

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
    " predicted_ms INTEGER NOT NULL, samples REAL NOT NULL DEFAULT 0,"
    " samples_ms INTEGER NOT NULL DEFAULT 0, fetch_ms INTEGER NOT NULL DEFAULT 0,"
    " fetch_tries INTEGER NOT NULL DEFAULT 0, fetch_why TEXT, gain_low REAL, gain_high REAL,"
    " gain_missed REAL NOT NULL DEFAULT 0, gain_samples REAL NOT NULL DEFAULT 0,"
    " squares REAL NOT NULL DEFAULT 0, lift_why TEXT, list INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE builds (module INTEGER NOT NULL REFERENCES modules, id BLOB NOT NULL,"
    " origin BLOB NOT NULL, kind INTEGER NOT NULL, state INTEGER NOT NULL,"
    " made_ms INTEGER NOT NULL, bytes INTEGER NOT NULL, map BLOB NOT NULL,"
    " PRIMARY KEY (module, id));"
    "CREATE TABLE tables (module INTEGER NOT NULL REFERENCES modules, origin BLOB NOT NULL,"
    " data BLOB NOT NULL, PRIMARY KEY (module, origin));"
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
    "CREATE INDEX events_when ON events (kind, at_ms, module);" TRIALS ADDRESSES CALLS GAINS
    "PRAGMA user_version = 12;";

static const char schema_1_to_2[] =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE profile ADD COLUMN edges BLOB NOT NULL DEFAULT x'';"
    "ALTER TABLE profile ADD COLUMN calls BLOB NOT NULL DEFAULT x'';"
    "PRAGMA user_version = 2;"
    "COMMIT";

static const char schema_2_to_3[] =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE tables RENAME TO shared;"
    "CREATE TABLE tables (module INTEGER NOT NULL REFERENCES modules, origin BLOB NOT NULL,"
    " data BLOB NOT NULL, PRIMARY KEY (module, origin));"
    "INSERT INTO tables SELECT DISTINCT b.module, s.origin, s.data FROM builds b"
    " JOIN shared s ON s.origin = b.origin;"
    "DROP TABLE shared;"
    "CREATE INDEX events_when ON events (kind, at_ms, module);"
    "PRAGMA user_version = 3;"
    "COMMIT";

#define NEW_ID(table) \
	"UPDATE " table " SET module = module_id(m.path) FROM modules m" \
	" WHERE m.id = " table ".module;"

static const char schema_3_to_4[] =
    "BEGIN IMMEDIATE;"
    "PRAGMA defer_foreign_keys = ON;" NEW_ID("builds") NEW_ID("tables") NEW_ID("profile")
	NEW_ID("decisions") NEW_ID("rungs")
	    NEW_ID("events") "UPDATE modules SET id = module_id(path);"
			     "ALTER TABLE modules ADD COLUMN samples REAL NOT NULL DEFAULT 0;"
			     "ALTER TABLE modules ADD COLUMN samples_ms INTEGER NOT NULL DEFAULT 0;"
			     "PRAGMA user_version = 4;"
			     "COMMIT";

static const char schema_4_to_5[] =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE modules ADD COLUMN fetch_ms INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE modules ADD COLUMN fetch_tries INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE modules ADD COLUMN fetch_why TEXT;"
    "PRAGMA user_version = 5;"
    "COMMIT";

static const char schema_5_to_6[] = "BEGIN IMMEDIATE;" TRIALS "PRAGMA user_version = 6;"
				    "COMMIT";

/* The third rung and the fifth became one with the sixth. */
static const char schema_6_to_7[] =
    "BEGIN IMMEDIATE;"
    "UPDATE decisions SET rung = CASE rung WHEN 3 THEN 5 WHEN 5 THEN 5 ELSE rung - 1 END"
    " WHERE rung >= 3;"
    "DELETE FROM rungs WHERE rung = 3;"
    "UPDATE rungs SET rung = 1 - rung WHERE rung > 3;"
    "UPDATE rungs SET rung = -rung WHERE rung < 0;"
    "ALTER TABLE modules ADD COLUMN gain_low REAL;"
    "ALTER TABLE modules ADD COLUMN gain_high REAL;"
    "ALTER TABLE modules ADD COLUMN gain_missed REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE modules ADD COLUMN gain_samples REAL NOT NULL DEFAULT 0;"
    "PRAGMA user_version = 7;"
    "COMMIT";

static const char schema_7_to_8[] =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE modules ADD COLUMN squares REAL NOT NULL DEFAULT 0;"
    "UPDATE modules SET squares = samples;"
    "PRAGMA user_version = 8;"
    "COMMIT";

static const char schema_8_to_9[] = "BEGIN IMMEDIATE;" ADDRESSES "PRAGMA user_version = 9;"
				    "COMMIT";

static const char schema_9_to_10[] = "BEGIN IMMEDIATE;" CALLS "PRAGMA user_version = 10;"
				     "COMMIT";

static const char schema_10_to_11[] =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE modules ADD COLUMN lift_why TEXT;"
    "ALTER TABLE modules ADD COLUMN list INTEGER NOT NULL DEFAULT 0;"
    "PRAGMA user_version = 11;"
    "COMMIT";

static const char schema_11_to_12[] = "BEGIN IMMEDIATE;" GAINS "PRAGMA user_version = 12;"
				      "COMMIT";

/* By the version they begin with. */
static const char *const upgrade[SCHEMA] = {NULL, schema_1_to_2, schema_2_to_3, schema_3_to_4,
    schema_4_to_5, schema_5_to_6, schema_6_to_7, schema_7_to_8, schema_8_to_9, schema_9_to_10,
    schema_10_to_11, schema_11_to_12};

static const char *const sql_text[NSQL] = {
#define S(name, text) [name] = text,
#include "managerd/store/statements.h"
#undef S
};

/* ---- statements ---- */

/* Says what SQLite says. */
int sql_error(struct store *s, struct err *e)
{
	return err_set(e, "%s: %s", s->path, sqlite3_errmsg(s->db));
}

sqlite3_stmt *sql_bind(struct store *s, enum sql q, struct err *e, const char *fmt, ...)
{
	const struct build_id *id;
	const void *p;
	sqlite3_stmt *st;
	va_list ap;
	int i, rc = SQLITE_OK;

	/* Blobs are not copied: whoever binds one steps before it dies. */
	if (!s->stmt[q] && sqlite3_prepare_v3(s->db, sql_text[q], -1, SQLITE_PREPARE_PERSISTENT,
			       &s->stmt[q], NULL) != SQLITE_OK) {
		sql_error(s, e);
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
			    st, i, p ? p : "", va_arg(ap, size_t), SQLITE_STATIC);
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
	sql_error(s, e);
	return NULL;
}

int sql_run(struct store *s, sqlite3_stmt *st, struct err *e)
{
	int rc;

	if (!st)
		return -1;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		sql_error(s, e);
	sqlite3_reset(st);
	return rc == SQLITE_DONE ? 0 : -1;
}

const char *sql_text_of(sqlite3_stmt *st, int col, struct arena *a)
{
	const char *t = (const char *)sqlite3_column_text(st, col);

	return t ? arena_strdup(a, t) : NULL;
}

struct build_id sql_id_of(sqlite3_stmt *st, int col)
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

double sql_real_of(sqlite3_stmt *st, int col)
{
	return sqlite3_column_type(st, col) == SQLITE_NULL ? NAN : sqlite3_column_double(st, col);
}

/* ---- the log ---- */

int store_log(struct store *s)
{
	char *path;

	if (s->log < 0) {
		path = xasprintf("%s-wal", s->path);
		s->log = open(path, O_RDONLY | O_CLOEXEC);
		free(path);
	}
	return s->log;
}

int store_sync(struct store *s, struct err *e)
{
	return fdatasync(store_log(s)) ? err_sys(e, "%s-wal", s->path) : 0;
}

/* Pages of the log: a checkpoint is due at each, and made at once beyond. */
enum { CHECKPOINT_PAGES = 1000, LOG_PAGES_MAX = 16000 };

static int committed(void *arg, sqlite3 *db, const char *name, int pages)
{
	struct store *s = arg;

	if (pages < s->log_pages) /* it began from its front */
		s->checkpoint_at = CHECKPOINT_PAGES;
	s->log_pages = pages;
	if (pages >= LOG_PAGES_MAX)
		sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return SQLITE_OK;
}

bool store_checkpoint_due(struct store *s)
{
	if (s->log_pages < s->checkpoint_at)
		return false;
	s->checkpoint_at = s->log_pages + CHECKPOINT_PAGES;
	return true;
}

int store_checkpoint(const char *path, struct err *e)
{
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc == SQLITE_OK) /* a connection finds the log when it first reads */
		rc = sqlite3_exec(db, "PRAGMA schema_version", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	if (rc != SQLITE_OK)
		err_set(e, "%s: checkpoint: %s", path, db ? sqlite3_errmsg(db) : "no memory");
	sqlite3_close(db);
	return rc == SQLITE_OK ? 0 : -1;
}

/* ---- opening ---- */

static void sql_module_id(sqlite3_context *c, int n, sqlite3_value **v)
{
	const char *path = (const char *)sqlite3_value_text(v[0]);

	if (path)
		sqlite3_result_int64(c, (int64_t)module_id(path));
}

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
	sqlite3_wal_hook(s->db, committed, s);
	s->checkpoint_at = CHECKPOINT_PAGES;
	if (sqlite3_exec(s->db,
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
		" PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA cache_size = -4096",
		NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_create_function(s->db, "module_id", 1,
		SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, sql_module_id, NULL,
		NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &st, NULL) != SQLITE_OK)
		return sql_error(s, e);
	if (sqlite3_step(st) == SQLITE_ROW)
		version = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	if (version == 0) {
		if (sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
		    sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK ||
		    sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
			return sql_error(s, e);
		return 0;
	}
	for (; version > 0 && version < SCHEMA; version++)
		if (sqlite3_exec(s->db, upgrade[version], NULL, NULL, NULL) != SQLITE_OK)
			return sql_error(s, e);
	if (version != SCHEMA)
		return err_set(e, "%s: schema %d, this program reads %d", s->path, version, SCHEMA);
	if (sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &st, NULL) != SQLITE_OK)
		return sql_error(s, e);
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
		if (!sql_bind(s, (enum sql)q, e, ""))
			rc = -1;
	return rc;
}

static void shut(struct store *s)
{
	size_t i;

	addresses_forget(s);
	for (i = 0; i < NSQL; i++) {
		sqlite3_finalize(s->stmt[i]);
		s->stmt[i] = NULL;
	}
	sqlite3_close(s->db);
	s->db = NULL;
	fd_close(&s->log);
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
	s->log = -1;
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
	return sql_run(s, sql_bind(s, BEGIN, e, ""), e);
}

int store_commit(struct store *s, struct err *e)
{
	return sql_run(s, sql_bind(s, COMMIT, e, ""), e);
}

void store_rollback(struct store *s)
{
	addresses_forget(s);
	if (!sqlite3_get_autocommit(s->db))
		sql_run(s, sql_bind(s, ROLLBACK, NULL, ""), NULL);
}
