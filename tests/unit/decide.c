#include "managerd/decide/decide.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct conf c;
static struct decision d;

/* What climbs the whole ladder. */
static struct decide_in good(void)
{
	return (struct decide_in){.samples = 15000,
	    .understood = 10000,
	    .outside = 0,
	    .laid_out = true,
	    .change = 0.1,
	    .have_gain = true,
	    .gain = 0.04,
	    .since_swap_s = 6 * 3600,
	    .uid = 7,
	    .edits_today = 23,
	    .idle = true,
	    .idle_text = "idle"};
}

static void setup(void)
{
	conf_defaults(&c);
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

	in.samples = 14999.9;
	in.asked = in.forced = true;
	check_stop(&in, RUNG_SAMPLES, "14,999 samples, policy requires 15,000");
	ck_assert(d.step[RUNG_SAMPLES].numbers);
	ck_assert_double_eq(d.step[RUNG_SAMPLES].value, 14999.9);
	ck_assert_double_eq(d.step[RUNG_SAMPLES].limit, 15000);
}
END_TEST

START_TEST(low_coverage)
{
	struct decide_in in = good();

	in.outside = 5000;
	check_edit(&in);
	in.outside = 5001;
	check_stop(&in, RUNG_COVERAGE,
	    "49.9 % of the samples in functions that can be laid out, policy requires 50 %");
}
END_TEST

START_TEST(same_usage)
{
	struct decide_in in = good();

	in.change = 0.0999;
	in.asked = true;
	check_stop(&in, RUNG_CHANGE,
	    "usage changed by 9.9 % since the present layout was made, policy requires 10 %");
	in.forced = true;
	check_edit(&in);
	ck_assert_int_eq(d.step[RUNG_CHANGE].outcome, OUTCOME_SKIPPED);
	in = good();
	in.change = 0;
	in.laid_out = false;
	check_edit(&in);
}
END_TEST

START_TEST(low_gain)
{
	struct decide_in in = good();

	in.gain = 0.03999;
	in.asked = true;
	check_stop(&in, RUNG_GAIN, "predicted gain 3.9 %, policy requires 4 %");
	in.gain = -0.05;
	check_stop(&in, RUNG_GAIN, "predicted gain -5.0 %, policy requires 4 %");
	in.forced = true;
	check_edit(&in);
}
END_TEST

START_TEST(gain_is_measured_last)
{
	struct decide_in in = good();

	in.have_gain = false;
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

UNIT_MAIN("decide", 0, setup, NULL, exactly_at_every_threshold, excluded, held, few_samples,
    low_coverage, same_usage, low_gain, gain_is_measured_last, cool_down, budget, busy, names)
