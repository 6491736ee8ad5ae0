/* tick_accept(): one sample per tick, whatever else the timer fires for. */
#include "monitor-client/kernel/tick.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

#define MS 1000000ULL

START_TEST(every_tick_is_taken_once)
{
	struct tick_grid g;
	uint64_t i;

	tick_init(&g, 4 * MS);
	for (i = 1; i <= 1000; i++)
		ck_assert(tick_accept(&g, i * 4 * MS + i % 7 * 3000));
}
END_TEST

START_TEST(other_timers_are_refused)
{
	struct tick_grid g;
	uint64_t i, ticks = 0, others = 0;

	tick_init(&g, 4 * MS);
	for (i = 1; i <= 1000; i++) {
		ticks += tick_accept(&g, i * 4 * MS + 2000);
		others += tick_accept(&g, i * 4 * MS + 1300000);
		others += tick_accept(&g, i * 4 * MS + 3100000);
	}
	ck_assert_uint_eq(ticks, 1000);
	ck_assert_uint_eq(others, 0);
}
END_TEST

/* Older kernels and skew_tick: the grid lies anywhere. */
START_TEST(an_odd_phase_is_learned)
{
	struct tick_grid g;
	uint64_t i, ticks = 0, others = 0;

	tick_init(&g, 4 * MS);
	for (i = 1; i <= 1000; i++) {
		others += i % 3 == 0 && tick_accept(&g, i * 4 * MS + 400000 + i * 997 % 500000);
		ticks += tick_accept(&g, i * 4 * MS + 2700000);
	}
	ck_assert_uint_ge(ticks, 980);
	ck_assert_uint_le(others, 20);
}
END_TEST

START_TEST(a_tick_just_before_its_grid_is_that_tick)
{
	struct tick_grid g;
	uint64_t i, taken = 0;

	tick_init(&g, 4 * MS);
	for (i = 1; i <= 1000; i++)
		taken += tick_accept(&g, i * 4 * MS + (i % 2 ? 500 : -500ULL));
	ck_assert_uint_eq(taken, 1000);
}
END_TEST

START_TEST(after_idling_it_goes_on)
{
	struct tick_grid g;

	tick_init(&g, 4 * MS);
	ck_assert(tick_accept(&g, 4 * MS));
	ck_assert(tick_accept(&g, 4000 * MS + 900));
	ck_assert(!tick_accept(&g, 4000 * MS + 1000));
}
END_TEST

START_TEST(the_kernels_period_is_a_usual_one)
{
	uint64_t p = tick_period();

	ck_assert(p >= 900000 && p <= 10 * MS + 100000);
}
END_TEST

UNIT_MAIN("tick", 0, NULL, NULL, every_tick_is_taken_once, other_timers_are_refused,
    an_odd_phase_is_learned, a_tick_just_before_its_grid_is_that_tick, after_idling_it_goes_on,
    the_kernels_period_is_a_usual_one)
