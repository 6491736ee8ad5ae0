/*
 * Code maps for the API. One takes longer than a turn of the loop may where a program has many
 * blocks: the loop copies the map and the samples, and the pool makes it of them, one at a time.
 * The last one is kept for a moment, since who asked comes back for it.
 */
#ifndef MORPH_MANAGERD_CODING_H
#define MORPH_MANAGERD_CODING_H

#include "managerd/cycle/core.h"

struct coding {
	struct core *core;
	bool working;
	struct code_order last; /* what the last one is of; module 0 = there is none */
	uint32_t uid;           /* its owner then */
	int64_t made_ms;
	struct code code;
	struct code_view view; /* of code, and names of the module's table as strings of mem */
	struct arena mem;
	/* The listener, or NULL: one that waits may ask again. */
	void (*ready)(void *arg, uint64_t none);
	void *arg;
};

/* As manager_code(). */
int coding_get(
    struct coding *c, const struct code_order *o, const struct code_view **view, struct err *e);
void coding_tell(const struct coding *c);
void coding_free(struct coding *c);

#endif
