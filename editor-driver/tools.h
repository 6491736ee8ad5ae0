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
/* Appends what changes when the program does: path, size, time. */
int tool_identity(const char *path, struct buf *out, struct err *e);
/* The hash of this running program's own bytes. */
int tool_self(struct hash128 *out, struct err *e);

#endif
