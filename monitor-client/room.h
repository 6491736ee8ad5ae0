/*
 * Room in a batch that users share: one gets half of it at most, the next one half of the rest, and
 * so on.
 */
#ifndef MORPH_ROOM_H
#define MORPH_ROOM_H

#include "common/hash.h"

struct room {
	struct htab user; /* uid -> what that one has */
	size_t used;
};

/* Takes n of max for this user; false: there is no room for it. */
bool room_take(struct room *r, size_t max, uint32_t uid, size_t n);
void room_free(struct room *r);

#endif
