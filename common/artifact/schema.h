/*
 * What artifact.c (reading), vfs.c (reading through SQLite) and write.c
 * share: the open file and its schema (docs/FORMATS.md
 * "Artifact").
 */
#ifndef MORPH_ARTIFACT_PARTS_H
#define MORPH_ARTIFACT_PARTS_H

#include "common/artifact/artifact.h"

#include <sqlite3.h>

/* The format before this one was the same without packs. */
enum { ARTIFACT_APPLICATION = 0x4d727068 /* "Mrph" */, UNPACKED_FORMAT = 2 };

enum table { META, TU, FUNC, INPUT, RECIPE, BLOCKMAP, PACK, TABLES };

/* By the text of its tables an artifact is known: any other schema is refused. */
struct art_table {
	const char *name, *create, *insert;
};
extern const struct art_table art_table[TABLES];

/* What a row of PACK holds. */
enum pack_form { FORM_BYTES = 1, FORM_TEXTS, FORM_FUNCTIONS, FORM_MAP, FORM_LIBRARY };
/* A z that begins with this, which no zstd frame does, names a pack and the offset in it. */
enum { REFERENCE = 0 };
/* The columns of FORM_FUNCTIONS, and how far they may be packed: they are loaded when it is opened.
 */
enum { PLACES, NAMES, OPAQUE, KEYS, BLOCKS, INSNS, FUNC_COLUMNS };
enum { FUNC_RATIO = 16 };

/* A pack that is being written. */
struct packing {
	struct buf b;
	int64_t id;
};

struct artifact {
	sqlite3 *db;
	char *path;
	int fd;            /* when reading; -1 */
	int64_t file_size; /* when it was opened */
	int64_t turns;     /* of artifact_connect() */
	bool small;        /* when writing; then also: */
	struct packing texts, others;
	struct buf func_column[FUNC_COLUMNS];
	uint32_t func_tu; /* of the last function */
	int64_t packs;
	bool packed;      /* when reading: it has packs; then also: */
	int64_t unpacked; /* whose content is in content, -1 = none */
	struct buf content;
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
