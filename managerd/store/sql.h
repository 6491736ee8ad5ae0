/*
 * The store's SQL, for this room alone: its statements, prepared once, bound
 * and stepped. The store is one SQLite file (schema in sql.c).
 */
#ifndef MORPH_MANAGERD_STORE_SQL_H
#define MORPH_MANAGERD_STORE_SQL_H

#include "common/hash.h"
#include "managerd/store/store.h"

#include <sqlite3.h>

enum sql {
#define S(name, text) name,
#include "managerd/store/statements.h"
#undef S
	NSQL
};

struct addresses_used {
	uint32_t uid;
	uint64_t bytes;
};

/* What is known of the tables of addresses without reading them. */
struct addresses_known {
	bool loaded;
	struct htab file; /* ids of files that are there, not all */
	struct htab user; /* uid -> index */
	VEC(struct addresses_used) used;
	uint64_t bytes; /* of all */
	uint64_t batches, batch_bytes;
	int64_t since_ms; /* the first of these batches */
	bool settling;    /* until there are none */
	int64_t idle_ms;  /* until when nothing else is to be done */
};

struct store {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *stmt[NSQL];
	uint64_t accounted;
	int log_pages, checkpoint_at; /* of the write-ahead log: it has; when the next is due */
	struct addresses_known addresses;
	int log; /* descriptor of the write-ahead log, -1 = not open yet */
};

/*
 * The statement, reset and bound; NULL on error: i int64, d double, t text or
 * NULL, b pointer and size_t, z const struct build_id *.
 */
sqlite3_stmt *sql_bind(struct store *s, enum sql q, struct err *e, const char *fmt, ...);
/* 1 a row, 0 no (more) row, -1 error, or that st is NULL. Resets at the end. */
int sql_run(struct store *s, sqlite3_stmt *st, struct err *e);
int sql_error(struct store *s, struct err *e); /* sets what SQLite says; -1 */

/* addresses.c: after a rollback. */
void addresses_forget(struct store *s);

/* Columns: a copy or NULL; an id of no bytes where it is none; NaN for NULL. */
const char *sql_text_of(sqlite3_stmt *st, int col, struct arena *a);
struct build_id sql_id_of(sqlite3_stmt *st, int col);
double sql_real_of(sqlite3_stmt *st, int col);

#endif
