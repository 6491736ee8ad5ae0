/*
 * The recipe: the arguments of a finished link, turned into those of a second
 * one elsewhere (common/artifact/artifact.h artifact_recipe). Pure but for the calls
 * that tell it of files.
 *
 * Files become "@N"; search folders "-L=/absolute", so that they lie below
 * the relink's --sysroot; libraries, groups and everything else stay, of other linkers than GNU ld
 * in one spelling. Gone
 * are the output, maps, dependency files, build-id, plugins, what only prints,
 * and -rpath-link: the relink knows where the needed libraries lie. What of
 * the rest cannot be repeated stays as well: recipe_check (common/command/ldopt.h)
 * names it.
 */
#ifndef MORPH_RECIPE_H
#define MORPH_RECIPE_H

#include "common/command/linker.h"
#include "hooks/args.h"

#include <stdbool.h>
#include <stdint.h>

enum { RECIPE_CLAIMED = -2, RECIPE_UNUSED = -3 };

enum recipe_use {
	RECIPE_LINKED,
	RECIPE_RAW, /* its bytes as they are, whatever it is */
	RECIPE_LAZY /* between --start-lib and --end-lib: an object is linked as a member is */
};

struct recipe_files {
	/* The number of the input at path, -1 when there is no such file, RECIPE_CLAIMED when
	 * what was made of it takes its place (LTO), RECIPE_UNUSED when it was not linked. */
	int64_t (*file)(void *arg, const char *path, enum recipe_use use);
	/* The absolute name of a folder, NULL = to be left out; to free. */
	char *(*folder)(void *arg, const char *path);
	void *arg;
	const char *sysroot; /* absolute, "" = the root */
	const int64_t
	    *made; /* what takes the place of the first that was claimed; of mold the last */
	size_t nmade;
};

void recipe_make(
    struct args *out, enum linker linker, const struct args *link, const struct recipe_files *f);

#endif
