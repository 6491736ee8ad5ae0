#include "managerd/samples/pairs.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

START_TEST(pairs_are_counted_and_sorted)
{
	struct pairs t = {0};
	uint32_t a, b, i;

	for (a = 100; a-- > 0;)
		for (b = 0; b < 100; b++)
			for (i = 0; i <= (a + b) % 3; i++)
				pairs_add(&t, a, b << 20, 2);
	ck_assert_uint_eq(t.n, 10000);
	pairs_sort(&t);
	for (i = 0; i < 10000; i++) {
		ck_assert_uint_eq(t.v[i].a, i / 100);
		ck_assert_uint_eq(t.v[i].b, (i % 100) << 20);
		ck_assert_uint_eq(t.v[i].n, 2 * (1 + (i / 100 + i % 100) % 3));
	}
	pairs_free(&t);
}
END_TEST

START_TEST(nothing_is_an_empty_list)
{
	struct pairs t = {0};

	pairs_sort(&t);
	ck_assert_uint_eq(t.n, 0);
	pairs_add(&t, 0, 0, 1);
	pairs_sort(&t);
	ck_assert_uint_eq(t.n, 1);
	ck_assert_uint_eq(t.v[0].n, 1);
	pairs_free(&t);
}
END_TEST

UNIT_MAIN("pairs", 0, NULL, NULL, pairs_are_counted_and_sorted, nothing_is_an_empty_list)
