/*
 * Starting a process: a program, perhaps as another user, without rights to gain
 * new ones; or a copy of this process for work that takes long. Each leads a
 * session of its own and is killed when the process that started it dies.
 */
#ifndef MORPH_PARENT_LAUNCH_H
#define MORPH_PARENT_LAUNCH_H

#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { LAUNCH_FDS = 9 };

struct launch {
	const char *const *argv; /* argv[0] is an absolute path, or searched in PATH of env */
	char *const *env;        /* the whole environment, NULL-terminated */
	int folder;              /* working directory, open; 0 = "/" */
	int fd[LAUNCH_FDS];      /* become descriptors 0, 1, …; -1 = /dev/null */
	size_t nfd;              /* no others stay open */
	enum {
		LAUNCH_PLAIN,
		LAUNCH_NICE, /* nice 10, to end on a busy machine as well; idle I/O priority */
		LAUNCH_IDLE  /* SCHED_IDLE; idle I/O priority */
	} priority;
	int group; /* control group to enter (managerd/parent/cgroup.h), 0 = none */
	bool drop; /* become uid and gid, without other groups */
	uid_t uid;
	gid_t gid;
	/* Bounds, 0 = none: bytes of address space of each process and of each file,
	 * CPU seconds of each process, processes of its user beyond those that run. */
	uint64_t memory, file_bytes, cpu_s, processes;
};

/* Starts it without waiting until it is the program. Returns its pid (also its session
 * and process group), a pidfd in *pidfd and where it reports in *report, or -1. */
pid_t launch(const struct launch *l, int *pidfd, int *report, struct err *e);
/* Of a process that has ended: -1 and why where it did not become the program. Closes
 * report. */
int launch_became(int report, struct err *e);
/* Becomes this user for good, without other groups; -1 and errno. */
int launch_become(uid_t uid, gid_t gid);
/* Runs fn in a copy of this process, which ends with what fn returns. */
pid_t launch_copy(int (*fn)(void *arg), void *arg, int *pidfd, struct err *e);

#endif
