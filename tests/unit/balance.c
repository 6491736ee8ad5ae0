#include "editor/infer/balance.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static struct arena mem;

static void setup(void)
{
	mem = (struct arena){0};
}

static void teardown(void)
{
	arena_free(&mem);
}

START_TEST(nothing_known_is_one)
{
	double factor[2] = {9, 9};

	balance_fit(NULL, 0, NULL, 2, factor, &mem);
	ck_assert_double_eq(factor[0], 1);
	ck_assert_double_eq(factor[1], 1);
}
END_TEST

/* The least of 4 ln²f + 4 ln²g + 20 ln²(4 f / g). */
START_TEST(two_meet_in_the_middle)
{
	static const struct balance_part part[] = {{0, 100}, {1, 25}};
	static const struct balance b[] = {{0, 1, 2, 20}};
	double factor[3];

	balance_fit(b, 1, part, 3, factor, &mem);
	ck_assert_double_eq_tol(log(factor[0]), -5. / 11 * log(4), 0.01);
	ck_assert_double_eq_tol(log(factor[1]), 5. / 11 * log(4), 0.01);
	ck_assert_double_eq(factor[2], 1);
}
END_TEST

START_TEST(what_is_weak_moves_little)
{
	static const struct balance_part part[] = {{0, 100}, {1, 25}};
	static const struct balance b[] = {{0, 1, 2, 0.01}};
	double factor[2];

	balance_fit(b, 1, part, 2, factor, &mem);
	ck_assert_double_gt(factor[0], 0.98);
	ck_assert_double_lt(factor[0], 1);
	ck_assert_double_gt(factor[1], 1);
	ck_assert_double_lt(factor[1], 1.02);
}
END_TEST

/* Three callers of one function, which seems to be entered too often: it is
 * the odd one. */
START_TEST(many_outweigh_one)
{
	static const struct balance_part part[] = {
	    {0, 300}, {1, 30}, {2, 30}, {3, 40}, {1, 20}, {2, 20}, {2, 20}, {3, 20}};
	static const struct balance b[] = {{0, 1, 4, 9}, {4, 5, 6, 9}, {6, 7, 8, 9}};
	double factor[4];

	balance_fit(b, 3, part, 4, factor, &mem);
	ck_assert_double_lt(fabs(log(factor[1] / factor[2])), 0.2);
	ck_assert_double_lt(fabs(log(factor[2] / factor[3])), 0.2);
	ck_assert_double_gt(-log(factor[0]), 1.5 * log(factor[1]));
	ck_assert_double_lt(factor[0], 0.7);
}
END_TEST

/* A function that calls itself, as often on both sides as it likes. */
START_TEST(recursion_changes_nothing)
{
	static const struct balance_part part[] = {{0, 10}, {0, 4}, {0, 6}};
	static const struct balance b[] = {{0, 1, 3, 9}};
	double factor[1];

	balance_fit(b, 1, part, 1, factor, &mem);
	ck_assert_double_eq_tol(factor[0], 1, 1e-9);
}
END_TEST

START_TEST(hostile_amounts_stay_within_bounds)
{
	static const struct balance_part part[] = {
	    {0, 1e-300}, {1, 1e300}, {1, 1e-9}, {2, 1e18}, {2, 1}, {0, 1e18}};
	static const struct balance b[] = {{0, 1, 2, 1e9}, {2, 3, 4, 1e9}, {4, 5, 6, 1e-9}};
	double factor[3], again[3];
	int i;

	balance_fit(b, 3, part, 3, factor, &mem);
	balance_fit(b, 3, part, 3, again, &mem);
	ck_assert_mem_eq(factor, again, sizeof factor);
	for (i = 0; i < 3; i++) {
		ck_assert_double_ge(factor[i], 1. / BALANCE_MOST);
		ck_assert_double_le(factor[i], BALANCE_MOST);
	}
}
END_TEST

UNIT_MAIN("balance", 0, setup, teardown, nothing_known_is_one, two_meet_in_the_middle,
    what_is_weak_moves_little, many_outweigh_one, recursion_changes_nothing,
    hostile_amounts_stay_within_bounds)
