#include "managerd/package.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *answer, *package;
} answers[] = {
    {"lua5.4: /usr/bin/lua5.4\n", "lua5.4"},
    {"libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6\n", "libc6"},
    {"a, b:i386: /usr/share/doc\n", "a"},
    {"diversion by dash from: /bin/sh\ndash: /bin/sh\n", "dash"},
    {"", NULL},
    {"\n\n", NULL},
    {"no colon", NULL},
};

START_TEST(first_package)
{
	char *p = package_parse(answers[_i].answer);

	if (answers[_i].package)
		ck_assert_str_eq(p, answers[_i].package);
	else
		ck_assert_ptr_null(p);
	free(p);
}
END_TEST

START_TEST(places_without_packages)
{
	static const char *const path[] = {
	    "/home/ann/x", "/usr/local/bin/x", "/tmp/*", "/usr/bin/[no"};
	struct err e;
	char *p;

	ck_assert_int_eq(package_of(path[_i], &p, &e), 0);
	ck_assert_ptr_null(p);
}
END_TEST

/* /usr/bin/env belongs to coreutils wherever dpkg is. */
START_TEST(real_package)
{
	struct err e;
	char *p;

	ck_assert_msg(package_of("/usr/bin/env", &p, &e) == 0, "%s", e.text);
	ck_assert_pstr_eq(p, "coreutils");
	free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("package");
	TCase *t = tcase_create("package");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_loop_test(t, first_package, 0, sizeof answers / sizeof *answers);
	tcase_add_loop_test(t, places_without_packages, 0, 4);
	tcase_add_test(t, real_package);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
