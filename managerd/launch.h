/*
 * Starting a program as a job: in a session of its own, out of the way of
 * others (SCHED_IDLE, or nice 10; idle I/O priority), perhaps as another user,
 * without rights to gain new ones, and killed when the process that started it dies.
 */
#ifndef MORPH_MANAGERD_LAUNCH_H
#define MORPH_MANAGERD_LAUNCH_H

#include "common/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct launch {
	const char *const *argv; /* argv[0] is an absolute path, or searched in PATH of env */
	char *const *env;        /* the whole environment, NULL-terminated */
	const char *dir;         /* working directory */
	int out, err;            /* for descriptors 1 and 2; 0 is /dev/null; no others stay open */
	bool awaited;            /* nice 10: to end on a busy machine as well */
	bool drop;               /* become uid and gid, without other groups */
	uid_t uid;
	gid_t gid;
	uint64_t memory;         /* bytes of address space of each process, 0 = no limit */
};

/* Starts it. Returns its pid (also its session and process group) and a pidfd
 * in *pidfd, or -1 and what could not be done; then no process is left. */
pid_t launch(const struct launch *l, int *pidfd, struct err *e);

#endif
