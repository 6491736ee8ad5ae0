#include "managerd/decide.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *rung_name(enum rung r)
{
	static const char *const name[RUNG_COUNT] = {"climbed", "excluded", "held", "few-samples",
	    "low-coverage", "same-usage", "low-gain", "cool-down", "budget", "busy"};

	return (unsigned)r < RUNG_COUNT ? name[r] : "unknown";
}

const char *outcome_name(enum outcome o)
{
	static const char *const name[] = {"not reached", "passed", "skipped", "stopped"};

	return (unsigned)o <= OUTCOME_STOPPED ? name[o] : "unknown";
}

static void note(struct decision *d, enum rung r, enum outcome o, const char *fmt, va_list ap)
{
	struct rung_step *s = &d->step[r];

	s->outcome = o;
	vsnprintf(s->text, sizeof s->text, fmt, ap);
}

__attribute__((format(printf, 3, 4))) static void pass(
    struct decision *d, enum rung r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(d, r, OUTCOME_PASSED, fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 3, 4))) static void skip(
    struct decision *d, enum rung r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(d, r, OUTCOME_SKIPPED, fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 3, 4))) static void stop(
    struct decision *d, enum rung r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(d, r, OUTCOME_STOPPED, fmt, ap);
	va_end(ap);
	d->verdict = VERDICT_WAIT;
	d->rung = r;
	memcpy(d->text, d->step[r].text, sizeof d->text);
}

static void numbers(struct decision *d, enum rung r, double value, double limit)
{
	d->step[r].numbers = true;
	d->step[r].value = value;
	d->step[r].limit = limit;
}

/* "90 s", "5 min", "3.5 h", "7 d". */
static const char *span(double s, char out[32])
{
	static const struct {
		double s;
		const char *unit;
	} u[] = {{86400, "d"}, {3600, "h"}, {60, "min"}};
	size_t i;

	for (i = 0; i < 3 && s < 2 * u[i].s; i++)
		;
	snprintf(out, 32, "%.3g %s", i < 3 ? s / u[i].s : s, i < 3 ? u[i].unit : "s");
	return out;
}

static double coverage(const struct decide_in *in)
{
	double all = in->samples + in->outside;

	return all > 0 ? in->understood / all : 0;
}

/* Never rounds a value to the limit that it misses. */
static double percent(double x)
{
	return floor(x * 1000) / 10;
}

void decide(const struct conf *c, const struct decide_in *in, struct decision *d)
{
	double cover = coverage(in);
	char a[32], b[32];

	*d = (struct decision){.verdict = VERDICT_WAIT};

	/* 1: the policy and the file itself */
	if (in->excluded) {
		stop(d, RUNG_EXCLUDED, "%s", in->excluded);
		return;
	}
	pass(d, RUNG_EXCLUDED, "the policy lets it be changed");

	/* 2: held after a rollback or a failure */
	if (in->held && !in->asked) {
		if (in->held_left_s < 0)
			stop(d, RUNG_HELD, "%s; held until a reoptimize is asked for", in->held);
		else
			stop(d, RUNG_HELD, "%s; held for another %s", in->held,
			    span(in->held_left_s, a));
		return;
	}
	if (in->held)
		skip(d, RUNG_HELD, "%s, but a person asks for it", in->held);
	else
		pass(d, RUNG_HELD, "not held");

	/* 3: enough samples */
	numbers(d, RUNG_SAMPLES, in->samples, c->decide.min_samples);
	if (in->samples < c->decide.min_samples) {
		stop(d, RUNG_SAMPLES, "%.0f samples, policy asks for %.0f", floor(in->samples),
		    c->decide.min_samples);
		return;
	}
	pass(d, RUNG_SAMPLES, "%.0f samples", in->samples);

	/* 4: enough of them in code that can be laid out */
	numbers(d, RUNG_COVERAGE, cover, c->decide.min_coverage);
	if (cover < c->decide.min_coverage) {
		stop(d, RUNG_COVERAGE,
		    "%.1f %% of the samples in functions that can be laid out, policy asks for "
		    "%.4g %%",
		    percent(cover), 100 * c->decide.min_coverage);
		return;
	}
	pass(d, RUNG_COVERAGE, "%.1f %% of the samples in functions that can be laid out",
	    percent(cover));

	/* 5: usage changed since the present layout was made */
	if (!in->laid_out) {
		pass(d, RUNG_CHANGE, "runs as it was built, which was for no usage");
	} else {
		numbers(d, RUNG_CHANGE, in->change, c->decide.min_change);
		if (in->change >= c->decide.min_change) {
			pass(d, RUNG_CHANGE, "usage changed by %.1f %%", percent(in->change));
		} else if (in->forced) {
			skip(d, RUNG_CHANGE, "usage changed by %.1f %%, but a person forces it",
			    percent(in->change));
		} else {
			stop(d, RUNG_CHANGE,
			    "usage changed by %.1f %% since the present layout was made, policy "
			    "asks for %.4g %%",
			    percent(in->change), 100 * c->decide.min_change);
			return;
		}
	}

	/* 6: a better layout is in sight; measured when nothing else stops it */
	if (in->forced) {
		skip(d, RUNG_GAIN, "a person forces it");
	} else if (in->have_gain) {
		numbers(d, RUNG_GAIN, in->gain, c->decide.min_gain);
		if (in->gain < c->decide.min_gain) {
			stop(d, RUNG_GAIN, "predicted gain %.1f %%, policy asks for %.4g %%",
			    percent(in->gain), 100 * c->decide.min_gain);
			return;
		}
		pass(d, RUNG_GAIN, "predicted gain %.1f %%", percent(in->gain));
	}

	/* 7 to 9: not now */
	if (in->asked) {
		skip(d, RUNG_COOL_DOWN, "a person asks for it");
		skip(d, RUNG_BUDGET, "a person asks for it");
		skip(d, RUNG_IDLE, "a person asks for it");
		goto climbed;
	}
	if (in->since_swap_s < 0) {
		pass(d, RUNG_COOL_DOWN, "never swapped");
	} else {
		numbers(d, RUNG_COOL_DOWN, in->since_swap_s, c->decide.cool_down_s);
		if (in->since_swap_s < c->decide.cool_down_s) {
			stop(d, RUNG_COOL_DOWN, "swapped %s ago, policy waits %s",
			    span(in->since_swap_s, a), span(c->decide.cool_down_s, b));
			return;
		}
		pass(d, RUNG_COOL_DOWN, "swapped %s ago", span(in->since_swap_s, a));
	}
	numbers(d, RUNG_BUDGET, in->edits_today, (double)c->decide.edits_per_day);
	if (in->edits_today >= c->decide.edits_per_day) {
		stop(d, RUNG_BUDGET, "%u edits in the last 24 h, policy allows %llu",
		    in->edits_today, (unsigned long long)c->decide.edits_per_day);
		return;
	}
	pass(d, RUNG_BUDGET, "%u edits in the last 24 h", in->edits_today);
	if (!in->idle) {
		stop(d, RUNG_IDLE, "%s", in->idle_text);
		return;
	}
	pass(d, RUNG_IDLE, "%s", in->idle_text);

climbed:
	if (in->forced || in->have_gain) {
		d->verdict = VERDICT_EDIT;
		snprintf(d->text, sizeof d->text, "%s", "to be laid out");
	} else {
		d->verdict = VERDICT_SCORE;
		d->rung = RUNG_GAIN;
		snprintf(d->text, sizeof d->text, "%s", "the gain is being predicted");
	}
}
