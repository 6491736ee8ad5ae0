/*
 * What the programs of one user may take up in the state folder: their kept
 * builds and the caches of their edits.
 */
#ifndef MORPH_PARENT_QUOTA_H
#define MORPH_PARENT_QUOTA_H

#include "managerd/parent/folder.h"

#include <stdint.h>

/*
 * Empties the caches of the user u that were used longest ago, until they and the
 * kept builds of `owner` take at most max bytes. -1 when the builds alone take
 * more. Runs in a process of its own: with u->give it becomes u for good before it
 * removes anything.
 */
int quota_make_room(
    const char *state, uid_t owner, const struct folder_user *u, uint64_t max, struct err *e);

#endif
