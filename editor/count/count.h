/*
 * Counters in the text of a unit: which, how they are printed, and the check of what is added.
 */
#ifndef MORPH_EDITOR_COUNT_H
#define MORPH_EDITOR_COUNT_H

#include "editor/probe/probes.h"
#include "editor/unit.h"

/* How to count (editor/probe/probes.h). */
struct unit_counting {
	bool edges;
	enum counter_kind kind;
	const uint64_t *weight; /* per function: not 0 = the counts of its CFG are a profile */
};

/*
 * Sets the probes, and the original layout, of every function of the unit that can be counted:
 * probes[ord], placement[ord]. A function that is opaque, or cannot move, gets counters only at the
 * heads of its blocks; of one that cannot even have these the probes stay NULL. Memory from the
 * unit's arena. Fails for a unit whose threads cannot be told apart.
 */
int unit_count(struct unit *u, const struct unit_counting *how, struct unit_placement *placement,
    struct probes **probes, struct err *e);

/* unit_emit() with these counters. */
void unit_emit_counting(const struct unit *u, const struct unit_placement *placement,
    struct probes *const *probes, uint64_t tu, struct buf *out);

/* unit_check() of what that printed: proves that each counter is there once, that the added code
 * only counts, and that without it the text passes unit_check(). */
int unit_check_counting(const struct unit *u, struct probes *const *probes, uint64_t tu,
    const char *text, size_t n, struct err *e);

#endif
