/*
 * Running another program to its end, without a shell. For programs that
 * wait in an event loop libuv does this instead.
 */
#ifndef MORPH_SPAWN_H
#define MORPH_SPAWN_H

#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>

struct spawn {
	const char *const *argv; /* NULL-terminated; argv[0] is searched in PATH */
	const char *const *env;  /* extra "NAME=value", NULL-terminated, or NULL */
	bool only_env;           /* env is all there is, nothing of ours */
	const char *dir;         /* working directory, or NULL */
	int in, out, err;        /* descriptors for 0, 1, 2; 0 = inherit (set -1 for /dev/null) */
	/* Appended to when not NULL, instead of out and err; beyond 16 MiB dropped. */
	struct buf *capture_out, *capture_err;
	/* 0 = none. Else the child leads a process group of its own (so it hears no
	 * Ctrl-C), which gets SIGKILL when the time is over. */
	unsigned timeout_s;
	/* With timeout_s: a socket; the same happens when its other side hangs up. 0 = none. */
	int client;
	bool whole; /* with timeout_s: the same happens instead of dropping what is captured */
	/* Called in the child, when all else is done, as the last thing before the
	 * program: -1 and errno when it must not run. It shares the caller's memory and
	 * may make system calls only. */
	int (*before)(void);
};

/* Runs and waits. Returns the exit status 0…255, 128 + n after signal n, or
 * -1 when it could not be run, or had to be stopped (e says why). */
int spawn_run(const struct spawn *s, struct err *e);

#endif
