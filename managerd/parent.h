/*
 * The privileged parent of system mode: receives a frame, checks its size and
 * form, calls the verb through a table, replies.
 */
#ifndef MORPH_MANAGERD_PARENT_H
#define MORPH_MANAGERD_PARENT_H

#include "managerd/frame.h"
#include "managerd/verbs.h"

/* Serves until the child is gone, then ends its jobs and exits as it did. */
_Noreturn void parent_serve(struct verbs *v, int sock, pid_t child);

/* One frame in, its last reply (and descriptors for it) out; earlier replies
 * go to sock. For tests: works on any bytes. */
void parent_handle(struct verbs *v, int sock, struct frame *f, struct buf *reply, int *fd,
    unsigned *nfd);

#endif
