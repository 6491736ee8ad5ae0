/* The main function of a check(3) program:
 *	UNIT_MAIN("wire", 60, setup, teardown, one, two, UNIT_LOOP(each, 3), UNIT_EXIT(fatal, 70))
 * runs the tests in this order, each in a process of its own, between the checked fixtures
 * setup and teardown (NULL: none), and fails those that take longer than 60 seconds (0:
 *UNIT_SECONDS). A main() of its own returns UNIT_RUN(…). */
#ifndef MORPH_TESTS_UNIT_H
#define MORPH_TESTS_UNIT_H

#include <check.h>
#include <stddef.h>

/* Seconds, on a machine that has other things to do; what hangs is to end. */
enum { UNIT_SECONDS = 30 };

/* A test without a function is the head of one of these. */
struct unit_item {
	TTest head;
	const TTest *test; /* NULL: a new case of this timeout and fixture begins */
	int signal, status, rounds;
	double timeout;
	SFun setup, teardown;
};

#define UNIT_ITEM(...) (&(const struct unit_item){__VA_ARGS__}.head)

/* A test once for each _i from 0 to n - 1. */
#define UNIT_LOOP(t, n) UNIT_ITEM(.test = (t), .rounds = (int)(n))
/* A test that must end with this exit status, or by this signal. */
#define UNIT_EXIT(t, s) UNIT_ITEM(.test = (t), .rounds = 1, .status = (s))
#define UNIT_SIGNAL(t, s) UNIT_ITEM(.test = (t), .rounds = 1, .signal = (s))
/* The tests after it have another fixture. */
#define UNIT_CASE(limit, begin, end) \
	UNIT_ITEM(.timeout = (limit), .setup = (begin), .teardown = (end))

#define UNIT_RUN(name, limit, begin, end, ...) \
	unit_run(name, (const TTest *const[]){UNIT_CASE(limit, begin, end), __VA_ARGS__, NULL})
#define UNIT_MAIN(...) \
	int main(void) \
	{ \
		return UNIT_RUN(__VA_ARGS__); \
	}

static int unit_run(const char *name, const TTest *const *tests)
{
	Suite *suite = suite_create(name);
	SRunner *runner = srunner_create(suite);
	TCase *tcase = NULL;
	int failed;

	for (; *tests; tests++) {
		const struct unit_item *item = (const void *)*tests;

		if ((*tests)->fn) {
			tcase_add_test(tcase, *tests);
		} else if (item->test) {
			_tcase_add_test(
			    tcase, item->test, item->signal, item->status, 0, item->rounds);
		} else {
			tcase = tcase_create(name);
			tcase_add_checked_fixture(tcase, item->setup, item->teardown);
			tcase_set_timeout(tcase, item->timeout > 0 ? item->timeout : UNIT_SECONDS);
			suite_add_tcase(suite, tcase);
		}
	}
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

#endif
