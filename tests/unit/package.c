#include "managerd/package.h"
#include "common/mem.h"

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
	static const char *const path[] = {"/home/ann/x", "/usr/local/bin/x", "/tmp/*"};

	ck_assert(!package_possible(path[_i]));
}
END_TEST

struct answer {
	unsigned calls;
	char *package, *error;
};

static void answered(const char *package, const char *error, void *arg)
{
	struct answer *a = arg;

	a->calls++;
	a->package = package ? xstrdup(package) : NULL;
	a->error = error ? xstrdup(error) : NULL;
}

static struct answer ask(const char *path, bool cancel)
{
	struct answer a = {0};
	struct package_ask *q;
	uv_loop_t loop;

	ck_assert_int_eq(uv_loop_init(&loop), 0);
	ck_assert(package_possible(path));
	q = package_ask(&loop, path, answered, &a);
	ck_assert_uint_eq(a.calls, 0);
	if (cancel)
		package_cancel(q);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_uint_eq(a.calls, 1);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	return a;
}

/* /usr/bin/env belongs to coreutils wherever dpkg is; with a merged /usr, and
 * a name that is not in dpkg's list as such, too. */
START_TEST(real_package)
{
	static const struct {
		const char *path, *package;
	} known[] = {{"/usr/bin/env", "coreutils"}, {"/usr/bin/cat", "coreutils"},
	    {"/usr/bin/[no", NULL}, {"/opt/*", NULL}};
	struct answer a = ask(known[_i].path, false);

	ck_assert_pstr_eq(a.error, NULL);
	ck_assert_pstr_eq(a.package, known[_i].package);
	free(a.package);
}
END_TEST

START_TEST(cancelled_question)
{
	struct answer a = ask("/usr/bin/env", true);

	ck_assert_ptr_null(a.package);
	ck_assert_ptr_nonnull(strstr(a.error, "cancelled"));
	free(a.error);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("package");
	TCase *t = tcase_create("package");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_loop_test(t, first_package, 0, sizeof answers / sizeof *answers);
	tcase_add_loop_test(t, places_without_packages, 0, 3);
	tcase_add_loop_test(t, real_package, 0, 4);
	tcase_add_test(t, cancelled_question);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
