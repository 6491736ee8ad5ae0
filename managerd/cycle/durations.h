/*
 * How long steps of a module's round took, for estimates of the one that is under way. A module's
 * own last ones count; where there are none the others' median, by size. What the store remembers
 * of a manager before is what its swaps took. People see the estimates; nothing is decided by them.
 */
#ifndef MORPH_MANAGERD_DURATIONS_H
#define MORPH_MANAGERD_DURATIONS_H

#include "managerd/store/store.h"

enum { DURATIONS_KEPT = 1024 }; /* the oldest go */

struct duration {
	uint64_t module;
	const char *step; /* static */
	double seconds;   /* of the last ones, each half as much as the one after it */
	double bytes;     /* of the module's file; 0 = not known */
};

struct durations { /* zero-filled = empty */
	VEC(struct duration) of;
};

void durations_add(
    struct durations *d, uint64_t module, const char *step, double seconds, double bytes);
/* What it will take in all; NAN: nothing tells. */
double durations_expect(const struct durations *d, uint64_t module, const char *step, double bytes);
/* Of the swaps that the store remembers, edit being the name of their step. */
int durations_load(struct durations *d, struct store *s, const char *edit, struct err *e);
void durations_free(struct durations *d);

/* Bytes of the file of a module's original; 0 = not known. */
double durations_bytes(struct store *s, const struct store_module *m);

#endif
