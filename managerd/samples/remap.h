/*
 * Carrying a profile over to another build of its module. Between layouts of
 * one intermediate form nothing changes: blocks keep their ids, so the same
 * profile holds. For a rebuilt program the functions with equal keys keep
 * theirs exactly. What others had is added again by remap_carry(), once a job of the editor has
 * matched their blocks (editor/shape/shape.h). Pure.
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

/*
 * The share of a program's samples that functions had which were changed and keep none: their names
 * are there, not their keys. What is left is skewed by as much. before: the profile as it was.
 */
double remap_skew(const struct profile *before, const struct profile *p, struct decay at);

struct remap_carried {
	size_t changed, renamed; /* functions that get samples */
	double samples;          /* of these, … */
	double lost;             /* … and of those that are gone */
};

/*
 * Adds to p what functions of `before` had whose keys p has no more: n bytes of text that a job of
 * the editor made, which may be hostile: 0, or -1 with p as it was when they are no profile of
 * these functions with at most the samples of before. Functions that kept theirs are left alone.
 */
int remap_carry(struct profile *p, const struct profile *before, const void *text, size_t n,
    struct decay at, struct remap_carried *r, struct err *e);

#endif
