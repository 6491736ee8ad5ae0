/*
 * The programs the editor runs, as, ar and ld, and their versions: results of one assembler are not
 * used as those of another. Running them: success, or one line of their messages.
 */
#ifndef MORPH_RUN_H
#define MORPH_RUN_H

#include "common/hash.h"
#include "common/spawn.h"

/* The program as PATH gives it; to free. NULL when there is none. */
char *tool_find(const char *name, struct err *e);
/* A key of this program and the one at path, by path, size and time: results from before a change
 * of either do not match. */
int tool_version(const char *path, struct hash128 *out, struct err *e);

/* Runs s with its output captured and English messages, in this process's own group, so that
 * whoever stops or ends the edit does the same to the tool. Returns 0 when it exits with status 0;
 * else -1 with its error line. what: its name in messages. The tool gets the second layer of the
 * sandbox (editor-driver/os/sandbox.h) when this process is in the first. */
int run_tool(const struct spawn *s, const char *what, struct err *e);

#endif
