/*
 * Settling an unfinished swap: whatever has happened so far, the module is
 * the old build or the new one, and nothing else is left. Serves both an
 * error in the middle of a swap and the start after a crash.
 *
 * M = file at the module's path, S = file at the staging name:
 *
 *	M      S      then
 *	old    any    not swapped: remove S, forget the kept build if it is fresh
 *	new    any    swapped: remove S
 *	other  any    replaced by somebody: remove S, forget the fresh kept build
 *
 * A file is known by inode, size and content: inode numbers are used again.
 */
#ifndef MORPH_PARENT_SETTLE_H
#define MORPH_PARENT_SETTLE_H

#include "managerd/parent/swap/journal.h"
#include "managerd/parent/swap/swap.h"

/* Returns enum swap_outcome.end, or -1. The journal entry stays. */
int settle(const char *state, const struct journal *j, struct err *e);

#endif
