/*
 * What became of a module's file, into the store: after a swap, a rollback,
 * or a crash in the middle of either. The journal entry goes last.
 */
#ifndef MORPH_MANAGERD_RECORD_H
#define MORPH_MANAGERD_RECORD_H

#include "managerd/cycle/changes.h"
#include "managerd/cycle/trials.h"
#include "managerd/job/edit.h"
#include "managerd/store/events.h"

struct made { /* a build, and what it was made from */
	struct profile used;
	uint64_t mapped; /* samples the module had had by then */
	unsigned lifted; /* its memory.lifted by then */
	uint64_t list;   /* hash of its list of functions that come first, 0 = none */
	struct build_id id;
	struct buf map; /* its block map */
	struct editanswer_score before, after;
	struct event_swap swap; /* what a swap of it will be */
	int64_t asked_ms;       /* when that was asked for */
};

/* The present layout is the one that was made from this. */
void record_made(struct module *mod, const struct made *b);
/* Remap and store after a swap: the module is the new build now, under the
 * same profile. Within a transaction. */
int record_swap(
    struct core *c, struct trials *ts, struct module *mod, const struct made *b, struct err *e);
/* And after a rollback; it is held. */
int record_rollback(struct core *c, struct module *mod, const struct build_id *from,
    const struct build_id *to, const struct change_entry *asker, struct err *e);
/* A kept build in its turn of a trial. */
int record_turn(struct core *c, struct module *mod, const struct build_id *to, struct err *e);
/* The end of a layout that came to nothing: the module is held for a while. Within a transaction.
 */
int record_failure(
    struct core *c, struct module *mod, const struct made *b, const char *why, struct err *e);
/* At start: how swaps under way ended, after a crash, and which builds of all modules are
 * still kept. */
void record_recover(struct core *c);
/* Forgets the journal entry, and kept builds beyond the bound. */
void record_done(struct core *c, const char *path);
/* The build a rollback goes to. */
bool record_rollback_target(
    const struct core *c, const struct store_module *row, struct build_id *to, struct err *e);

#endif
