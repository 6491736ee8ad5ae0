/* Lists of CPUs. */
#include "monitor-client/kernel/cpus.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static int count(const char *text)
{
	cpu_list l = {0};
	int r = cpus_parse(text, &l), n = (int)l.n;

	vec_free(&l);
	return r ? -1 : n;
}

START_TEST(lists_are_read)
{
	cpu_list l = {0};

	ck_assert_int_eq(cpus_parse("0-2,8,10-11\n", &l), 0);
	ck_assert_uint_eq(l.n, 6);
	ck_assert_uint_eq(l.v[2], 2);
	ck_assert_uint_eq(l.v[3], 8);
	ck_assert_uint_eq(l.v[5], 11);
	ck_assert(cpus_has(&l, 10));
	ck_assert(!cpus_has(&l, 9));
	vec_free(&l);
	ck_assert_int_eq(count("0"), 1);
	ck_assert_int_eq(count("\n"), 0);
	ck_assert_int_eq(count(""), 0);
}
END_TEST

START_TEST(nonsense_is_refused)
{
	static const char *const bad[] = {
	    "x", "0-", "3-1", "1,1", "0,", ",", "0-99999999", "0 1", "-1", "(null)\n"};
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(count(bad[i]) == -1, "\"%s\" was taken", bad[i]);
}
END_TEST

START_TEST(this_machine_has_one)
{
	cpu_list l = {0};
	struct err e;

	ck_assert_int_eq(cpus_read("online", &l, &e), 0);
	ck_assert_uint_ge(l.n, 1);
	vec_free(&l);
	ck_assert_int_eq(cpus_read("no-such-file", &l, &e), 0);
	ck_assert_uint_eq(l.n, 0);
}
END_TEST

UNIT_MAIN("cpus", 0, NULL, NULL, lists_are_read, nonsense_is_refused, this_machine_has_one)
