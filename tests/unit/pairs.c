#include "managerd/samples/pairs.h"

#include <check.h>
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

int main(void)
{
	Suite *s = suite_create("pairs");
	TCase *t = tcase_create("pairs");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, t);
	tcase_add_test(t, pairs_are_counted_and_sorted);
	tcase_add_test(t, nothing_is_an_empty_list);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
