#include "common/publish.h"
#include "common/spawn.h"
#include "editor-driver/sandbox.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char base[] = "/tmp/morph-sandbox-XXXXXX";
static char dir[64], inside[96], outside[96];
static struct err e;

/* Each test runs in a process of its own (CK_FORK), which the sandbox needs. */
static void setup(void)
{
	snprintf(dir, sizeof dir, "%s/XXXXXX", base);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(inside, sizeof inside, "%s/inside", dir);
	snprintf(outside, sizeof outside, "%s/outside", dir);
	ck_assert_int_eq(mkdir(inside, 0700), 0);
	ck_assert_int_eq(mkdir(outside, 0700), 0);
}

static void enter(void)
{
	ck_assert_msg(!sandbox_enter((const char *[]){inside, NULL}, 2, dir, &e), "%s", e.text);
}

static bool can_write(const char *folder)
{
	char path[160];
	int fd;

	snprintf(path, sizeof path, "%s/new", folder);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 2;
}

static int run(const char *const *argv)
{
	return spawn_run(&(struct spawn){.argv = argv, .out = -1, .err = -1, .in = -1}, &e);
}

START_TEST(no_network)
{
	enter();
	ck_assert_int_eq(socket(AF_INET, SOCK_STREAM, 0), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(socket(AF_UNIX, SOCK_STREAM, 0), -1);
	ck_assert_int_eq(syscall(SYS_io_uring_setup, 1, NULL), -1);
	ck_assert_int_eq(errno, EPERM);
}
END_TEST

START_TEST(children_inherit)
{
	const char *net[] = {"bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9 2>/dev/null; "
	    "(exec 3<>/dev/udp/127.0.0.1/9) 2>/dev/null", NULL};
	const char *plain[] = {"as", "--version", NULL};

	enter();
	ck_assert_int_eq(run(plain), 0);
	ck_assert_int_ne(run(net), 0);
}
END_TEST

START_TEST(writes_only_inside)
{
	enter();
	ck_assert(can_write(inside));
	ck_assert(!has_landlock() || !can_write(outside));
	ck_assert(!has_landlock() || truncate("/proc/self/comm", 0));
}
END_TEST

START_TEST(works_inside)
{
	static const char script[] =
	    "cd \"$1\" && echo text >x && mkdir sub && ln x sub/linked && mv x sub/moved && "
	    ": >/dev/null && rm -r sub && cd / && rmdir \"$1\"";
	const char *shell[] = {"sh", "-c", script, "sh", inside, NULL};

	enter();
	ck_assert_int_eq(run(shell), 0);
}
END_TEST

/* As an edit ends: the folder with all in it, from a parent in which only empty
 * folders may go. */
START_TEST(removes_its_own_folder_but_no_file_beside)
{
	char sub[128], file[160], beside[96];

	snprintf(sub, sizeof sub, "%s/a/b", inside);
	snprintf(file, sizeof file, "%s/file", sub);
	snprintf(beside, sizeof beside, "%s/beside", dir);
	ck_assert_int_eq(publish_bytes(beside, "x", 1, 0600, &e), 0);
	enter();
	ck_assert_int_eq(dir_make(sub, 0700, &e), 0);
	ck_assert_int_eq(publish_bytes(file, "x", 1, 0600, &e), 0);
	ck_assert_msg(!dir_remove(inside, &e), "%s", e.text);
	ck_assert_int_eq(access(inside, F_OK), -1);
	if (has_landlock()) {
		ck_assert_int_eq(dir_remove(beside, &e), -1);
		ck_assert_ptr_nonnull(strstr(e.text, strerror(EACCES)));
		ck_assert_int_eq(access(beside, F_OK), 0);
	}
}
END_TEST

START_TEST(limits_are_set)
{
	struct rlimit r;

	enter();
	ck_assert_int_eq(getrlimit(RLIMIT_CORE, &r), 0);
	ck_assert_uint_eq(r.rlim_cur, 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &r), 0);
	ck_assert(r.rlim_cur != RLIM_INFINITY);
}
END_TEST

START_TEST(root_takes_only_roots)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "%s/a.morph", outside);
	ck_assert_int_eq(sandbox_may_edit(path, &e), -1);
	ck_assert_int_eq(sandbox_may_edit(outside, &e), -1);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	close(fd);
	ck_assert_int_eq(sandbox_may_edit(path, &e), 0);
	if (geteuid())
		return;
	ck_assert_int_eq(chmod(path, 0620), 0);
	ck_assert_int_eq(sandbox_may_edit(path, &e), -1);
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(chown(path, 65534, 65534), 0);
	ck_assert_int_eq(sandbox_may_edit(path, &e), -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sandbox");
	TCase *t = tcase_create("sandbox");
	SRunner *sr = srunner_create(s);
	int failed;

	if (!mkdtemp(base))
		return EXIT_FAILURE;
	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, no_network);
	tcase_add_test(t, children_inherit);
	tcase_add_test(t, writes_only_inside);
	tcase_add_test(t, works_inside);
	tcase_add_test(t, removes_its_own_folder_but_no_file_beside);
	tcase_add_test(t, limits_are_set);
	tcase_add_test(t, root_takes_only_roots);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	dir_remove(base, NULL); /* the tests, locked in, could not */
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
