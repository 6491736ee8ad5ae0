/*
 * The index of unwind information (.eh_frame_hdr) over the records of two sections. Format: Linux
 * Standard Base 5, "The .eh_frame_hdr section".
 */
#ifndef MORPH_APPEND_INDEX_H
#define MORPH_APPEND_INDEX_H

#include "common/err.h"
#include "common/mem.h"
#include "common/unwind/ehframe.h"

/* Appends it for address addr. It names `old` as the section it is of; entries are ascending.
 * Functions of no bytes are left out: they would hide others at their address. */
int index_make(const struct eh_frames *old, const struct eh_frames *added, uint64_t addr,
    struct buf *out, struct err *e);

#endif
