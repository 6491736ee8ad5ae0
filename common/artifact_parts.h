/*
 * What artifact.c (reading) and artifact_write.c share: the open file and its
 * schema (docs/FORMATS.md "Artifact").
 */
#ifndef MORPH_ARTIFACT_PARTS_H
#define MORPH_ARTIFACT_PARTS_H

#include "common/artifact.h"

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
	int64_t file_size;
	sqlite3_stmt *insert[TABLES]; /* when writing */
	struct arena mem;
	struct art_meta meta;
	VEC(struct art_tu) tu;
	VEC(struct art_func) func;
	VEC(struct art_input) input;
	VEC(const char *) recipe;
};

/* Says what SQLite has against the file. Returns -1. */
int artifact_db_error(struct artifact *a, struct err *e);
/* Closes and frees, in whatever state it is. */
void artifact_release(struct artifact *a);

#endif
