/*
 * The command line of a linker, one option at a time, and the tables of what a
 * link may be repeated with. Pure. Source, of GNU ld: its manual and --help of binutils
 * 2.40, and getopt_long_only(3), with which ld reads: long options take one
 * dash or two (those that begin with 'o' need two), a value follows '=' or is
 * the next argument, and a short option's value may be joined to it. Of gold (2.40), lld
 * (14) and mold (1.10), which read the same way: --help of each.
 *
 * The table is an allow-list: the hook writes a recipe (common/artifact/artifact.h)
 * with it, and the editor proves with it that every argument of a recipe is an
 * option that names no file but numbered inputs. Only exact spellings are in
 * it. What getopt takes beyond, abbreviations and several letters after one
 * dash, is LDOPT_UNKNOWN; so the table has all options of ld, also those that
 * are never repeated: an abbreviation is known by what it abbreviates. gold, lld and
 * mold take no abbreviations; they share a table of what real builds use, and in a recipe of
 * theirs each option has the one spelling of that table.
 */
#ifndef MORPH_LDOPT_H
#define MORPH_LDOPT_H

#include "common/command/linker.h"
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>

enum ldopt_kind {
	LDOPT_INPUT,   /* no option: a file, in value */
	LDOPT_KEEP,    /* repeated as it is */
	LDOPT_ENTRY,   /* -e: the same */
	LDOPT_LIBRARY, /* -l: value is the name as given */
	LDOPT_FOLDER,  /* -L */
	LDOPT_FILE,    /* value is a file that ld reads */
	LDOPT_SYMBOLS, /* -R: the same, or a folder as of -rpath */
	LDOPT_FORMAT,  /* -b: how the inputs after it are read */
	LDOPT_OUTPUT,  /* -o; this and all below are in no recipe */
	LDOPT_MAP,     /* -Map: value; -M: no value */
	LDOPT_DEPENDENCY_FILE,
	LDOPT_RELOCATABLE,
	LDOPT_SYSROOT,
	LDOPT_BUILD_ID,
	LDOPT_DROP,    /* of no meaning for a second link: plugin, side outputs */
	LDOPT_INQUIRY, /* ld prints something and links nothing */
	LDOPT_REFUSED, /* known, and a link with it cannot be repeated */
	LDOPT_UNKNOWN  /* not in the table: one argument */
};

/* What an operand is. */
enum ldopt_operand {
	LDARG_NONE,
	LDARG_NUMBER,
	LDARG_SYMBOL,  /* symbol, section or expression: no '/', blank or quote */
	LDARG_WORD,    /* one of words; one that ends in '=' goes on without '/' */
	LDARG_TEXT,    /* a name for run time, which is not opened, or any text: printable */
	LDARG_LIBRARY, /* name of a library, no '/' */
	LDARG_FOLDER,  /* in a recipe "=/absolute": below the sysroot */
	LDARG_FILE,    /* in a recipe "@N" */
	LDARG_ANY      /* of what is never repeated */
};

struct ldopt {
	enum ldopt_kind kind;
	enum ldopt_operand operand;
	const char *words; /* of LDARG_WORD, blanks between */
	/* With its dashes, without value: "--wrap", "-T"; of GNU ld as given, of others as the
	 * table has it. */
	const char *name;
	size_t name_n;     /* bytes of the name */
	const char *value; /* NULL = none */
	size_t first, n;   /* the arguments it takes up */
	bool is_long;      /* NAME=VALUE is understood */
	bool optional;     /* the value may be absent */
};

/* Reads the option at arg[*i] of n as this linker does and moves *i after it. False at the end.
 * What o points to lives in arg or is static. */
bool ldopt_next(enum linker linker, const char *const *arg, size_t n, size_t *i, struct ldopt *o);

/* Is it this long option, NAME without dashes? */
bool ldopt_is(const struct ldopt *o, const char *name);

/* What must be known before the link. */
struct ldcmd {
	const char *output; /* "a.out" when none is named */
	const char *map;    /* the user's -Map, NULL = none */
	bool map_stdout;    /* -M */
	const char *dependency_file;
	const char *sysroot;
	const char *emulation; /* -m */
	bool relocatable, inquiry;
	bool gc;            /* --gc-sections */
	const char *plugin; /* the last, with which it reads more than machine code */
	size_t inputs;      /* files and libraries */
};
void ldcmd_read(struct ldcmd *c, enum linker linker, const char *const *arg, size_t n);

/* In a recipe: the program has no build-id. */
#define RECIPE_UNNAMED "--build-id=none"
/* And before an absolute folder, of its sysroot, where that was not the root. */
#define RECIPE_SYSROOT "--sysroot="

/*
 * Is this a recipe of this linker: every argument an option of its table with an operand of
 * its kind, one of the above, or "@N", N below inputs? Then ld, given these arguments below
 * --sysroot, opens the inputs and what their names lead to (libraries by -l
 * and DT_NEEDED, also along -rpath; scripts: common/command/ldscript.h), and writes
 * nothing but its output. The error names the option. Joined operands are
 * accepted of -l, -L, -m, -O and -z only: those of other letters might be
 * read as an abbreviation by another version of ld; and none of the long names
 * that begin with 'c' with one dash, which it might read as -c. No argument other than an
 * option begins with '-', and none at all is a literal that begins with '@'. Of other linkers than
 * GNU ld: long names with two dashes and their operand after '=', -l, -L and -O joined, -m and
 * -z not.
 */
int recipe_check(
    enum linker linker, const char *const *arg, size_t n, size_t inputs, struct err *e);

/* Why an input of this name cannot be linked again, or NULL: lists of names end at
 * line ends, and ':' separates the folders of shared libraries. */
const char *recipe_name_fault(const char *name, bool shared);

#endif
