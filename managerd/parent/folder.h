/*
 * Job folders: STATE/jobs/NAME, NAME = 16 hex digits, made by us and given to
 * the user the job runs as, who may do with it what he likes. So everything in
 * it is reached from an open descriptor without following links, and removed
 * with that user's rights alone. Caches: STATE/cache/UID/KEY, one for each owner and
 * module (KEY: swap_key of its path).
 */
#ifndef MORPH_PARENT_FOLDER_H
#define MORPH_PARENT_FOLDER_H

#include "common/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { FOLDER_NAME = 17 };
static const uint64_t FOLDER_TOO_MUCH = (uint64_t)1 << 50; /* can be summed up */

struct folder_user { /* whom a folder is given to */
	bool give;   /* false: it stays ours */
	uid_t uid;
	gid_t gid;
};

/* Makes a new one. Returns a descriptor of it, or -1. */
int folder_make(
    const char *state, const struct folder_user *u, char name[FOLDER_NAME], struct err *e);
/* STATE/jobs/NAME[/FILE]; to free. */
char *folder_path(const char *state, const char *name, const char *file);
/* Opens a regular file in an open folder that its user made; -1 and why. */
int folder_file(int dir, const char *file, uid_t uid, uint64_t max, struct err *e);
/* Becomes the user that STATE/jobs/NAME belongs to, for good: call it in a process of
 * its own. Absent is fine. */
int folder_become(const char *state, const char *name, struct err *e);
/* Removes what is in it. Absent is fine. */
int folder_empty(const char *state, const char *name, struct err *e);
/* Removes the empty folder. */
int folder_remove(const char *state, const char *name, struct err *e);
/* Bytes on the disk of all below an open folder; FOLDER_TOO_MUCH when it has max
 * entries or more, or is nested deeper than any job's. */
uint64_t folder_bytes(int dir, unsigned max);

/* The cache of a module's edits, made when absent; to free. NULL and why. */
char *folder_cache(
    const char *state, const struct folder_user *u, const char *module, struct err *e);
/* Calls fn with the name of every job folder. */
void folder_each(const char *state, void (*fn)(const char *name, void *arg), void *arg);

/* ---- quota.c: what the programs of one user may take up in the state folder ---- */

/*
 * Empties the caches of the user u that were used longest ago, until they and the
 * kept builds of `owner` take at most max bytes. -1 when the builds alone take
 * more. Runs in a process of its own: with u->give it becomes u for good before it
 * removes anything.
 */
int quota_make_room(
    const char *state, uid_t owner, const struct folder_user *u, uint64_t max, struct err *e);

#endif
