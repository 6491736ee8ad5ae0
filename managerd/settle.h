/*
 * Settling an unfinished swap: whatever has happened so far, the module is
 * the old build or the new one, and nothing else is left. Serves both an
 * error in the middle of a swap and the start after a crash.
 *
 * With RENAME_EXCHANGE the staging name holds the old file after the swap.
 * M = file at the module's path, S = file at the staging name:
 *
 *	M     S      then
 *	old   any    not swapped: remove S, forget the kept build if it is fresh
 *	new   old    swapped: remove S
 *	new   none   swapped
 *	new   other  somebody replaced the old build in the last instant:
 *	             exchange back, remove S, forget the fresh kept build
 *	other any    replaced by somebody: remove S, forget the fresh kept build
 */
#ifndef MORPH_MANAGERD_SETTLE_H
#define MORPH_MANAGERD_SETTLE_H

#include "managerd/journal.h"
#include "managerd/swap.h"

/* Returns enum swap_outcome.end, or -1. The journal entry stays. */
int settle(const char *state, const struct journal *j, struct err *e);

#endif
