/*
 * A command of clang's that makes one object of one source, in two steps. Clang runs itself a
 * second time where it is followed by an assembler, and that takes as long as a small unit; asked
 * for the text alone it does not (clang 14, Driver::BuildJobs). Pure.
 */
#ifndef MORPH_UNITCMD_H
#define MORPH_UNITCMD_H

#include "hooks/args.h"

#include <stdbool.h>

struct unitcmd {
	struct args text; /* to clang, without its name: the assembly text on standard output */
	char *output;     /* the object */
};

/* arg: expanded, without argv[0]. False, and nothing to free: it is another kind of command, or
 * has an option that may name or make a file by the output's name, or that is not known. */
bool unitcmd_read(struct unitcmd *u, const struct args *arg);
void unitcmd_free(struct unitcmd *u);

#endif
