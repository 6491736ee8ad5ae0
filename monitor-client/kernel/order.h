/*
 * Merges the events of all rings by time. Every ring is read once a round; an
 * event may be handed on as soon as no ring can still bring an earlier one,
 * that is when it is not later than the latest event of the round before
 * (perf's rule). Held back: what one round brought, bounded by the rings.
 */
#ifndef MORPH_ORDER_H
#define MORPH_ORDER_H

#include "common/mem.h"
#include "monitor-client/kernel/event.h"

#include <stdbool.h>

struct order_slot {
	struct event ev;
	uint64_t n; /* arrival: keeps equal times in the order they came */
};

struct order {
	VEC(struct order_slot) slot;
	uint64_t arrived;
	uint64_t latest, before; /* latest time seen, and as of the round before */
};

/* Takes a copy, of the path and the registers too; these are wiped at its end. */
void order_add(struct order *o, const struct event *ev);
/* Ends a round: hands on what is due, or everything. */
void order_round(struct order *o, bool all, event_fn *fn, void *arg);
void order_free(struct order *o);

#endif
