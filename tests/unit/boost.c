/* How many extra samples there are, and when. */
#include "monitor-client/boost.h"
#include "monitor-client/kernel/clock.h"
#include "monitor-client/kernel/cost.h"
#include "tests/unit/unit.h"

static uint64_t rate(uint32_t budget, uint64_t cost)
{
	uint64_t period = boost_period(budget, cost);

	return period ? SECOND / period : 0;
}

START_TEST(a_budget_is_a_rate)
{
	/* 0.5 %: 5 ms of a second, by 22 µs; the prime below 227.3 is 227. */
	ck_assert_uint_eq(rate(5000, 22000), 227);
	ck_assert_uint_eq(rate(5000, 10000), 499);
	ck_assert_uint_eq(rate(10000, 22000), 449);
	/* Never more than a thousand, and none where they are too few. */
	ck_assert_uint_eq(rate(100000, 4000), 997);
	ck_assert_uint_eq(rate(1000000, 1), 997);
	ck_assert_uint_eq(rate(370, 22000), 0);
	ck_assert_uint_eq(rate(400, 22000), 17);
	ck_assert_uint_eq(rate(0, 22000), 0);
	ck_assert_uint_eq(rate(5000, 0), 0);
}
END_TEST

START_TEST(samples_never_cost_more)
{
	uint64_t budget, cost, period;

	for (budget = 100; budget <= 100000; budget += 700)
		for (cost = 1000; cost < 60000; cost += 777) {
			period = boost_period((uint32_t)budget, cost);
			/* The period is cut to whole nanoseconds. */
			ck_assert(
			    !period || (double)cost / (double)(period + 1) <= (double)budget / 1e6);
		}
}
END_TEST

START_TEST(they_are_taken_while_their_build_runs)
{
	struct build_id id = {2, {1, 2}}, other = {2, {1, 3}};
	struct wire_boost told = {5000, {&id, 1}};
	struct boost b = {.cost = 20000};
	uint64_t now = 100 * SECOND;

	boost_batch(&b, &told, now);
	ck_assert(boost_has(&b, &id) && !boost_has(&b, &other));
	ck_assert_uint_eq(b.period, 0);
	b.seen = 3;
	boost_batch(&b, &told, now += 10 * SECOND);
	ck_assert_uint_eq(b.seen, 0);
	ck_assert_uint_eq(b.period, boost_period(5000, 20000));
	boost_batch(&b, &told, now += 50 * SECOND);
	ck_assert_uint_ne(b.period, 0);
	boost_batch(&b, &told, now += 10 * SECOND);
	ck_assert_uint_eq(b.period, 0);
	b.seen = 1;
	boost_batch(&b, &told, now += 10 * SECOND);
	ck_assert_uint_ne(b.period, 0);
	told.builds.n = 0;
	boost_batch(&b, &told, now);
	ck_assert(!boost_has(&b, &id));
	ck_assert_uint_eq(b.period, 0);
	boost_free(&b);
}
END_TEST

START_TEST(a_cost_is_the_median_of_the_longest_gaps)
{
	uint64_t gap[100];
	size_t i, n = 0;

	/* 40 samples, twice something took a ms, and others of no account. */
	for (i = 0; i < 40; i++)
		gap[n++] = 20000 + i % 5 * 100;
	for (i = 0; i < 50; i++)
		gap[n++] = 400;
	gap[n++] = 1000000;
	gap[n++] = 1000000;
	ck_assert_uint_eq(cost_of_gaps(gap, n, 40), 20200);
	ck_assert_uint_eq(cost_of_gaps(gap, n, 15), 0);
	ck_assert_uint_eq(cost_of_gaps(gap, 10, 40), 0);
}
END_TEST

/* Where the kernel allows it. */
START_TEST(a_cost_can_be_measured)
{
	uint64_t few = cost_measure(false), all = cost_measure(true);

	ck_assert(!few || (few > 300 && few < 5000000));
	ck_assert(!all || (all > 300 && all < 5000000));
}
END_TEST

UNIT_MAIN("boost", 0, NULL, NULL, a_budget_is_a_rate, samples_never_cost_more,
    they_are_taken_while_their_build_runs, a_cost_is_the_median_of_the_longest_gaps,
    a_cost_can_be_measured)
