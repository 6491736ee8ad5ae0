#include "managerd/trial/outlook.h"

#include <math.h>

/* How far the bounds may lie from the estimate for a verdict. */
static double near_enough(double gain)
{
	double lost = -gain, even = TRIAL_WORTHLESS - fabs(gain);
	double won = fmin(gain, fmax(TRIAL_NEAR, gain / 3));

	return fmax(fmax(lost, won), even);
}

/* Pairs after which it ends in any case. */
static double most(const struct trial *t, double pairs, uint64_t runs_max)
{
	const struct trial_runs *r = t->runs;
	size_t nold;

	switch (t->kind) {
	case TRIAL_BY_RESTARTS:
		return (double)runs_max;
	case TRIAL_BY_RESTART:
		nold = trial_old_blocks(t);
		return (double)(nold < TRIAL_BLOCKS_MAX ? nold : TRIAL_BLOCKS_MAX);
	default:
		return pairs * (double)runs_max /
		       fmax(1, (double)(r[0].n > r[1].n ? r[0].n : r[1].n));
	}
}

static double wanted(const struct trial *t, const struct trial_estimate *e, uint64_t runs_max)
{
	double off = fmax(e->high - e->gain, e->gain - e->low) / near_enough(e->gain);
	double n = e->pairs * off * off, least = e->pairs + 1;

	if (!e->known)
		return TRIAL_PAIRS_MIN;
	if (t->kind == TRIAL_IN_USE && e->gain > -TRIAL_WORTHLESS && t->runs[TRIAL_NEW].n)
		n = fmax(n, e->pairs * (double)TRIAL_RUNS_MIN / (double)t->runs[TRIAL_NEW].n);
	return fmax(least, ceil(fmin(n, most(t, e->pairs, runs_max))));
}

/* Since when pairs come; 0: they do not yet. */
static uint64_t pairs_begin(const struct trial *t)
{
	size_t first = t->kind == TRIAL_BY_RESTART ? trial_old_blocks(t) : 0;

	return first < t->turn.n ? t->turn.v[first].start_ns : 0;
}

struct outlook outlook(const struct trial *t, const struct trial_estimate *e, uint64_t runs_max,
    double turn_s, uint64_t now_ns)
{
	double n = wanted(t, e, runs_max), left = NAN;
	uint64_t begin = pairs_begin(t);
	double took = now_ns > begin ? (double)(now_ns - begin) / 1e9 : 0;

	if (begin && e->pairs)
		left = (n - e->pairs) * took / e->pairs;
	else if (begin && turn_s > 0)
		left = fmax(0, n * 2 * turn_s - took);
	return (struct outlook){(unsigned)n, left};
}
