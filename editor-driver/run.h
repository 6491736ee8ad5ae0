/*
 * Running as, ar and ld: success, or one line that says what they said.
 */
#ifndef MORPH_RUN_H
#define MORPH_RUN_H

#include "common/spawn.h"

enum { TOOL_TIMEOUT_S = 900 };

/* Runs s with its output captured, English messages and a time limit. Returns
 * 0 when the program left with status 0; else -1 with the first error line of
 * the program. what: its name in messages. */
int run_tool(const struct spawn *s, const char *what, struct err *e);

#endif
