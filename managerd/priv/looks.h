/*
 * Looks at files that wait for their turn at the privileged parent: few at a
 * time, fewer of one user, fair between users, one for each path.
 */
#ifndef MORPH_MANAGERD_LOOKS_H
#define MORPH_MANAGERD_LOOKS_H

#include "managerd/priv/priv.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	LOOKS_AT_ONCE = 8,
	LOOKS_AT_ONCE_OF_USER = 2,
	LOOKS_MAX = 4096, /* that wait */
	LOOKS_MAX_OF_USER = 1024,
	LOOKS_ASKED_MAX = 8 /* builds at one path */
};

struct look {
	const char *path;
	uint32_t uid;                           /* on whose behalf: that of the processes, or the owner */
	struct build_id asked[LOOKS_ASKED_MAX]; /* builds that samples named there */
	size_t nasked;
	struct build_id hint[2]; /* as in priv_look() */
	bool shallow, judge;
	bool awaited; /* a batch waits for it */
};

/* From priv_dispatch() or looks_turn(); both live until it returns. True: what it says is still worked on,
 * and its place is taken until looks_done(). */
typedef bool looks_fn(void *arg, const struct look *l, const struct priv_looked *r);

struct looks;

struct looks *looks_new(struct priv *p, looks_fn *fn, void *arg);
/* Drops those under way; their callback is not called. */
void looks_free(struct looks *l);
/* Copies what q names; one of the same path that waits or is under way takes up
 * its build and whether it is awaited. False: there is no room. */
bool looks_ask(struct looks *l, const struct look *q);
/* Answers those that the parent has refused to begin: PRIV_LATER. From the loop. */
void looks_turn(struct looks *l);
/* Frees the place of a look of this user. */
void looks_done(struct looks *l, uint32_t uid);
/* How many are awaited. */
size_t looks_awaited(const struct looks *l);

#endif
