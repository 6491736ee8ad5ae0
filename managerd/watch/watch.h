/*
 * The profile of one program from the batches of one monitor, as a manager would make it: samples
 * by block, branch outcomes and calls from registers. Of the original build of an artifact, in
 * memory; what samples age by does not matter, since it is one run. No thread safety.
 */
#ifndef MORPH_MANAGERD_WATCH_H
#define MORPH_MANAGERD_WATCH_H

#include "common/wire/wire.h"
#include "managerd/samples/observe.h"

struct watch_other { /* samples in another file */
	char *path;
	uint64_t n;
};

struct watch {
	struct build_id id; /* samples of this build count */
	struct map_table table;
	struct map map;
	struct uops uops;
	struct weights weights;
	struct observer observer;
	uint64_t *hit;        /* by slot */
	uint64_t all, mapped; /* samples in the program's file, and in its blocks */
	VEC(struct watch_other) other;
};

/* artifact, replay_table: paths; the table is as morph-edit --replay-table makes it. Free in any
 * case. */
int watch_open(struct watch *w, const char *artifact, const char *replay_table, struct err *e);
void watch_free(struct watch *w);

/* Adds a batch; its registers are not kept. */
void watch_take(struct watch *w, const struct wire_batch *b);
/*
 * Appends a comment that says how many samples there are, and the profile
 * (common/profiletext/profiletext.h):
 *
 *	# MAPPED of ALL samples are in blocks
 *	# N more are in PATH		the other file with most, if there is any
 *
 * Once only: the counts are used up.
 */
void watch_print(struct watch *w, struct buf *out);

#endif
