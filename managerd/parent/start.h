/*
 * Starting morphd: state folder, lock, what an earlier one left behind, the
 * sockets, and the manager's process. STATE belongs to us:
 *
 *	lock              flock(2) of the one morphd of this state
 *	jobs/NAME/        of one job; belongs to whom the job runs as
 *	cache/UID/KEY/    what the edits of a module keep (editor-driver/link/cache.h); theirs
 *	builds/ digests/ journal/  managerd/parent/swap/swap.h
 *	holds/            managerd/parent/holds.h
 *	artifacts/xx/yy…  artifacts from servers (managerd/parent/fetch.c)
 *	manager/          the manager's own (store, replay tables)
 */
#ifndef MORPH_PARENT_START_H
#define MORPH_PARENT_START_H

#include "managerd/parent/parent.h"

struct start {
	bool user, verbose;
	const char *state, *run; /* absolute */
	uid_t uid;               /* system mode: the manager's user, … */
	gid_t gid;
	gid_t monitor_gid;   /* … and who may connect to the monitors' socket */
	const char *manager; /* absolute path of the program */
};

/* Makes folders, takes the lock, settles swaps that were interrupted, removes old
 * job folders in the background. p: conf, policy, user, for_root, editor, inspector are
 * set; for_fetch and fetcher where the policy names servers. */
int start_state(struct parent *p, const struct start *s, int *lock, struct err *e);
/* Judges an existing state folder and takes its lock. *state: canonical, to free, also on
 * failure. */
int state_open(const char *path, char **state, int *lock, struct err *e);
/* restore.c: puts the original of every program back. 0 also where there is no state folder. */
int start_restore(const char *path, struct err *e);
/* Starts the manager; returns its pid, or -1. */
pid_t start_manager(struct parent *p, const struct start *s, struct err *e);

#endif
