/*
 * The command line of GNU ld, one option at a time. Pure. Source: ld's manual
 * and --help of binutils 2.40, and getopt_long_only(3), with which ld reads:
 * long options take one dash or two (those that begin with 'o' need two), a
 * value follows '=' or is the next argument, and a short option's value may
 * be joined to it. What the table does not know is one argument of its own.
 */
#ifndef MORPH_LDOPT_H
#define MORPH_LDOPT_H

#include "hooks/args.h"

#include <stdbool.h>

enum ldopt_kind {
	LDOPT_INPUT,     /* no option: a file, in value */
	LDOPT_KEEP,      /* changes the output or nothing: one or two arguments */
	LDOPT_UNKNOWN,   /* not in the table: one argument */
	LDOPT_LIBRARY,   /* -l: value is the name as given */
	LDOPT_FOLDER,    /* -L */
	LDOPT_FILE,      /* value is a file that ld reads */
	LDOPT_FORMAT,    /* -b: how the inputs behind it are read */
	LDOPT_OUTPUT,    /* -o */
	LDOPT_MAP,       /* -Map: value; -M: no value */
	LDOPT_DEPENDENCY_FILE,
	LDOPT_RELOCATABLE,
	LDOPT_SYSROOT,
	LDOPT_BUILD_ID,
	LDOPT_DROP,      /* of no meaning for a second link: plugin, side outputs */
	LDOPT_INQUIRY    /* ld prints something and links nothing */
};

struct ldopt {
	enum ldopt_kind kind;
	const char *name;  /* with its dashes as given, without value: "--wrap", "-T"; of the list */
	size_t name_n;     /* bytes of the name */
	const char *value; /* NULL = none */
	size_t first, n;   /* the arguments it takes up */
	bool is_long;      /* NAME=VALUE is understood */
};

/* Reads the option at arg->v[*i] and moves *i behind it. False at the end.
 * What o points to lives in arg. */
bool ldopt_next(const struct args *arg, size_t *i, struct ldopt *o);

/* What must be known before the link. */
struct ldcmd {
	const char *output;   /* "a.out" when none is named */
	const char *map;      /* the user's -Map, NULL = none */
	bool map_stdout;      /* -M */
	const char *dependency_file;
	const char *sysroot;
	const char *emulation; /* -m */
	bool relocatable, inquiry;
	bool fixed_build_id;  /* --build-id=0xHEX: the same for every build */
	size_t inputs;        /* files and libraries */
};
void ldcmd_read(struct ldcmd *c, const struct args *arg);

#endif
