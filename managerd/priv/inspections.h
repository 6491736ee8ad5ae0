/*
 * Inspections that wait for their turn at the privileged parent: few at a time,
 * fewer of one user, fair between users, one for each path.
 */
#ifndef MORPH_MANAGERD_INSPECTIONS_H
#define MORPH_MANAGERD_INSPECTIONS_H

#include "managerd/priv/priv.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	INSPECTIONS_AT_ONCE = 8,
	INSPECTIONS_AT_ONCE_OF_USER = 2,
	INSPECTIONS_MAX = 4096, /* that wait */
	INSPECTIONS_MAX_OF_USER = 1024,
	INSPECTIONS_ASKED_MAX = 8 /* builds at one path */
};

struct inspection {
	const char *path;
	uint32_t uid; /* on whose behalf: that of the processes, or the owner */
	struct build_id asked[INSPECTIONS_ASKED_MAX]; /* builds that samples named there */
	size_t nasked;
	struct build_id hint[2]; /* as in priv_inspect() */
	bool shallow, judge;
	bool awaited;      /* a batch waits for it */
	uint64_t begun_ns; /* uv_hrtime() when the parent was asked */
};

/* From priv_dispatch() or inspections_turn(); both live until it returns. True: the
 * result is still being applied, and takes a place until inspections_done(). */
typedef bool inspections_fn(void *arg, const struct inspection *l, const struct priv_inspected *r);

struct inspections;

struct inspections *inspections_new(struct priv *p, inspections_fn *fn, void *arg);
/* Drops those under way; their callback is not called. */
void inspections_free(struct inspections *l);
/* Copies what q names; one of the same path that waits or is under way takes up
 * its build and whether it is awaited. False: there is no room. */
bool inspections_ask(struct inspections *l, const struct inspection *q);
/* Answers those that the parent has refused to begin: PRIV_LATER. From the loop. */
void inspections_turn(struct inspections *l);
/* Frees the place of an inspection of this user. */
void inspections_done(struct inspections *l, uint32_t uid);
/* How many are awaited. */
size_t inspections_awaited(const struct inspections *l);

#endif
