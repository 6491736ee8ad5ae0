/*
 * What artifact.c (reading), vfs.c (reading through SQLite) and write.c
 * share: the open file and its schema (docs/FORMATS.md
 * "Artifact").
 */
#ifndef MORPH_ARTIFACT_PARTS_H
#define MORPH_ARTIFACT_PARTS_H

#include "common/artifact/artifact.h"

#include <sqlite3.h>

/* The formats before this one were the same without packs, and then of one program alone. */
enum { ARTIFACT_APPLICATION = 0x4d727068 /* "Mrph" */, UNPACKED_FORMAT = 2, SINGLE_FORMAT = 3 };
/* The ids of program N's rows are N << PROGRAM_SHIFT and more. */
enum { PROGRAM_SHIFT = 24, ROWS_MAX = 1 << PROGRAM_SHIFT, PROGRAMS_MAX = 1 << 12 };
/* Content beyond this begins another pack: what is read of one is unpacked as a whole. */
enum { PACK_FULL = 4 << 20 };

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

/* A pack that was read; its content is freed where nothing is of late. */
struct unpacked {
	int64_t id;
	struct buf content;
};
/* Units of several programs lie in packs in turn. */
enum { UNPACKED = 8 };

struct artifact {
	sqlite3 *db;
	char *path;
	int fd;            /* when reading; -1 */
	int64_t file_size; /* when it was opened */
	int64_t turns;     /* of artifact_connect() */
	bool small;        /* when writing; then also: */
	struct packing texts, others;
	struct buf func_column[FUNC_COLUMNS];
	uint64_t func_tu; /* of the last function */
	int64_t packs;
	struct htab content; /* by hash -> where it is in the packs */
	struct htab home;    /* of units, by hash -> the first program with it */
	VEC(bool) elsewhere; /* by unit of the current one: its functions are with another */
	int64_t format;      /* when reading; where that has packs also: */
	VEC(struct unpacked) unpacked; /* at most UNPACKED, the last read first */
	uint64_t spent;                /* bytes of the rows that were read */
	sqlite3_stmt *insert[TABLES];  /* when writing */
	struct arena mem;
	VEC(struct art_meta) program; /* when reading */
	uint32_t current;             /* whose tables these are, or are written */
	uint32_t programs;
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
