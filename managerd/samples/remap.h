/*
 * Carrying a profile over to another build of its module. Between layouts of
 * one intermediate form nothing changes: blocks keep their ids, so the same
 * profile holds. For a rebuilt program the functions with equal keys keep
 * theirs exactly; changed ones are discarded and counted (matching their
 * blocks by hashes is a later step). Pure.
 */
#ifndef MORPH_MANAGERD_REMAP_H
#define MORPH_MANAGERD_REMAP_H

#include "managerd/samples/map.h"
#include "managerd/samples/profile.h"

struct remap_result {
	size_t kept, discarded, fresh;          /* functions: equal keys, gone, new in the table */
	double samples_kept, samples_discarded; /* as of now */
};

/* Leaves in p exactly the functions of t; their samples come from p. */
struct remap_result remap_profile(struct profile *p, const struct map_table *t, struct decay at);

#endif
