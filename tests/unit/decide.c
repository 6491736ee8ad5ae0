#include "managerd/decide/decide.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct conf c;
static struct decision d;

/* What climbs the whole ladder. */
static struct decide_in good(void)
{
	static const struct decide_estimate sure = {0.06, 0.04, 0.08, 0.01, 2000};

	return (struct decide_in){.samples = 2000,
	    .understood = 1000,
	    .outside = 0,
	    .rate = 100,
	    .lost = "loss 2.0 % (1.0 … 3.0) over 400 runs",
	    .change = 0.1,
	    .estimate = &sure,
	    .since_swap_s = 6 * 3600,
	    .uid = 7,
	    .edits_today = 23,
	    .idle = true,
	    .idle_text = "idle"};
}

static void setup(void)
{
	conf_defaults(&c);
	c.decide.min_gain = 0.04;
}

static void check_stop(const struct decide_in *in, enum rung r, const char *text)
{
	int i;

	decide(&c, in, &d);
	ck_assert_msg(d.rung == r, "stopped at %d (%s), not at %d", (int)d.rung, d.text, (int)r);
	ck_assert_int_eq(d.verdict, VERDICT_WAIT);
	ck_assert_str_eq(d.text, text);
	ck_assert_str_eq(d.step[r].text, text);
	ck_assert_int_eq(d.step[r].outcome, OUTCOME_STOPPED);
	for (i = 1; i < RUNG_COUNT; i++)
		if (i < (int)r)
			ck_assert_int_ne(d.step[i].outcome, OUTCOME_STOPPED);
		else if (i > (int)r)
			ck_assert_int_eq(d.step[i].outcome, OUTCOME_NOT_REACHED);
}

static void check_edit(const struct decide_in *in)
{
	decide(&c, in, &d);
	ck_assert_msg(d.verdict == VERDICT_EDIT, "stopped at %d: %s", (int)d.rung, d.text);
	ck_assert_int_eq(d.rung, RUNG_NONE);
}

START_TEST(exactly_at_every_threshold)
{
	struct decide_in in = good();

	check_edit(&in);
	ck_assert_int_eq(d.step[RUNG_IDLE].outcome, OUTCOME_PASSED);
}
END_TEST

START_TEST(excluded)
{
	struct decide_in in = good();

	in.excluded = "setuid";
	in.asked = in.forced = true;
	check_stop(&in, RUNG_EXCLUDED, "setuid");
}
END_TEST

START_TEST(held)
{
	struct decide_in in = good();

	in.held = "rolled back by uid 7";
	in.held_left_s = -1;
	check_stop(&in, RUNG_HELD, "rolled back by uid 7; held until `morphctl reoptimize now`");
	in.held_left_s = 7200;
	check_stop(&in, RUNG_HELD, "rolled back by uid 7; held for another 2 h");
	in.asked = true;
	check_edit(&in);
	ck_assert_int_eq(d.step[RUNG_HELD].outcome, OUTCOME_SKIPPED);
}
END_TEST

START_TEST(few_samples)
{
	struct decide_in in = good();

	in.samples = 1999.9;
	in.understood = 0;
	in.asked = in.forced = true;
	check_stop(&in, RUNG_GAIN,
	    "1,999 samples; a gain is estimated from 2,000 on: about 1 more would do, 1 s at "
	    "the "
	    "present rate");
	ck_assert_str_eq(d.step[RUNG_COVERAGE].text, "too few samples to tell");
	ck_assert(d.step[RUNG_GAIN].numbers);
	ck_assert_double_eq(d.step[RUNG_GAIN].value, 1999.9);
	ck_assert_double_eq(d.step[RUNG_GAIN].limit, 2000);
	in.rate = 0;
	check_stop(&in, RUNG_GAIN,
	    "1,999 samples; a gain is estimated from 2,000 on: about 1 more would do");
}
END_TEST

START_TEST(low_coverage)
{
	struct decide_in in = good();

	check_edit(&in);
	in.outside = 1;
	check_stop(&in, RUNG_COVERAGE,
	    "49.9 % of the samples in functions that can be laid out, policy requires 50 %");
}
END_TEST

START_TEST(taken_back)
{
	struct decide_in in = good();

	in.change = 0.0999;
	in.asked = true;
	check_stop(&in, RUNG_TAKEN_BACK,
	    "usage changed by 9.9 % since a layout was made that was taken back (loss 2.0 % (1.0 … "
	    "3.0) over 400 runs), policy requires 10 %");
	in.forced = true;
	check_edit(&in);
	ck_assert_int_eq(d.step[RUNG_TAKEN_BACK].outcome, OUTCOME_SKIPPED);
	in = good();
	in.change = 0;
	in.lost = NULL;
	check_edit(&in);
}
END_TEST

START_TEST(low_gain)
{
	struct decide_estimate e = {0.05, 0.03999, 0.06, 0.01, 2000};
	struct decide_in in = good();

	in.estimate = &e;
	in.asked = true;
	check_stop(&in, RUNG_GAIN,
	    "gain of 5.0 % (4.0 … 6.0) expected of a first layout, from 2,000 samples, policy "
	    "requires at least 4 %: about 2 more would do, 1 s at the present rate");
	e = (struct decide_estimate){0.02, 0.01, 0.03, 0.01, 2000};
	check_stop(&in, RUNG_GAIN,
	    "gain of 2.0 % (1.0 … 3.0) expected of a first layout, from 2,000 samples, policy "
	    "requires at least 4 %: more samples of this usage would not change that");
	in.corrected = -0.0312;
	check_stop(&in, RUNG_GAIN,
	    "gain of 2.0 % (1.0 … 3.0) expected of a first layout, 5.1 % by the model alone, from "
	    "2,000 samples, policy requires at least 4 %: more samples of this usage would not "
	    "change that");
	in.corrected = 0.004;
	check_stop(&in, RUNG_GAIN,
	    "gain of 2.0 % (1.0 … 3.0) expected of a first layout, from 2,000 samples, policy "
	    "requires at least 4 %: more samples of this usage would not change that");
	/* The present layout has a profile, too, and the model errs in both. */
	in.laid_out = true;
	check_edit(&in);
	e.low = 0.0099;
	check_stop(&in, RUNG_GAIN,
	    "gain of 2.0 % (1.0 … 3.0) expected of a new layout, from 2,000 samples, policy "
	    "requires "
	    "at least 1 %: about 14 more would do, 1 s at the present rate");
	in.forced = true;
	check_edit(&in);
	ck_assert_int_eq(d.step[RUNG_GAIN].outcome, OUTCOME_SKIPPED);
}
END_TEST

#define OTHER_LIST \
	"the list of functions that come first is another one than the last layout was made with"

/* It is made whatever it gains, by the list alone; but not at any time. */
START_TEST(another_list)
{
	struct decide_estimate e = {-0.02, -0.03, -0.01, 0, 2000};
	struct decide_in in = good();

	in.change = 0;
	in.reordered = true;
	in.estimate = &e;
	check_edit(&in);
	ck_assert_str_eq(d.step[RUNG_TAKEN_BACK].text, OTHER_LIST);
	ck_assert_str_eq(d.step[RUNG_GAIN].text,
	    "gain of -2.0 % (-3.0 … -1.0) expected of a first layout, from 2,000 "
	    "samples; " OTHER_LIST);
	in.estimate = NULL;
	decide(&c, &in, &d);
	ck_assert_int_eq(d.verdict, VERDICT_SCORE);
	in.estimate = &e;
	in.since_swap_s = 90;
	check_stop(&in, RUNG_COOL_DOWN, "swapped 90 s ago, policy requires 6 h");
	in.samples = 1999;
	decide(&c, &in, &d);
	ck_assert_int_eq(d.rung, RUNG_GAIN);
}
END_TEST

/* In two half-lives there are fewer samples than the rate alone says, since they age. */
START_TEST(what_the_rate_never_gives)
{
	struct decide_estimate e = {0.05, 0, 0.1, 0, 2000};
	struct decide_in in = good();

	/* 50,000 samples make a spread of .01. */
	in.estimate = &e;
	in.rate = 48000 * M_LN2 / c.profile.half_life_s;
	check_stop(&in, RUNG_GAIN,
	    "gain of 5.0 % (0.0 … 10.0) expected of a first layout, from 2,000 samples, policy "
	    "requires at least 4 %: about 48,000 more would do, which it never has at the present "
	    "rate");
	in.rate *= 2;
	check_stop(&in, RUNG_GAIN,
	    "gain of 5.0 % (0.0 … 10.0) expected of a first layout, from 2,000 samples, policy "
	    "requires at least 4 %: about 48,000 more would do, 7.22 d at the present rate");
}
END_TEST

START_TEST(what_is_said_is_rounded)
{
	struct decide_estimate e = {0.05, 0.03, 0.07, 0, 1234};
	struct decide_in in = good();

	/* 1234 * 3 */
	in.estimate = &e;
	in.rate = 0;
	check_stop(&in, RUNG_GAIN,
	    "gain of 5.0 % (3.0 … 7.0) expected of a first layout, from 1,234 samples, policy "
	    "requires at least 4 %: about 3,000 more would do");
}
END_TEST

START_TEST(how_many_more)
{
	struct decide_estimate e = {0.05, 0.03, 0.07, 0, 1000};

	/* Half the spread needs four times as many. */
	ck_assert_double_eq_tol(decide_more(&e, 0.04), 3000, 1e-6);
	ck_assert_double_eq(decide_more(&e, 0.03), 0);
	ck_assert(isinf(decide_more(&e, 0.05)));
	/* With what is missed the gain grows by three quarters of it meanwhile. */
	e.missed = 0.02;
	ck_assert_double_eq_tol(decide_more(&e, 0.055), 3000, 1e-6);
	ck_assert(isinf(decide_more(&e, 0.071)));
	/* Sure of what it is, and it grows. */
	e.low = 0.05;
	ck_assert_double_eq_tol(decide_more(&e, 0.065), 3000, 1e-6);
	e.samples = 0;
	ck_assert(isinf(decide_more(&e, 0.065)));
}
END_TEST

START_TEST(made_from_this_profile)
{
	struct decide_in in = good();

	in.made = in.laid_out = true;
	in.missing = 480.5;
	decide(&c, &in, &d);
	ck_assert_int_eq(d.rung, RUNG_GAIN);
	ck_assert_int_eq(d.verdict, VERDICT_WAIT);
	ck_assert_str_eq(d.text,
	    "the present layout was made from this profile; a gain is "
	    "estimated again when a quarter "
	    "as many samples have come: about 490 more, 5 s at the present rate");
	ck_assert_str_eq(d.step[RUNG_GAIN].text, d.text);
	in.rate = in.missing = 0;
	decide(&c, &in, &d);
	ck_assert_ptr_nonnull(strstr(d.text, "have come: about 1 more"));
	ck_assert_ptr_null(strstr(d.text, "rate"));
	/* While it cools down that is what it waits for. */
	in.since_swap_s = 90;
	check_stop(&in, RUNG_COOL_DOWN, "swapped 90 s ago, policy requires 6 h");
	in.asked = in.forced = true;
	check_edit(&in);
}
END_TEST

START_TEST(gain_is_measured_last)
{
	struct decide_in in = good();

	in.estimate = NULL;
	decide(&c, &in, &d);
	ck_assert_int_eq(d.verdict, VERDICT_SCORE);
	in.idle = false;
	in.idle_text = "14 % idle";
	decide(&c, &in, &d);
	ck_assert_int_eq(d.verdict, VERDICT_WAIT);
	ck_assert_int_eq(d.rung, RUNG_IDLE);
	in.asked = true;
	decide(&c, &in, &d);
	ck_assert_int_eq(d.verdict, VERDICT_SCORE);
	in.forced = true;
	check_edit(&in);
}
END_TEST

START_TEST(cool_down)
{
	struct decide_in in = good();

	in.since_swap_s = 6 * 3600 - 1;
	check_stop(&in, RUNG_COOL_DOWN, "swapped 6 h ago, policy requires 6 h");
	in.since_swap_s = 90;
	check_stop(&in, RUNG_COOL_DOWN, "swapped 90 s ago, policy requires 6 h");
	in.since_swap_s = -1;
	check_edit(&in);
	in.since_swap_s = 0;
	in.asked = true;
	check_edit(&in);
}
END_TEST

START_TEST(budget)
{
	struct decide_in in = good();

	in.edits_today = 24;
	check_stop(
	    &in, RUNG_BUDGET, "24 edits of uid 7's programs in the last 24 h, policy allows 24");
	in.asked = true;
	check_edit(&in);
	in.edits_today = 5000;
	check_stop(
	    &in, RUNG_BUDGET, "5000 edits of uid 7's programs in the last 24 h, policy allows 24");
}
END_TEST

START_TEST(busy)
{
	struct decide_in in = good();

	in.idle = false;
	in.idle_text = "14 % idle";
	check_stop(&in, RUNG_IDLE, "14 % idle");
	in.asked = true;
	check_edit(&in);
}
END_TEST

START_TEST(names)
{
	ck_assert_str_eq(rung_name(RUNG_NONE), "climbed");
	ck_assert_str_eq(rung_name(RUNG_IDLE), "busy");
	ck_assert_str_eq(rung_name(RUNG_COUNT), "unknown");
	ck_assert_str_eq(outcome_name(OUTCOME_STOPPED), "stopped");
	ck_assert_str_eq(outcome_name(OUTCOME_NOT_REACHED), "not reached");
}
END_TEST

START_TEST(which_want_samples)
{
	struct decide_estimate g = {
	    .gain = .05, .low = .045, .high = .06, .missed = .02, .samples = 4000};

	/* Too few for an estimate; enough, and none made. */
	ck_assert(decide_wants_samples(&c, NULL, c.decide.min_samples - 1, false));
	ck_assert(!decide_wants_samples(&c, NULL, c.decide.min_samples, false));
	/* A layout is sure to gain, but a sharper profile would gain more; by twice as many it is.
	 */
	ck_assert(decide_wants_samples(&c, &g, 4000, false));
	ck_assert(decide_wants_samples(&c, &g, 7900, false));
	ck_assert(!decide_wants_samples(&c, &g, 8100, false));
	/* It is known to gain, but not how surely. */
	g.missed = 0;
	ck_assert(!decide_wants_samples(&c, &g, 4000, false));
	g.low = .03;
	ck_assert(decide_wants_samples(&c, &g, 4000, false));
	ck_assert(!decide_wants_samples(&c, &g, 16500, false));
	/* As a layout over another it is sure. */
	ck_assert(!decide_wants_samples(&c, &g, 4000, true));
	/* Nor where no number of them would do, or nothing is known. */
	g = (struct decide_estimate){
	    .gain = .01, .low = -.01, .high = .03, .missed = .02, .samples = 4000};
	ck_assert(!decide_wants_samples(&c, &g, 4000, false));
	ck_assert(decide_wants_samples(&c, &g, 4000, true));
	g.low = g.high = NAN;
	g.missed = 0;
	ck_assert(!decide_wants_samples(&c, &g, 4000, true));
}
END_TEST

UNIT_MAIN("decide", 0, setup, NULL, exactly_at_every_threshold, excluded, held, few_samples,
    low_coverage, taken_back, low_gain, another_list, what_the_rate_never_gives,
    what_is_said_is_rounded, how_many_more, which_want_samples, made_from_this_profile,
    gain_is_measured_last, cool_down, budget, busy, names)
