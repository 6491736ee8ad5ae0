/*
 * The threads of processes that run already, as /proc/PID/task lists them. A thread that one of
 * them makes after it has its events inherits these; one that it makes before is in the next
 * listing. So they are listed until no listing brings a new one. One that inherits and is listed
 * has its events twice, until the side-band tells that it came (source.c).
 */
#ifndef MORPH_ATTACH_H
#define MORPH_ATTACH_H

#include "common/err.h"
#include "common/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct attach {
	pid_t first;       /* the thread whose events have the rings */
	pid_t pid;         /* the process at hand, for what is said of a refusal */
	struct htab known; /* threads */
};

/* Opens the events of a thread. -1 with errno. */
typedef int attach_fn(void *arg, pid_t tid, struct err *e);

/* Calls first() until it took one of the threads, which a->first tells it, then other() for each
 * one more. Threads that end meanwhile are passed over. -1 with errno: ESRCH when a process has
 * no thread that runs. */
int attach_threads(struct attach *a, const pid_t *pid, size_t n, attach_fn *first, attach_fn *other,
    void *arg, struct err *e);
/* Says of a->pid why it may not be watched and what would allow it; self: this program. */
void attach_refused(const struct attach *a, const char *self, struct err *e);
void attach_free(struct attach *a);

#endif
