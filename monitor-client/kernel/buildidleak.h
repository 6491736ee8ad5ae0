/*
 * Whether this kernel keeps the build-ids that one session asks for from the others. Up to 6.18 at
 * least perf_event_mmap_output() sets PERF_RECORD_MISC_MMAP_BUILD_ID, for an event with
 * attr.build_id, in a header that the next event gets, too: mapping records of other people's
 * sessions then call device and inode a build-id, and perf(1) aborts on them.
 */
#ifndef MORPH_BUILDIDLEAK_H
#define MORPH_BUILDIDLEAK_H

#include "common/err.h"

/* Maps a page of this program with an event of either kind on this thread, which is all that it
 * asks rights for. As data, which nearly no session listens for: this program may be watched, too.
 * 0: attr.build_id may be used. -1: there is none, or it leaks, or that cannot be found out; e says
 * which. */
int buildidleak_check(struct err *e);

#endif
