#include "editor-driver/profile/overlap.h"
#include "common/random.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

START_TEST(equal_shares_agree_wholly)
{
	static const double a[] = {1, 2, 3, 0}, b[] = {10, 20, 30, 0};

	ck_assert_double_eq_tol(overlap(a, b, 4), 1, 1e-12);
	ck_assert_double_le(overlap(a, b, 4), 1);
}
END_TEST

START_TEST(disjoint_do_not_agree)
{
	static const double a[] = {1, 2, 0, 0}, b[] = {0, 0, 5, 1}, none[4] = {0};

	ck_assert_double_eq(overlap(a, b, 4), 0);
	ck_assert_double_eq(overlap(a, none, 4), 0);
	ck_assert_double_eq(overlap(none, b, 4), 0);
	ck_assert_double_eq(overlap(none, none, 4), 1);
	ck_assert_double_eq(overlap(none, none, 0), 1);
}
END_TEST

START_TEST(known_numbers)
{
	/* .5 .3 .2 against .25 .25 .5: .25 + .25 + .2 */
	static const double a[] = {5, 3, 2}, b[] = {100, 100, 200};

	ck_assert_double_eq_tol(overlap(a, b, 3), 0.7, 1e-12);
	ck_assert_double_eq_tol(overlap(b, a, 3), 0.7, 1e-12);
}
END_TEST

START_TEST(symmetric_and_bounded)
{
	double a[50], b[50], ab;
	uint64_t seed = 3;
	int round, i;

	for (round = 0; round < 200; round++) {
		for (i = 0; i < 50; i++) {
			a[i] = (double)(random_next(&seed) % 1000);
			b[i] = random_next(&seed) % 3 ? (double)(random_next(&seed) % 1000) : 0;
		}
		ab = overlap(a, b, 50);
		ck_assert_double_eq(ab, overlap(b, a, 50));
		ck_assert_double_ge(ab, 0);
		ck_assert_double_le(ab, 1);
	}
}
END_TEST

START_TEST(hot_sets)
{
	static const double w[] = {1, 50, 0, 29, 20, 0};
	uint8_t hot[6];

	ck_assert_uint_eq(overlap_hot(w, 6, 0.5, hot), 1);
	ck_assert(hot[1] && !hot[0] && !hot[3]);
	ck_assert_uint_eq(overlap_hot(w, 6, 0.51, hot), 2);
	ck_assert(hot[1] && hot[3] && !hot[4]);
	ck_assert_uint_eq(overlap_hot(w, 6, 0.99, hot), 3);
	ck_assert_uint_eq(overlap_hot(w, 6, 1, hot), 4);
	ck_assert(hot[0] && !hot[2] && !hot[5]);
	ck_assert_uint_eq(overlap_hot(w, 6, 0, hot), 0);
	ck_assert(!hot[1]);
	ck_assert_uint_eq(overlap_hot(w, 0, 1, hot), 0);
}
END_TEST

START_TEST(of_equals_the_first_are_hot)
{
	static const double w[] = {1, 1, 1, 1};
	uint8_t hot[4];

	ck_assert_uint_eq(overlap_hot(w, 4, 0.5, hot), 2);
	ck_assert(hot[0] && hot[1] && !hot[2] && !hot[3]);
}
END_TEST

UNIT_MAIN("overlap", 0, NULL, NULL, equal_shares_agree_wholly, disjoint_do_not_agree, known_numbers,
    symmetric_and_bounded, hot_sets, of_equals_the_first_are_hot)
