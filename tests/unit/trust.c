/* What may decide which code runs. */
#include "managerd/parent/trust/trust.h"
#include "common/mem.h"
#include "common/publish.h"
#include "managerd/parent/trust/links.h"
#include "tests/unit/perfhome.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
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
	struct trusted t;
	char byte;

	good(file, (uid_t)-1);
	good(file, geteuid());
	ck_assert_int_eq(trust_open(file, (uid_t)-1, &t, NULL), 0);
	ck_assert_str_eq(t.name, "prog");
	ck_assert_str_eq(t.path, file);
	/* What is open stays that file, whatever happens to its name. */
	ck_assert_int_eq(publish_bytes(file, "z", 1, 0755, NULL), 0);
	ck_assert_int_eq(pread(t.fd, &byte, 1, 0), 1);
	ck_assert_int_eq(byte, 'x');
	ck_assert_int_eq(write(t.fd, "y", 1), -1);
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
	ck_assert_int_eq(chmod(dir, 0711), 0);
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

/* What a user could not read is not opened for them, wherever their link leads. */
START_TEST(secrets_of_root)
{
	char *link = xasprintf("%s/link", dir);
	struct trusted t;

	if (geteuid())
		return;
	ck_assert_int_eq(symlink(file, link), 0);
	ck_assert_int_eq(chmod(dir, 0711), 0);
	ck_assert_int_eq(trust_open_link(link, 4321, &t, NULL), 0);
	trust_close(&t);
	ck_assert_int_eq(chmod(file, 0640), 0);
	bad(file, 4321, "may not be read by all");
	ck_assert_int_eq(trust_open_link(link, 4321, &t, NULL), -1);
	good(file, (uid_t)-1);
	ck_assert_int_eq(chmod(file, 0644), 0);
	ck_assert_int_eq(chmod(sub, 0700), 0);
	bad(file, 4321, "may not be read by all");
	good(file, 0);
	ck_assert_int_eq(chmod(sub, 0755), 0);
	ck_assert_int_eq(chown(dir, 4321, 4321), 0);
	ck_assert_int_eq(chmod(dir, 0700), 0);
	good(file, 4321); /* in a folder of their own */
	bad("/proc/cpuinfo", 0, "is empty");
	free(link);
}
END_TEST

START_TEST(only_regular_files)
{
	char *link = xasprintf("%s/link", sub), *fifo = xasprintf("%s/fifo", sub);
	char *far = xasprintf("%s/far", dir), *through = xasprintf("%s/far/prog", dir);

	ck_assert_int_eq(symlink(file, link), 0);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(symlink("sub", far), 0);
	bad(link, (uid_t)-1, "is a symbolic link");
	bad(fifo, (uid_t)-1, "is not a regular file");
	bad(sub, (uid_t)-1, "is not a regular file");
	bad("/dev/null", (uid_t)-1, "is not a regular file");
	bad(through, (uid_t)-1, "is a symbolic link, or no folder");
	free(link);
	free(fifo);
	free(far);
	free(through);
}
END_TEST

START_TEST(only_plain_paths)
{
	static const char *const odd[] = {
	    "", "prog", "./x", "/", "//x", "/a//b", "/a/", "/a/./b", "/a/../b", "/..", "/."};
	char *longest = xcalloc(PATH_MAX + 1, 1);
	size_t i;

	for (i = 0; i < sizeof odd / sizeof *odd; i++) {
		ck_assert_msg(!path_is_plain(odd[i]), "%s", odd[i]);
		bad(odd[i], (uid_t)-1, "is not the plain absolute path");
	}
	ck_assert(path_is_plain("/a") && path_is_plain("/.a/..b/c."));
	memset(longest, 'a', PATH_MAX - 1);
	*longest = '/';
	ck_assert(path_is_plain(longest));
	longest[PATH_MAX - 1] = 'a';
	ck_assert(!path_is_plain(longest));
	free(longest);
}
END_TEST

/* Opening such a file makes its holder give way, for which others wait. */
START_TEST(leased_file_is_not_waited_for)
{
	time_t begin = time(NULL);
	struct trusted t;
	struct err e;
	int fd = open(art, O_RDWR);

	signal(SIGIO, SIG_IGN);
	ck_assert_int_eq(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
	ck_assert_int_eq(trust_open(art, (uid_t)-1, &t, &e), -1);
	ck_assert_int_lt(time(NULL) - begin, 5);
	close(fd);
}
END_TEST

START_TEST(artifact_may_be_reached_by_a_link)
{
	char *link = xasprintf("%s/by-id.morph", dir), *twice = xasprintf("%s/twice", dir);
	struct trusted t;
	struct err e;

	ck_assert_int_eq(symlink(art, link), 0);
	ck_assert_int_eq(symlink(link, twice), 0);
	ck_assert_msg(!trust_open_link(link, (uid_t)-1, &t, &e), "%s", e.text);
	ck_assert_str_eq(t.path, art);
	trust_close(&t);
	ck_assert_msg(!trust_open_link(art, (uid_t)-1, &t, &e), "%s", e.text);
	trust_close(&t);
	ck_assert_int_eq(trust_open_link(twice, (uid_t)-1, &t, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "is a symbolic link"));
	ck_assert_int_eq(unlink(link), 0);
	ck_assert_int_eq(symlink("sub/prog.morph", link), 0);
	ck_assert_int_eq(trust_open_link(link, (uid_t)-1, &t, &e), -1);
	ck_assert_int_eq(unlink(link), 0);
	ck_assert_int_eq(symlink(art, link), 0);
	ck_assert_int_eq(chmod(art, 0666), 0);
	ck_assert_int_eq(trust_open_link(link, (uid_t)-1, &t, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "prog.morph: is writable by others"));
	free(link);
	free(twice);
}
END_TEST

/* While a folder goes to and fro between ours and one of somebody else, what is
 * opened is one or the other, and only ours is good. */
START_TEST(folder_that_flips)
{
	char *other = xasprintf("%s/other", dir), *theirs = xasprintf("%s/other/prog", dir);
	struct trusted t;
	unsigned good_ones = 0;
	pid_t pid;
	char byte;
	int i;

	if (geteuid())
		return;
	ck_assert_int_eq(mkdir(other, 0755), 0);
	ck_assert_int_eq(publish_bytes(theirs, "t", 1, 0755, NULL), 0);
	ck_assert_int_eq(chown(theirs, 4321, 4321), 0);
	ck_assert_int_eq(chown(other, 4321, 4321), 0);
	pid = fork();
	while (!pid)
		renameat2(AT_FDCWD, sub, AT_FDCWD, other, RENAME_EXCHANGE);
	for (i = 0; i < 5000; i++) {
		if (trust_open(file, 0, &t, NULL))
			continue;
		good_ones++;
		ck_assert_uint_eq(t.st.st_uid, 0);
		ck_assert_int_eq(pread(t.fd, &byte, 1, 0), 1);
		ck_assert_int_eq(byte, 'x');
		trust_close(&t);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_uint_gt(good_ones, 0);
	free(other);
	free(theirs);
}
END_TEST

static void not_replaced_by(bool perf_links, const char *why)
{
	struct err e = {""};
	struct trusted t;

	ck_assert_msg(!trust_open(file, (uid_t)-1, &t, &e), "%s", e.text);
	ck_assert_int_eq(trust_may_replace(&t, perf_links, &e), why ? -1 : 0);
	ck_assert_msg(!why || strstr(e.text, why), "%s: not in: %s", why, e.text);
	trust_close(&t);
}

static void not_replaced(const char *why)
{
	not_replaced_by(false, why);
}

START_TEST(names_of_perf)
{
	char *home = xasprintf("%s/home", dir), *second = xasprintf("%s/second", dir), *one, *two,
	     *debug;
	struct trusted t;

	perf_home = home;
	ck_assert_int_eq(mkdir(home, 0700), 0);
	one = perf_adds(file, "0123456789abcdef0123456789abcdef01234567", "elf");
	not_replaced(
	    "1 of them in perf's cache, ~/.debug: remove it there (perf buildid-cache --purge ");
	not_replaced("or say perf_links: yes");
	not_replaced_by(true, NULL);
	two = perf_adds(file, "76543210", ""); /* as older ones do */
	not_replaced("has 3 names (hard links), 2 of them in perf's cache");
	not_replaced_by(true, NULL);
	/* One that is not perf's: no word of it, and no way around. */
	ck_assert_int_eq(link(file, second), 0);
	not_replaced("has 4 names (hard links)");
	not_replaced_by(true, "has 4 names (hard links)");
	ck_assert(!unlink(second) && !unlink(two));
	/* The same file, but by way of a link. */
	debug = xasprintf("%s/.debug", home);
	ck_assert(!rename(debug, second) && !symlink(second, debug));
	ck_assert_int_eq(trust_open(file, (uid_t)-1, &t, NULL), 0);
	ck_assert_uint_eq(links_of_perf_in(home, &t), 0);
	ck_assert_uint_eq(links_of_perf_in("relative", &t), 0);
	trust_close(&t);
	not_replaced_by(true, "has 2 names (hard links)");
	ck_assert(!unlink(debug) && !rename(second, debug) && !unlink(one));
	not_replaced(NULL);
	perf_home = NULL;
	free(home);
	free(second);
	free(one);
	free(two);
	free(debug);
}
END_TEST

START_TEST(what_must_not_be_replaced)
{
	not_replaced(NULL);
	ck_assert_int_eq(chmod(file, 04755), 0);
	not_replaced("is setuid");
	ck_assert_int_eq(chmod(file, 02755), 0);
	not_replaced("is setgid");
	ck_assert_int_eq(chmod(file, 0755), 0);
	not_replaced(NULL);
}
END_TEST

/* Names beside it stay what they are, as perf's do; any other is in the way. */
START_TEST(other_names)
{
	char *beside = xasprintf("%s/beside", sub), *elsewhere = xasprintf("%s/elsewhere", dir),
	     *home = xasprintf("%s/home", dir), *cached;

	ck_assert_int_eq(link(file, beside), 0);
	not_replaced(NULL);
	ck_assert_int_eq(link(file, elsewhere), 0);
	not_replaced("has 3 names (hard links), not all in its folder");
	ck_assert_int_eq(unlink(elsewhere), 0);
	perf_home = home;
	ck_assert_int_eq(mkdir(home, 0700), 0);
	cached = perf_adds(file, "0123456789abcdef0123456789abcdef01234567", "elf");
	not_replaced("has 3 names (hard links), 1 of them in perf's cache");
	not_replaced_by(true, NULL);
	ck_assert(!unlink(cached) && !unlink(beside));
	not_replaced(NULL);
	perf_home = NULL;
	free(beside);
	free(elsewhere);
	free(home);
	free(cached);
}
END_TEST

UNIT_MAIN("trust", 0, setup, teardown, plain_file_is_good, modes_are_judged, owners_are_judged,
    secrets_of_root, only_regular_files, only_plain_paths, leased_file_is_not_waited_for,
    artifact_may_be_reached_by_a_link, folder_that_flips, what_must_not_be_replaced, other_names,
    names_of_perf)
