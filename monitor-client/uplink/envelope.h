/*
 * One batch on its way to the manager, together with the greeting of the
 * session it belongs to. Its bytes, a HELLO frame and a BATCH frame, are what
 * a spool file holds and what a recorded feed is a row of.
 */
#ifndef MORPH_ENVELOPE_H
#define MORPH_ENVELOPE_H

#include "common/err.h"
#include "common/mem.h"
#include "common/wire/wire.h"

struct envelope {
	struct wire_hello hello;
	uint64_t seq, start_ns, taken; /* of the batch */
	uint64_t runs;                 /* in it, and those that it says were not sent */
	struct buf batch;              /* its frame */
	struct buf
	    secret;     /* the same with registers, n = 0: none; goes to the manager or nowhere */
	uint64_t nregs; /* samples with registers in it */
};

/* Appends HELLO and BATCH, never with registers. */
void envelope_put(const struct envelope *l, struct buf *out);
/* Reads both; -1 when they are not whole, not of one session, or hold
 * registers. */
int envelope_get(const void *p, size_t n, struct envelope *l, struct err *e);
/* Wipes the registers; returns how many samples had some. */
uint64_t envelope_wipe(struct envelope *l);
void envelope_free(struct envelope *l);

#endif
