/*
 * A recorded feed (--record: HELLO, then BATCH frames) sent to the manager as
 * a session of its own, source WIRE_SRC_RECORDED, batches numbered from
 * 1; counts, times and period are the recording's.
 */
#ifndef MORPH_REPLAY_H
#define MORPH_REPLAY_H

#include "common/err.h"

/* Returns 0 when the manager has taken every batch. */
int replay_file(const char *path, const char *socket, struct err *e);

#endif
