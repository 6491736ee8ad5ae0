/* What may decide which code runs. */
#include "managerd/trust.h"
#include "common/mem.h"
#include "common/publish.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/morph-trust-XXXXXX";
static char *sub, *file, *art;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	sub = xasprintf("%s/sub", dir);
	file = xasprintf("%s/prog", sub);
	art = xasprintf("%s/prog.morph", sub);
	ck_assert_int_eq(mkdir(sub, 0755), 0);
	ck_assert_int_eq(publish_bytes(file, "x", 1, 0755, NULL), 0);
	ck_assert_int_eq(publish_bytes(art, "y", 1, 0644, NULL), 0);
}

static void teardown(void)
{
	dir_remove(dir, NULL);
	free(sub);
	free(file);
	free(art);
}

static void good(const char *path, uid_t owner)
{
	struct trusted t;
	struct err e;

	ck_assert_msg(!trust_open(path, owner, &t, &e), "%s", e.text);
	trust_close(&t);
}

static void bad(const char *path, uid_t owner, const char *why)
{
	struct err e = {""};
	struct trusted t;

	ck_assert_int_eq(trust_open(path, owner, &t, &e), -1);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s: not in: %s", why, e.text);
	ck_assert_int_eq(t.fd, -1);
	ck_assert_int_eq(t.dir, -1);
	ck_assert_ptr_null(t.path);
}

START_TEST(plain_file_is_good)
{
	char through[TRUST_FD_PATH];
	struct trusted t;
	struct buf b = {0};

	good(file, (uid_t)-1);
	good(file, geteuid());
	ck_assert_int_eq(trust_open(file, (uid_t)-1, &t, NULL), 0);
	ck_assert_str_eq(t.name, "prog");
	ck_assert_str_eq(t.path, file);
	ck_assert_int_eq(file_read(trust_fd_path(&t, through), 10, &b, NULL), 0);
	ck_assert_uint_eq(b.n, 1);
	buf_free(&b);
	trust_close(&t);
}
END_TEST

START_TEST(modes_are_judged)
{
	ck_assert_int_eq(chmod(file, 0775), 0);
	bad(file, (uid_t)-1, "is writable by others (mode 0775)");
	ck_assert_int_eq(chmod(file, 0757), 0);
	bad(file, (uid_t)-1, "is writable by others");
	ck_assert_int_eq(chmod(file, 0755), 0);
	ck_assert_int_eq(chmod(sub, 0777), 0);
	bad(file, (uid_t)-1, "the directory is writable by others");
	ck_assert_int_eq(chmod(sub, 01777), 0);
	bad(file, (uid_t)-1, "the directory is writable by others");
	ck_assert_int_eq(chmod(sub, 0755), 0);
	ck_assert_int_eq(chmod(dir, 0777), 0);
	bad(file, (uid_t)-1, "a directory above it is writable");
	ck_assert_int_eq(chmod(dir, 01777), 0);
	good(file, (uid_t)-1);
}
END_TEST

START_TEST(owners_are_judged)
{
	if (geteuid())
		return;
	bad("/nonexistent/x", 0, "No such file");
	good(file, 4321); /* root's file is good for anybody */
	ck_assert_int_eq(chown(file, 4321, 4321), 0);
	good(file, (uid_t)-1);
	good(file, 4321);
	bad(file, 4322, "belongs to uid 4321, neither to uid 4322 nor root");
	bad(file, 0, "belongs to uid 4321");
	ck_assert_int_eq(chown(sub, 4322, 4322), 0);
	bad(file, 4321, "the directory belongs to uid 4322");
	ck_assert_int_eq(chown(sub, 4321, 4321), 0);
	ck_assert_int_eq(chown(dir, 4322, 4322), 0);
	bad(file, 4321, "a directory above it belongs to uid 4322");
}
END_TEST

START_TEST(only_regular_files)
{
	char *link = xasprintf("%s/link", sub), *fifo = xasprintf("%s/fifo", sub);
	char *far = xasprintf("%s/far", dir), *through = xasprintf("%s/far/prog", dir);
	struct trusted t;

	ck_assert_int_eq(symlink(file, link), 0);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(symlink("sub", far), 0);
	bad(link, (uid_t)-1, "is a symbolic link");
	bad(fifo, (uid_t)-1, "is not a regular file");
	bad(sub, (uid_t)-1, "is not a regular file");
	bad("prog", (uid_t)-1, "is not the absolute path");
	bad("/", (uid_t)-1, "is not the absolute path");
	/* A folder may be a link; the answer names what it is. */
	ck_assert_int_eq(trust_open(through, (uid_t)-1, &t, NULL), 0);
	ck_assert_str_eq(t.path, file);
	trust_close(&t);
	free(link);
	free(fifo);
	free(far);
	free(through);
}
END_TEST

START_TEST(artifact_may_be_reached_by_links)
{
	char *link = xasprintf("%s/by-id.morph", dir);
	struct trusted m, a;
	struct err e;

	ck_assert_int_eq(symlink("sub/prog.morph", link), 0);
	ck_assert_msg(!trust_pair(file, link, &m, &a, &e), "%s", e.text);
	ck_assert_str_eq(a.path, art);
	trust_close(&m);
	trust_close(&a);
	ck_assert_int_eq(trust_pair(file, art, NULL, NULL, &e), 0);
	ck_assert_int_eq(chmod(art, 0666), 0);
	ck_assert_int_eq(trust_pair(file, link, &m, &a, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "prog.morph: is writable by others"));
	free(link);
}
END_TEST

START_TEST(artifact_of_a_third_is_refused)
{
	struct err e;

	if (geteuid())
		return;
	ck_assert_int_eq(chown(art, 4321, 4321), 0);
	ck_assert_int_eq(trust_pair(file, art, NULL, NULL, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "belongs to uid 4321, neither to uid 0 nor root"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trust");
	TCase *t = tcase_create("trust");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, plain_file_is_good);
	tcase_add_test(t, modes_are_judged);
	tcase_add_test(t, owners_are_judged);
	tcase_add_test(t, only_regular_files);
	tcase_add_test(t, artifact_may_be_reached_by_links);
	tcase_add_test(t, artifact_of_a_third_is_refused);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
