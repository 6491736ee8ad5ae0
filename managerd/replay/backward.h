/*
 * Witness from behind: which way a sample's block was entered, by what is left
 * in the registers of the way there. From the sample backward instructions are
 * undone: what they wrote is compared with what they would have written, a
 * condition that a way needs with what is known of its operands. A way that
 * contradicts was not the one; where all but one do, that one is told. It is
 * never guessed: a value that would fit excludes nothing.
 *
 * So a way that leaves no trace is told by what the others would have left, and
 * the one that leaves it may stay untold, where the others might have left it by
 * chance. Whoever counts has to see that nearly all samples of a block tell;
 * else those that do are of some ways more than of others.
 *
 * Pure. Nothing of the registers outlives the call.
 */
#ifndef MORPH_MANAGERD_WITNESS_BACK_H
#define MORPH_MANAGERD_WITNESS_BACK_H

#include "managerd/replay/forward.h"

enum {
	WITNESS_BACK_BLOCKS = 6, /* back from the sample's own, at most */
	WITNESS_BACK_UOPS = 100, /* instructions undone, at most, of all ways together */
	WITNESS_BACK_WAYS = 16   /* into the sample's block: no look at more */
};

enum witness_entry {
	WITNESS_NO_JOIN, /* there is but one way, or one that the table does not know */
	WITNESS_UNTOLD,
	WITNESS_TOLD
};

/* *from: id of the block that came before the sample's, when it is told. */
enum witness_entry witness_back(
    const struct uops *u, const struct witness_sample *s, uint32_t *from);

#endif
