/* When a module is decided about, and what is kept of it between two decisions. Pure. */
#ifndef MORPH_MANAGERD_SCHEDULE_H
#define MORPH_MANAGERD_SCHEDULE_H

#include "managerd/decide/decide.h"

struct schedule {
	int64_t decided_ms;    /* last decision, 0 = none yet, or it no longer counts */
	int64_t not_before_ms; /* no work for it until then */
	enum rung rung;        /* where the last decision stopped, RUNG_NONE = it did not */
	bool scored;           /* the estimate of the gain holds for the present layout … */
	uint64_t scored_at;    /* … and for the usage as of so many mapped samples */
	bool made;             /* the present layout was made from the profile of then */
	double too_much;       /* what the model promises beyond the estimate … */
	double corrected;      /* … and what was added to that by gains that were measured */
	bool lift_asked;     /* a person wants it lifted: now, and even where that failed before */
	int64_t outgrown_ms; /* when it was last looked at whether it is to be lifted again */
	enum {
		INSPECTION_NONE,
		INSPECTION_ASKED,
		INSPECTION_DONE
	} inspection; /* for the next decision */
};

/* How many samples are still to come until an estimate from so many is one of another usage: more
 * than a quarter as many have come since (mapped ones, of which each counts as so many as the
 * density says). Where they grow, estimates are as few as doublings of their number; where as many
 * age as come, a change of usage is seen before it is a quarter of them. */
static inline double schedule_missing(
    const struct schedule *s, double samples, uint64_t mapped, double density)
{
	return samples / 4 - (double)(mapped - s->scored_at) * density;
}

static inline bool schedule_outdated(
    const struct schedule *s, double samples, uint64_t mapped, double density)
{
	return schedule_missing(s, samples, mapped, density) < 0;
}

/* Whether it is to be decided about now; every_ms: time between decisions. */
static inline bool schedule_due(const struct schedule *s, int64_t now_ms, int64_t every_ms)
{
	return now_ms >= s->not_before_ms && s->inspection != INSPECTION_ASKED &&
	       (now_ms - s->decided_ms >= every_ms || now_ms < s->decided_ms);
}

#endif
