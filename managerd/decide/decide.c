#include "managerd/decide/decide.h"
#include "common/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *outcome_name(enum outcome o)
{
	static const char *const name[] = {"not reached", "passed", "skipped", "stopped"};

	return (unsigned)o <= OUTCOME_STOPPED ? name[o] : "unknown";
}

__attribute__((format(printf, 3, 4))) static void answer(
    struct rung_step *s, enum outcome o, const char *fmt, ...)
{
	va_list ap;

	s->outcome = o;
	va_start(ap, fmt);
	vsnprintf(s->text, sizeof s->text, fmt, ap);
	va_end(ap);
}

#define pass(s, ...) answer(s, OUTCOME_PASSED, __VA_ARGS__)
#define skip(s, ...) answer(s, OUTCOME_SKIPPED, __VA_ARGS__)
#define stop(s, ...) answer(s, OUTCOME_STOPPED, __VA_ARGS__)

/* Keeps both numbers beside the answer. */
static bool below(struct rung_step *s, double value, double limit)
{
	s->numbers = true;
	s->value = value;
	s->limit = limit;
	return value < limit;
}

/* Never rounds a value to the limit that it misses. */
static double percent(double x)
{
	return floor(x * 1000) / 10;
}

/* ---- the rungs: one question each ---- */

/* The policy and the file itself. */
static void may_it_change(const struct conf *c, const struct decide_in *in, struct rung_step *s)
{
	if (in->excluded)
		stop(s, "%s", in->excluded);
	else
		pass(s, "the policy allows changes");
}

/* After a rollback or a failure. */
static void is_it_held(const struct conf *c, const struct decide_in *in, struct rung_step *s)
{
	char left[NUMBER_TEXT];

	if (!in->held)
		pass(s, "not held");
	else if (in->asked)
		skip(s, "%s, but a person requested the change", in->held);
	else if (in->held_left_s < 0)
		stop(s, "%s; held until `morphctl reoptimize now`", in->held);
	else
		stop(s, "%s; held for another %s", in->held, number_span(in->held_left_s, left));
}

/* Enough of them in code that can be laid out. */
static void enough_covered(const struct conf *c, const struct decide_in *in, struct rung_step *s)
{
	double all = in->samples + in->outside, share = all > 0 ? in->understood / all : 0;

	if (in->samples < c->decide.min_samples)
		pass(s, "too few samples to tell");
	else if (below(s, share, c->decide.min_coverage))
		stop(s,
		    "%.1f %% of the samples in functions that can be laid out, policy requires "
		    "%.4g %%",
		    percent(share), 100 * c->decide.min_coverage);
	else
		pass(s, "%.1f %% of the samples in functions that can be laid out", percent(share));
}

static const char other_list[] =
    "the list of functions that come first is another one than the last layout was made with";

/* What was no gain is not made again of the same usage, and with the same list. */
static void other_usage(const struct conf *c, const struct decide_in *in, struct rung_step *s)
{
	if (!in->lost)
		pass(s, "no layout was taken back");
	else if (in->reordered)
		pass(s, "%s", other_list);
	else if (!below(s, in->change, c->decide.min_change))
		pass(s, "usage changed by %.1f %% since a layout was taken back",
		    percent(in->change));
	else if (in->forced)
		skip(s, "usage changed by %.1f %%, but a person forces the change",
		    percent(in->change));
	else
		stop(s,
		    "usage changed by %.1f %% since a layout was made that was taken back (%s), "
		    "policy requires %.4g %%",
		    percent(in->change), in->lost, 100 * c->decide.min_change);
}

double decide_limit(const struct conf *c, bool laid_out)
{
	return laid_out ? c->decide.min_regain : c->decide.min_gain;
}

double decide_more(const struct decide_estimate *s, double limit)
{
	/* With n samples instead of those there are, x² = samples / n:
	 * gain + missed (1 - x²) - spread x = limit. */
	double spread = s->gain - s->low, sure = s->gain + s->missed - limit, x;

	if (!(sure > 0) || !(s->samples > 0))
		return INFINITY;
	x = s->missed > 0
		? (sqrt(spread * spread + 4 * s->missed * sure) - spread) / (2 * s->missed)
	    : spread > 0 ? sure / spread
			 : 1;
	return x < 1 ? s->samples * (1 / (x * x) - 1) : 0;
}

bool decide_wants_samples(
    const struct conf *c, const struct decide_estimate *s, double samples, bool laid_out)
{
	double limit = decide_limit(c, laid_out), fewer;

	if (samples < c->decide.min_samples)
		return true;
	if (!s || isinf(decide_more(s, limit)))
		return false;
	fewer = fmin(1, s->samples / samples); /* than there are by now */
	return s->missed * fewer >= c->decide.min_regain ||
	       (s->low < limit && (s->gain - s->low) * sqrt(fewer) >= c->decide.min_regain);
}

/* About how long at the present rate, while those that are there age. */
static double seconds_for(const struct conf *c, const struct decide_in *in, double more)
{
	double life = c->profile.half_life_s / M_LN2, most = in->rate * life;

	if (!(in->samples + more < most))
		return INFINITY;
	return life * log((most - in->samples) / (most - in->samples - more));
}

/* Two digits of it, not less. */
static double about(double x)
{
	double unit = x >= 100 ? pow(10, floor(log10(x)) - 1) : 1;

	return ceil(x / unit) * unit;
}

/* "about 800 more, 4 min at the present rate". */
static const char *outlook(
    const struct conf *c, const struct decide_in *in, double more, char out[128])
{
	char number[NUMBER_TEXT], wait[NUMBER_TEXT];
	double s;

	if (isinf(more)) {
		snprintf(out, 128, "more samples of this usage would not change that");
		return out;
	}
	more = about(more);
	s = seconds_for(c, in, more);
	number_text(more, number);
	if (in->rate > 0)
		snprintf(out, 128, "about %s more would do, %s%s", number,
		    isinf(s) ? "which it never has at the present rate"
			     : number_span(fmax(1, ceil(s)), wait),
		    isinf(s) ? "" : " at the present rate");
	else
		snprintf(out, 128, "about %s more would do", number);
	return out;
}

/* A share of the time by which gains that were measured correct an estimate. */
static const double WORTH_SAYING = 0.005;

/* By how much would the best layout be better, and how sure is that? Estimated when nothing
 * else stops it: without an answer the next rungs are asked. */
static void enough_gain(const struct conf *c, const struct decide_in *in, struct rung_step *s)
{
	double limit = decide_limit(c, in->laid_out);
	const struct decide_estimate *g = in->estimate;
	char have[NUMBER_TEXT], least[NUMBER_TEXT], gain[NUMBER_RANGE], more[128], known[160],
	    model[48] = "";
	bool too_low;

	number_text(floor(in->samples), have);
	if (below(s, in->samples, c->decide.min_samples)) {
		stop(s, "%s samples; a gain is estimated from %s on: %s", have,
		    number_text(c->decide.min_samples, least),
		    outlook(c, in, c->decide.min_samples - in->samples, more));
		return;
	}
	if (in->forced) {
		s->numbers = false;
		skip(s, "a person forces the change");
		return;
	}
	if (!g || in->made)
		return;
	if (fabs(in->corrected) >= WORTH_SAYING)
		snprintf(model, sizeof model, ", %.1f %% by the model alone",
		    100 * (g->gain - in->corrected));
	snprintf(known, sizeof known, "gain of %s expected of a %s layout%s, from %s samples",
	    number_range(g->gain, g->low, g->high, gain), in->laid_out ? "new" : "first", model,
	    number_text(floor(g->samples), have));
	too_low = below(s, g->low, limit);
	if (in->reordered)
		pass(s, "%s; %s", known, other_list);
	else if (too_low)
		stop(s, "%s, policy requires at least %.4g %%: %s", known, 100 * limit,
		    outlook(
			c, in, fmax(0, g->samples + decide_more(g, limit) - in->samples), more));
	else
		pass(s, "%s", known);
}

static void cooled_down(const struct conf *c, const struct decide_in *in, struct rung_step *s)
{
	char since[NUMBER_TEXT], wait[NUMBER_TEXT];

	if (in->asked)
		skip(s, "a person requested it");
	else if (in->trial)
		stop(s, "takes turns with the build before it: %s", in->trial);
	else if (in->since_swap_s < 0)
		pass(s, "never swapped");
	else if (below(s, in->since_swap_s, c->decide.cool_down_s))
		stop(s, "swapped %s ago, policy requires %s", number_span(in->since_swap_s, since),
		    number_span(c->decide.cool_down_s, wait));
	else
		pass(s, "swapped %s ago", number_span(in->since_swap_s, since));
}

/* All are remembered and counted at each decision about anybody's module: not even who
 * asks may have them made without end, a broken artifact after the other. */
enum { ASKED_PER_DAY = 5000 };

static void edits_left(const struct conf *c, const struct decide_in *in, struct rung_step *s)
{
	if (in->asked && in->edits_today < ASKED_PER_DAY)
		skip(s, "a person requested it");
	else if (below(s, in->edits_today, (double)c->decide.edits_per_day))
		pass(s, "%u edits of uid %u's programs in the last 24 h", in->edits_today,
		    (unsigned)in->uid);
	else
		stop(s, "%u edits of uid %u's programs in the last 24 h, policy allows %llu",
		    in->edits_today, (unsigned)in->uid,
		    (unsigned long long)c->decide.edits_per_day);
}

static void machine_idle(const struct conf *c, const struct decide_in *in, struct rung_step *s)
{
	if (in->asked)
		skip(s, "a person requested it");
	else if (in->idle)
		pass(s, "%s", in->idle_text);
	else
		stop(s, "%s", in->idle_text);
}

/* ---- the ladder ---- */

static const struct {
	const char *name;
	void (*ask)(const struct conf *c, const struct decide_in *in, struct rung_step *s);
} ladder[RUNG_COUNT] = {
    [RUNG_NONE] = {"climbed", NULL},
    [RUNG_EXCLUDED] = {"excluded", may_it_change},
    [RUNG_HELD] = {"held", is_it_held},
    [RUNG_COVERAGE] = {"low-coverage", enough_covered},
    [RUNG_TAKEN_BACK] = {"taken-back", other_usage},
    [RUNG_GAIN] = {"low-gain", enough_gain},
    [RUNG_COOL_DOWN] = {"cool-down", cooled_down},
    [RUNG_BUDGET] = {"budget", edits_left},
    [RUNG_IDLE] = {"busy", machine_idle},
};

const char *rung_name(enum rung r)
{
	return (unsigned)r < RUNG_COUNT ? ladder[r].name : "unknown";
}

/* Returns where it ends: a rung that stops, or RUNG_NONE. */
static enum rung climb(const struct conf *c, const struct decide_in *in, struct decision *d)
{
	enum rung r;

	for (r = RUNG_EXCLUDED; r < RUNG_COUNT; r++) {
		ladder[r].ask(c, in, &d->step[r]);
		if (d->step[r].outcome == OUTCOME_STOPPED)
			return r;
	}
	return RUNG_NONE;
}

static void await_samples(const struct decide_in *in, struct rung_step *s)
{
	double more = about(fmax(1, in->missing));
	char number[NUMBER_TEXT], wait[NUMBER_TEXT];

	number_text(more, number);
	stop(s,
	    "the present layout was made from this profile; a gain is estimated again when a "
	    "quarter as many samples have come: about %s more%s%s%s",
	    number, in->rate > 0 ? ", " : "",
	    in->rate > 0 ? number_span(ceil(more / in->rate), wait) : "",
	    in->rate > 0 ? " at the present rate" : "");
}

void decide(const struct conf *c, const struct decide_in *in, struct decision *d)
{
	*d = (struct decision){.verdict = VERDICT_WAIT};
	d->rung = climb(c, in, d);
	if (d->rung != RUNG_NONE) {
		memcpy(d->text, d->step[d->rung].text, sizeof d->text);
	} else if (in->made && !in->forced) {
		d->rung = RUNG_GAIN;
		await_samples(in, &d->step[RUNG_GAIN]);
		memcpy(d->text, d->step[RUNG_GAIN].text, sizeof d->text);
	} else if (in->forced || in->estimate) {
		d->verdict = VERDICT_EDIT;
		snprintf(d->text, sizeof d->text, "to be laid out");
	} else {
		d->verdict = VERDICT_SCORE;
		d->rung = RUNG_GAIN;
		snprintf(d->text, sizeof d->text, "the gain is being estimated");
	}
}
