/*
 * What artifact.c (reading), vfs.c (reading through SQLite) and write.c
 * share: the open file and its schema (docs/FORMATS.md
 * "Artifact").
 */
#ifndef MORPH_ARTIFACT_PARTS_H
#define MORPH_ARTIFACT_PARTS_H

#include "common/artifact/artifact.h"

#include <sqlite3.h>

enum { ARTIFACT_APPLICATION = 0x4d727068 /* "Mrph" */ };

enum table { META, TU, FUNC, INPUT, RECIPE, BLOCKMAP, TABLES };

/* By the text of its tables an artifact is known: any other schema is refused. */
struct art_table {
	const char *name, *create, *insert;
};
extern const struct art_table art_table[TABLES];

struct artifact {
	sqlite3 *db;
	char *path;
	int fd;                       /* when reading; -1 */
	int64_t file_size;            /* when it was opened */
	int64_t turns;                /* of artifact_connect() */
	bool small;                   /* when writing */
	uint64_t spent;               /* bytes of the rows that were read */
	sqlite3_stmt *insert[TABLES]; /* when writing */
	struct arena mem;
	struct art_meta meta;
	VEC(struct art_tu) tu;
	VEC(struct art_func) func;
	VEC(struct art_input) input;
	VEC(const char *) recipe;
};

/*
 * Opens a->db over a->fd, which has file_size bytes. No other file is looked
 * for or opened, nothing is written, locked or mapped. SQLite interrupts itself
 * when all statements together have taken more steps than a file of that size
 * has use for, until the progress handler is taken off.
 */
int artifact_connect(struct artifact *a, struct err *e);
/* Says what SQLite has against the file. Returns -1. */
int artifact_db_error(struct artifact *a, struct err *e);
/* Closes and frees, in whatever state it is. */
void artifact_release(struct artifact *a);

#endif
