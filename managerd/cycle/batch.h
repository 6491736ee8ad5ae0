/*
 * A batch of samples: every count of it ends up in exactly one place of the
 * accounting, in the same transaction as the profiles it adds to.
 */
#ifndef MORPH_MANAGERD_BATCH_H
#define MORPH_MANAGERD_BATCH_H

#include "managerd/cycle/learning.h"
#include "managerd/cycle/recording.h"
#include "managerd/cycle/registers.h"
#include "managerd/cycle/trials.h"

struct batches {
	struct core *core;
	struct learning *learning;
	struct registers *registers;
	struct trials *trials;
	struct recording *recording;
	bool open;   /* some were taken that are not committed */
	bool resume; /* one is to be offered again, on the next turn */
	struct {     /* one that waits for what it needs to be loaded */
		uint64_t session, seq;
		unsigned turns; /* it has waited for … */
		uint32_t from;  /* … and how many of its modules were seen to in those … */
		bool wait;      /* … of which some have to be waited for */
	} load;
};

/* Of struct ingest_ops; arg: struct batches. */
int batch_take(
    void *arg, const struct wire_hello *h, const struct wire_batch *b, bool over, struct err *e);
int batch_commit(void *arg, struct err *e);
/* What a batch waits for may be there: it is offered again. */
void batch_resume(void *arg);

#endif
