/*
 * Artifacts from the policy's servers: for whose programs one is fetched, when, and when again.
 */
#ifndef MORPH_MANAGERD_FETCHING_H
#define MORPH_MANAGERD_FETCHING_H

#include "managerd/cycle/learning.h"

struct fetching {
	struct core *core;
	struct learning *learning;
	uint64_t task;          /* 0 = none runs */
	uint64_t module;        /* for which, … */
	struct build_id origin; /* … for which program there, … */
	uint32_t uid;           /* … and of which owner */
};

/* Begins with the busiest program that has no artifact and is due, if none runs: one that may be
 * laid out, of root (with --user: of the user), with a quarter of decide.min_samples. */
void fetching_turn(struct fetching *f);
void fetching_stop(struct fetching *f);
/* Whether a server has not been asked yet, and will be. */
bool fetching_is_before(const struct core *c, const struct store_module *row);

#endif
