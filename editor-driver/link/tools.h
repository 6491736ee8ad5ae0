/*
 * The programs the editor runs, and which version of them it is: what was
 * made by one assembler is not taken for the work of another.
 */
#ifndef MORPH_TOOLS_H
#define MORPH_TOOLS_H

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

/* The program as PATH gives it; to free. NULL when there is none. */
char *tool_find(const char *name, struct err *e);
/* Names this very program together with the one at path, by its place, size
 * and time: what one of them made before the other changed is not theirs. */
int tool_version(const char *path, struct hash128 *out, struct err *e);

#endif
