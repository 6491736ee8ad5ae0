/*
 * Rows of an artifact that is read: the type and range of every column are checked here, once.
 */
#ifndef MORPH_ARTIFACT_ROWS_H
#define MORPH_ARTIFACT_ROWS_H

#include "common/artifact/schema.h"

enum { NAME_MAX_BYTES = 1 << 16 };

/* The row at hand. What is wrong with it is noted, and the first error of all is said. */
struct reader {
	struct artifact *a;
	sqlite3_stmt *st;
	const char *table;
	void *arg; /* of the query */
	struct err *e;
	bool bad;
};

/* Rows of a table; sql may ask for two numbers. */
struct query {
	const char *table, *sql;
	int64_t from, to;
	void (*row)(struct reader *);
	void *arg;
};

/* How many they are, or -1. */
int read_rows(struct artifact *a, const struct query *q, struct err *e);
/* The one that there must be. */
int read_row(struct artifact *a, const struct query *q, struct err *e);

void refuse(struct reader *r, const char *what);
/* Counts bytes that were read. Pages and cells that a damaged file names again
 * and again give more than the file holds. */
bool spend(struct reader *r, size_t n);

/* Of column i; after refuse() some value of that type. */
int64_t col_int(struct reader *r, int i, int64_t min, int64_t max);
int64_t col_int_or_null(struct reader *r, int i, int64_t max); /* -1 = NULL */
int64_t col_id(struct reader *r, int i); /* of the program's rows: 0, 1, … */
/* A text without NUL inside, copied to the artifact's memory. */
const char *col_text(struct reader *r, int i);
const void *col_blob(struct reader *r, int i, size_t *n); /* until the next row */
struct hash128 col_hash(struct reader *r, int i);

/* The id of the program's first row, and of the next one's. */
int64_t rows_begin(const struct artifact *a);
int64_t rows_end(const struct artifact *a);

#endif
