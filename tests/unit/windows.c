/* A counter's readings and a monitor's reports, brought together; and what counters print. */
#include "managerd/trial/windows.h"
#include "tests/unit/unit.h"

#include <string.h>

#define SECOND 1000000000ULL

static struct windows w;
static struct trial_window got;
static enum trial_trouble trouble;

static void setup(void)
{
	w = (struct windows){0};
	trouble = TRIAL_FINE;
}

static bool report_of(uint64_t session, double at_s, double old_s, double new_s)
{
	struct windows_report r = {
	    session, (uint64_t)(at_s * 1e9), {(uint64_t)(old_s * 1e9), (uint64_t)(new_s * 1e9)}};

	return windows_report(&w, &r, &got, &trouble);
}

static bool report(double at_s, double old_s, double new_s)
{
	return report_of(1, at_s, old_s, new_s);
}

static const struct {
	const char *text;
	double is; /* -1: no number */
} number[] = {{"12\n", 12}, {" 0 ", 0}, {"1.5e+06\n", 1500000},
    {"9007199254740992", 9007199254740992.0}, {"9007199254740993e3", -1}, {"", -1}, {"\n", -1},
    {"-1", -1}, {"+1", -1}, {"nan", -1}, {"inf", -1}, {"0x10", -1}, {"1 2", -1}, {"1,5", -1},
    {"1e", -1}, {"1e999", -1}, {"12\nrequests", -1}, {"00000000000000000000000000000000001", -1},
    {".5", -1}, {"5.", 5}};

START_TEST(numbers)
{
	const char *text = number[_i].text;
	double v = -1;

	ck_assert_int_eq(windows_number(text, strlen(text), &v), number[_i].is < 0 ? -1 : 0);
	if (number[_i].is >= 0)
		ck_assert_double_eq(v, number[_i].is);
	ck_assert_int_eq(windows_number("1\0"
					"2",
			     3, &v),
	    -1);
}
END_TEST

/* CPU time at a reading is on the line between two reports. */
START_TEST(a_window_is_between_two_readings)
{
	ck_assert(!report(100, 7, 0));
	windows_read(&w, 105 * SECOND, 1000);
	ck_assert(!report(110, 9, 0));
	windows_read(&w, 112 * SECOND, 1300);
	ck_assert(report(120, 14, 0));
	ck_assert_int_eq(got.arm, TRIAL_OLD);
	ck_assert_uint_eq(got.start_ns, 105 * SECOND);
	ck_assert_double_eq(got.work, 300);
	ck_assert_uint_eq(got.cpu_ns, 2 * SECOND); /* from 8 to 10 */
	/* No reading, no window; one may be of some reports ago, but not of before all. */
	ck_assert(!report(130, 15, 0));
	ck_assert(!report(140, 16, 0));
	windows_read(&w, 125 * SECOND, 1400);
	ck_assert(report(140, 16, 0));
	ck_assert_double_eq(got.work, 100);
	ck_assert_uint_eq(got.start_ns, 112 * SECOND);
	ck_assert_uint_eq(got.cpu_ns, 4500000000);
	windows_read(&w, 99 * SECOND, 1450);
	ck_assert(!report(140, 16, 0));
	windows_read(&w, 141 * SECOND, 1500);
	ck_assert(report(150, 17, 0));
	ck_assert_double_eq(got.work, 100);
	ck_assert_int_eq(trouble, TRIAL_FINE);
}
END_TEST

/* Reads at the middle of each report's time; whether a window came of it. */
static bool step(double count, double old_s, double new_s)
{
	static double at;

	at = w.npast ? (double)w.past[w.npast - 1].at_ns / 1e9 + 10 : 1000;
	windows_read(&w, (uint64_t)((at - 5) * 1e9), count);
	return report(at, old_s, new_s);
}

START_TEST(one_build_does_all_the_work)
{
	step(0, 1, 0);
	step(0, 2, 0);
	ck_assert(step(10, 3, 0));
	ck_assert(!step(20, 3.5, 0.5)); /* both */
	ck_assert(!step(30, 3.5, 1.5)); /* … in its first half */
	ck_assert(step(40, 3.5, 2.5));
	ck_assert_int_eq(got.arm, TRIAL_NEW);
	/* The first one after a restart is left out. */
	windows_restarted(&w);
	ck_assert(!step(0, 3.5, 3.5));
	ck_assert(!step(10, 3.5, 4.5));
	ck_assert(step(20, 3.5, 5.5));
	ck_assert_int_eq(trouble, TRIAL_FINE);
}
END_TEST

START_TEST(counters_that_are_none)
{
	double cpu = 1;
	unsigned i;

	step(100, cpu++, 0);
	step(100, cpu++, 0);
	/* A service that waits has nothing to count. */
	for (i = 0; i < 3 * WINDOWS_STILL; i++)
		ck_assert(!step(100, cpu += 0.01, 0));
	ck_assert_int_eq(trouble, TRIAL_FINE);
	for (i = 0; i < WINDOWS_STILL + 1; i++)
		ck_assert(!step(100, cpu += 5, 0));
	ck_assert_int_eq(trouble, TRIAL_STILL);
	trouble = TRIAL_FINE;
	/* It begins again with its service, now and then. */
	for (i = 0; i < 20; i++)
		step(i % 4 * 10, cpu += 5, 0);
	ck_assert_int_eq(trouble, TRIAL_FINE);
	for (i = 0; i < WINDOWS_BACK; i++)
		ck_assert(!step(1000 - i, cpu += 5, 0) || !i);
	ck_assert_int_eq(trouble, TRIAL_FINE);
	ck_assert(!step(900, cpu += 5, 0));
	ck_assert_int_eq(trouble, TRIAL_BACK);
}
END_TEST

/* One monitor at a time is believed; what another one counts began elsewhere. */
START_TEST(monitors_come_and_go)
{
	step(0, 1, 0);
	step(0, 2, 0);
	ck_assert(!report_of(2, 1015, 500, 500));
	ck_assert(step(10, 3, 0));
	ck_assert_uint_eq(got.cpu_ns, SECOND);
	ck_assert(!report_of(2, 1200, 500, 500));
	ck_assert(!report_of(1, 1205, 40, 0));
	windows_read(&w, 1205 * SECOND, 20);
	ck_assert(!report_of(2, 1210, 502, 500));
	windows_read(&w, 1215 * SECOND, 30);
	ck_assert(report_of(2, 1220, 504, 500));
	ck_assert_uint_eq(got.cpu_ns, 2 * SECOND);
	/* Its total is less: it has begun again. */
	windows_read(&w, 1225 * SECOND, 40);
	ck_assert(!report_of(2, 1230, 1, 0));
}
END_TEST

UNIT_MAIN("windows", 0, setup, NULL, UNIT_LOOP(numbers, sizeof number / sizeof *number),
    a_window_is_between_two_readings, one_build_does_all_the_work, counters_that_are_none,
    monitors_come_and_go)
