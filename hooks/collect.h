/*
 * The inputs of a finished link: every file that ld opened, numbered as the
 * artifact numbers them, archives opened up into the members that were linked.
 */
#ifndef MORPH_COLLECT_H
#define MORPH_COLLECT_H

#include "common/artifact/artifact.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/publish.h"
#include "hooks/linkmap.h"
#include "hooks/recipe.h"

struct input {
	uint32_t kind;     /* enum art_input_kind; an object may turn out a TU later */
	const char *path;  /* as in struct art_input */
	const char *file;  /* where the bytes are: the object, or the archive it lies in */
	int64_t archive;   /* as in struct art_input */
	size_t at, size;   /* of a member in file; size 0 and at 0 = the whole file */
	char *content;     /* NULL: that of file */
	const char *named; /* as the command line calls it, NULL = not there by path */
};

struct collection { /* zero-filled = empty */
	VEC(struct input) input;
	struct htab by_path;       /* absolute path -> number */
	struct htab use;           /* absolute path -> enum recipe_use, where it is not LINKED */
	const struct args *opened; /* as ld named them; outlives this */
	struct args path;          /* of each of opened, absolute */
	const struct linkmap *map; /* NULL = not known: archives stay whole */
	struct htab map_path;      /* the map's files, with absolute paths */
	struct htab thin;          /* absolute paths of members of thin archives */
	size_t normalised;         /* how many of them are in map_path */
	const char *cached;        /* the file whose bytes are in cache */
	struct file_map cache;
	/* Of link-time optimisation. */
	const char *ltrans; /* folder of what it made, NULL = none; not where the user keeps that */
	const char *output; /* of the link: what they are named after */
	bool plugin;        /* the linker had a plugin, which takes objects for itself */
	bool optimised;     /* and it made others */
	struct htab
	    claimed; /* absolute paths of objects of which they were made, members as in map_path */
	VEC(int64_t) made; /* their numbers, in the order of the link */
	struct arena mem;
};

/* Before collect: how this file is used. */
void collect_expect(struct collection *c, const char *path, enum recipe_use use);

/* Numbers all of opened. Fails on what speaks against an artifact: an input
 * that is gone or no file, one whose code is not machine code (LTO that left no
 * objects), or one whose name cannot be repeated. */
int collect(
    struct collection *c, const struct args *opened, const struct linkmap *map, struct err *e);

/* The number of a file, added when it is new; -1 when there is no such file, RECIPE_CLAIMED for
 * one of which ltrans was made, RECIPE_UNUSED for an object that was not linked. */
int64_t collect_file(struct collection *c, const char *path);

struct input_bytes {
	char *p;
	size_t n;
};
/* The bytes of an input as the linker saw them, valid until the next call; what is written there
 * does not reach the file. */
int collect_bytes(
    struct collection *c, const struct input *in, struct input_bytes *out, struct err *e);

#endif
