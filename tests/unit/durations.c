/* managerd/cycle/durations: what a step is expected to take. */
#include "managerd/cycle/durations.h"
#include "tests/unit/unit.h"

#include <math.h>

START_TEST(own_ones_first)
{
	struct durations d = {0};

	ck_assert(isnan(durations_expect(&d, 1, "edit", 100)));
	durations_add(&d, 1, "edit", 8, 100);
	ck_assert_double_eq(durations_expect(&d, 1, "edit", 100), 8);
	durations_add(&d, 1, "edit", 4, 100);
	ck_assert_double_eq(durations_expect(&d, 1, "edit", 0), 6);
	ck_assert(isnan(durations_expect(&d, 1, "score", 100)));
	durations_add(&d, 2, "edit", 1000, 1);
	ck_assert_double_eq(durations_expect(&d, 1, "edit", 0), 6);
	durations_free(&d);
}
END_TEST

/* By size, and not by the one that is unlike the others. */
START_TEST(others_by_size)
{
	struct durations d = {0};

	durations_add(&d, 1, "edit", 1, 100);
	durations_add(&d, 2, "edit", 4, 200);
	durations_add(&d, 3, "edit", 9000, 300);
	durations_add(&d, 4, "edit", 5, 0);
	durations_add(&d, 5, "score", 70, 1);
	ck_assert_double_eq(durations_expect(&d, 9, "edit", 1000), 20);
	ck_assert(isnan(durations_expect(&d, 9, "edit", 0)));
	ck_assert(isnan(durations_expect(&d, 9, "verify", 1000)));
	durations_free(&d);
}
END_TEST

START_TEST(bounded)
{
	struct durations d = {0};
	uint64_t i;

	for (i = 1; i <= 3 * DURATIONS_KEPT; i++)
		durations_add(&d, i, "edit", (double)i, 0);
	ck_assert_uint_eq(d.of.n, DURATIONS_KEPT);
	ck_assert_double_eq(durations_expect(&d, i - 1, "edit", 0), (double)(i - 1));
	ck_assert(isnan(durations_expect(&d, 1, "edit", 0)));
	durations_free(&d);
}
END_TEST

UNIT_MAIN("durations", 0, NULL, NULL, own_ones_first, others_by_size, bounded)
