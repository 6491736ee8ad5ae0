/*
 * Running as, ar and ld: success, or one line of their messages.
 */
#ifndef MORPH_RUN_H
#define MORPH_RUN_H

#include "common/spawn.h"

/* Runs s with its output captured and English messages, in this process's own group, so that
 * whoever stops or ends the edit does the same to the tool. Returns 0 when it exits with status 0;
 * else -1 with its error line. what: its name in messages. The tool gets the second layer of the
 * sandbox (editor-driver/os/sandbox.h) when this process is in the first. */
int run_tool(const struct spawn *s, const char *what, struct err *e);

#endif
