/*
 * Samples and their stacks, in the order in which formats of stacks have them. Pure.
 */
#ifndef MORPH_REPORT_OUT_STACKS_H
#define MORPH_REPORT_OUT_STACKS_H

#include "morphctl/report/recording/recording.h"

/* Those of each event, task and stack added up, in this order, as the samples of a recording that
 * has nothing else and whose indices are r's: recording_free() frees it. */
void samples_sum(struct recording *sums, const struct recording *r);
/* Likewise, but where samples have times they stay as they are, ordered by event, task and time.
 * Returns whether any has one. */
bool samples_in_time(struct recording *sorted, const struct recording *r);
/* Where the samples of i's event and task end. */
size_t samples_of_task(const struct recording *sorted, size_t i);

/* A level of source code in a stack. */
struct level {
	uint32_t location;
	uint32_t function; /* RECORDING_NONE = not known */
	uint32_t line;     /* 0 = not known */
	bool inlined;
};

struct levels {
	VEC(struct level) v;
};

/* Those of a location, what was inlined last; at least one. Appended. */
void levels_of_location(struct levels *l, const struct recording *r, uint32_t location);
/* Those of a stack from its root on, in place of what was there. None of RECORDING_NONE. */
void levels_of_stack(struct levels *l, const struct recording *r, uint32_t stack);
/* What people call it: the function, else the file in brackets. name holds it where it is made. */
const char *level_name(const struct level *l, const struct recording *r, struct buf *name);

/* A number of that name: below function.n it is a function, else a file after these; the last is
 * that of no file. */
uint32_t level_symbol(const struct level *l, const struct recording *r);

#endif
