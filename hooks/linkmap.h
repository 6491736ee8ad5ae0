/*
 * What a linker wrote about a link. Pure readers.
 *
 * Dependency file (--dependency-file): of GNU ld and gold "OUTPUT: \" and then, two spaces
 * before each and " \" after each but the last, every file that was opened,
 * in order, some of them several times; names are not quoted. A blank line
 * ends the list, and "NAME:" follows for each, with blank lines between. Of lld and mold
 * these lines are read; lld has '\' before blanks and '#', and "$$" for '$'.
 *
 * Map (-Map), of GNU ld and gold: input sections come as "0xADDRESS 0xSIZE FILE" after at least
 * one space, where FILE is a path or, for a member of an archive,
 * "ARCHIVE(MEMBER)"; members of thin archives come as plain paths. The list at
 * its head names members once more, at the start of a line, and after each, on its line or the
 * next, "FILE (SYMBOL)" or "FILE (symbol from plugin) (SYMBOL)" for why it was taken. Of lld and
 * mold: a head with the names of columns, of which In has "FILE:(SECTION)", FILE as above; members
 * of thin archives are "ARCHIVE(MEMBER)" as well.
 *
 * Extracted members (lld's --why-extract): a head, and three columns with tabs between: FILE that
 * referred, FILE, symbol.
 */
#ifndef MORPH_LINKMAP_H
#define MORPH_LINKMAP_H

#include "common/command/linker.h"
#include "common/hash.h"
#include "hooks/args.h"

#include <stdbool.h>
#include <stddef.h>

/* Adds the files in order, each once. */
void depfile_read(enum linker linker, const char *text, size_t n, struct args *out);

struct linkmap {
	struct htab file;  /* every FILE of the map */
	struct args files; /* the same, in order of appearance */
	/* Of each member that the head of a map or lld's list names: its name, FILE that referred
	 * to it, and the symbol. */
	struct args member, by, symbol;
};

void linkmap_read(struct linkmap *m, const char *text, size_t n);
void linkmap_read_extracted(struct linkmap *m, const char *text, size_t n);
/* Whether the link took the file; member NULL: a file of its own. */
bool linkmap_has(const struct linkmap *m, const char *path, const char *member);
void linkmap_free(struct linkmap *m);

#endif
