/*
 * The replay table of an artifact (common/uops.h): the parsed TUs of a plan
 * measured by the assembler and compiled.
 */
#ifndef MORPH_EDITOR_DRIVER_REPLAY_H
#define MORPH_EDITOR_DRIVER_REPLAY_H

#include "editor-driver/link/cache.h"
#include "editor-driver/plan/plan.h"

struct replay_result {
	size_t functions, blocks, uops;   /* in the table */
	size_t stops;                     /* uops that are not understood */
	size_t opaque, absent, differing; /* functions left out: not understood; not in the
					     original build; measured otherwise than there */
	size_t unmeasured;                /* units that the assembler refused */
	size_t bytes, memory;             /* of the table in the file, in memory */
};

/* Appends the table's bytes to out. The plan was parsed; dir is a folder to
 * work in. */
int replay_make(struct plan *p, const char *dir, struct cache *cache, struct buf *out,
    struct replay_result *r, struct err *e);

#endif
