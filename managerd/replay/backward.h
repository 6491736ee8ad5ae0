/*
 * Backward register replay: by which predecessor a sample's block was entered.
 * From the sample instructions are undone: what they wrote is compared with what
 * they would have written, and the condition of each edge with what is known of
 * its operands. A predecessor that contradicts is excluded; when one is left, the
 * entry is resolved. A consistent value is never treated as proof.
 *
 * So a predecessor that leaves no trace is resolved by the traces that the others
 * would have left, and one that leaves a trace may stay unresolved, where the
 * others could have left the same. The caller has to check that nearly all samples
 * of a block are resolved; otherwise the resolved ones are biased towards some
 * predecessors (PROFILE_RESOLVED).
 *
 * Pure. Nothing of the registers outlives the call.
 */
#ifndef MORPH_MANAGERD_REPLAY_BACK_H
#define MORPH_MANAGERD_REPLAY_BACK_H

#include "managerd/replay/forward.h"

enum {
	REPLAY_BACK_BLOCKS = 6, /* before the sample's own, at most */
	REPLAY_BACK_UOPS = 100, /* instructions undone, at most, of all predecessors together */
	REPLAY_BACK_PREDECESSORS = 16 /* of the sample's block; with more it is not tried */
};

enum replay_entry {
	REPLAY_NO_JOIN, /* one predecessor only, or some that the table does not know */
	REPLAY_UNRESOLVED,
	REPLAY_RESOLVED
};

/* *from: id of the predecessor, when it is resolved. */
enum replay_entry replay_backward(
    const struct uops *u, const struct replay_sample *s, uint32_t *from);

#endif
