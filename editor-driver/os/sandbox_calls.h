/*
 * The system calls of the sandbox (editor-driver/os/sandbox.h), for sandbox.c alone.
 */
#ifndef MORPH_SANDBOX_CALLS_H
#define MORPH_SANDBOX_CALLS_H

#include "common/err.h"

/* For this process and all that it starts. no_new_privs must be set. */
int sandbox_filter(struct err *e);
/* For a tool, on top. System calls only: 0, or -1 and errno. */
int sandbox_filter_tool(void);

#endif
