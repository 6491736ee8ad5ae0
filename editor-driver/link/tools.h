/*
 * The programs the editor runs, and their versions: results of one assembler are not used as those
 * of another.
 */
#ifndef MORPH_TOOLS_H
#define MORPH_TOOLS_H

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

/* The program as PATH gives it; to free. NULL when there is none. */
char *tool_find(const char *name, struct err *e);
/* A key of this program and the one at path, by path, size and time: results from before a change
 * of either do not match. */
int tool_version(const char *path, struct hash128 *out, struct err *e);

#endif
