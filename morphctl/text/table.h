/*
 * Text for people: aligned columns, colours where somebody looks. Tables fit
 * TABLE_WIDTH columns; what is too long for that is cut in the column that
 * may be cut; after the last cell of its row such a column runs on.
 */
#ifndef MORPH_MORPHCTL_TABLE_H
#define MORPH_MORPHCTL_TABLE_H

#include "common/mem.h"

#include <stdbool.h>
#include <stdio.h>

enum { TABLE_WIDTH = 100, TABLE_COLUMNS = 10 };

enum paint { PLAIN, BOLD, DIM, GOOD, WARN, BAD };

/* Whether to colour what goes to stdout: a terminal, no NO_COLOR, TERM not
 * "dumb". */
bool table_colour(void);
/* Prints s in a colour, or plainly. */
void table_paint(FILE *out, bool colour, enum paint p, const char *s);

enum column_kind {
	LEFT,
	RIGHT,
	CUT,     /* left; loses its beginning when there is no room: paths */
	CUT_END, /* left; loses its end: names */
	WRAP     /* left; the last column, goes on in the next line */
};

struct column {
	const char *title;
	enum column_kind kind;
};

struct cell {
	const char *text; /* UTF-8; lives as long as the table. NULL = empty */
	enum paint paint;
};

struct table {
	const struct column *column;
	unsigned ncolumn; /* at most TABLE_COLUMNS */
	unsigned indent;
	bool whole; /* nothing is cut or wrapped, however long it is */
	VEC(struct table_row {
		struct cell cell[TABLE_COLUMNS];
		const char *note; /* one more line below the cells, wrapped; or NULL */
	})
	row;
};

/* Adds a row with a text (const char *, may be NULL) for each column; valid until the next is
 * added. */
struct table_row *table_row(struct table *t, ...);
void table_print(FILE *out, const struct table *t, bool colour);
/* Prints it to stdout, after an empty line, and frees it. */
void table_end(struct table *t, bool colour);
/* "  name      text", wrapped at TABLE_WIDTH with a hanging indent. */
void table_field(FILE *out, bool colour, const char *name, const char *text);
void table_free(struct table *t);

/* Columns that s takes, for UTF-8 of single width. */
unsigned text_width(const char *s);

#endif
