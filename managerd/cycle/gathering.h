/*
 * Address samples: all that a batch says of whatever code goes to the store (store/addresses.h),
 * with what it only counts, so that the sum is all CPU time that was sampled. Nothing is read of
 * that code.
 */
#ifndef MORPH_MANAGERD_GATHERING_H
#define MORPH_MANAGERD_GATHERING_H

#include "managerd/cycle/core.h"
#include "managerd/store/addresses.h"

/* Adds a batch, of now_ms at the latest; within its transaction. calls: what registers_take() has
 * found of it; no more samples of them count than there are at an address. */
int gather_batch(struct core *c, const struct wire_hello *h, const struct wire_batch *b,
    struct address_calls *calls, int64_t now_ms, struct err *e);
/* Does a bit of what is to be done afterwards. */
void gathering_turn(struct core *c);

#endif
