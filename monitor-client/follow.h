/*
 * The command after "--": forked first, so that events can be opened on it,
 * and let loose afterwards.
 */
#ifndef MORPH_FOLLOW_H
#define MORPH_FOLLOW_H

#include "common/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct follow {
	pid_t pid; /* 0 = none */
	int go;    /* closing it lets the child exec */
	int said;  /* the child writes its errno here when exec fails */
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

#endif
