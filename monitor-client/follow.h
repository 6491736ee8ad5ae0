/*
 * The command after "--": forked first, so that events can be opened on it,
 * and let loose afterwards. Or processes that run already.
 */
#ifndef MORPH_FOLLOW_H
#define MORPH_FOLLOW_H

#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <sys/types.h>

struct follow {
	pid_t pid;        /* 0 = none */
	int go;           /* closing it lets the child exec */
	int said;         /* the child writes its errno here when exec fails */
	VEC(int) running; /* a pidfd each, of processes that ran before */
};

/* Call before signals are blocked. */
int follow_fork(struct follow *f, char *const argv[], struct err *e);
/* Returns 0 once the command runs, else the exit status that says why not: 126
 * found but not to be run, 127 not found (e says more). */
int follow_start(struct follow *f, const char *name, struct err *e);
/* Ends a child that was not started. */
void follow_cancel(struct follow *f);
/* Whether it has ended; then its status, 128 + n after signal n. */
bool follow_ended(struct follow *f, int *status);

/* Takes hold of processes that run. -1: one of them does not. */
int follow_running(struct follow *f, const pid_t *pid, size_t n, struct err *e);
/* Have all of them ended? Without any: no. */
bool follow_gone(struct follow *f);
void follow_close(struct follow *f);

#endif
