/* When a module is decided about, and what is kept of it between two decisions. Pure. */
#ifndef MORPH_MANAGERD_SCHEDULE_H
#define MORPH_MANAGERD_SCHEDULE_H

#include "managerd/decide/decide.h"

struct schedule {
	int64_t decided_ms;    /* last decision, 0 = none yet, or it no longer counts */
	int64_t not_before_ms; /* no work for it until then */
	enum rung rung;        /* where the last decision stopped, RUNG_NONE = it did not */
	bool scored;           /* the predicted gain holds for the present layout and usage … */
	uint64_t scored_at; /* … until so many mapped samples have grown by decide.min_samples */
	enum {
		INSPECTION_NONE,
		INSPECTION_ASKED,
		INSPECTION_DONE
	} inspection; /* for the next decision */
};

/* Whether it is to be decided about now; every_ms: time between decisions. */
static inline bool schedule_due(const struct schedule *s, int64_t now_ms, int64_t every_ms)
{
	return now_ms >= s->not_before_ms && s->inspection != INSPECTION_ASKED &&
	       (now_ms - s->decided_ms >= every_ms || now_ms < s->decided_ms);
}

#endif
