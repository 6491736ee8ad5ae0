/*
 * How far a trial is, and about how long it still takes, for people: nothing is decided by it.
 * Pure.
 *
 * Bounds come nearer by the root of the number of pairs. The estimate is taken to stay where it is,
 * which it does not: so "about".
 */
#ifndef MORPH_MANAGERD_OUTLOOK_H
#define MORPH_MANAGERD_OUTLOOK_H

#include "managerd/trial/trial.h"

struct outlook {
	unsigned wanted; /* pairs, until there is a verdict; before there are bounds the least */
	double left_s;   /* until then, as fast as pairs came so far; NAN = nothing tells */
};

/* Of a trial that goes on, and its estimate. runs_max: as in trial_verdict(). turn_s: a turn lasts
 * so long at least. */
struct outlook outlook(const struct trial *t, const struct trial_estimate *e, uint64_t runs_max,
    double turn_s, uint64_t now_ns);

#endif
