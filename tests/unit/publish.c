#include "common/publish.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

static void enter(void)
{
	strcpy(dir, "/tmp/morph-publish-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
}

static void leave(void)
{
	struct err e;

	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_msg(!dir_remove(dir, &e), "%s", e.text);
	ck_assert_int_eq(access(dir, F_OK), -1);
}

static int entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void assert_file(const char *path, const char *want)
{
	struct buf b = {0};
	struct err e;

	ck_assert_msg(!file_read(path, 0, &b, &e), "%s", e.text);
	ck_assert_str_eq(buf_cstr(&b), want);
	buf_free(&b);
}

START_TEST(bytes_are_published_whole)
{
	struct stat st;
	struct err e;

	ck_assert_int_eq(publish_bytes("f", "one", 3, 0644, &e), 0);
	assert_file("f", "one");
	ck_assert_int_eq(publish_bytes("f", "second", 6, 0600, &e), 0);
	assert_file("f", "second");
	ck_assert_int_eq(stat("f", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(entries("."), 1);
}
END_TEST

START_TEST(the_old_file_stays_until_commit)
{
	struct publish p, q;
	struct err e;

	ck_assert_int_eq(publish_bytes("f", "old", 3, 0644, &e), 0);
	ck_assert_int_eq(publish_open(&p, "f", 0644, &e), 0);
	ck_assert_int_eq(file_write_all(p.fd, "new", 3), 0);
	assert_file("f", "old");
	/* Two at once get names of their own. */
	ck_assert_int_eq(publish_open(&q, "f", 0644, &e), 0);
	ck_assert_str_ne(p.tmp, q.tmp);
	publish_abort(&q);
	assert_file("f", "old");
	ck_assert_int_eq(publish_commit(&p, &e), 0);
	assert_file("f", "new");
	ck_assert_int_eq(entries("."), 1);
}
END_TEST

/* Linkers unlink their output and make a new file. */
START_TEST(what_can_be_made_again_is_not_synced)
{
	struct publish p;
	struct err e;

	ck_assert_int_eq(publish_bytes("f", "old", 3, 0644, &e), 0);
	ck_assert_int_eq(publish_open(&p, "f", 0644, &e), 0);
	ck_assert_int_eq(file_write_all(p.fd, "new", 3), 0);
	ck_assert_int_eq(publish_commit_unsynced(&p, &e), 0);
	assert_file("f", "new");
	ck_assert_int_eq(entries("."), 1);
	ck_assert_int_eq(mkdir("d", 0755), 0);
	ck_assert_int_eq(publish_open(&p, "d", 0644, &e), 0);
	ck_assert_int_eq(publish_commit_unsynced(&p, &e), -1);
	ck_assert_int_eq(entries("."), 2);
}
END_TEST

START_TEST(a_program_may_replace_tmp)
{
	struct publish p;
	struct err e;
	int fd;

	ck_assert_int_eq(publish_open(&p, "f", 0644, &e), 0);
	ck_assert_int_eq(unlink(p.tmp), 0);
	fd = open(p.tmp, O_WRONLY | O_CREAT | O_EXCL, 0644);
	ck_assert_int_eq(file_write_all(fd, "by name", 7), 0);
	close(fd);
	ck_assert_int_eq(publish_commit(&p, &e), 0);
	assert_file("f", "by name");
	ck_assert_int_eq(publish_open(&p, "f", 0644, &e), 0);
	ck_assert_int_eq(unlink(p.tmp), 0);
	ck_assert_int_eq(publish_commit(&p, &e), -1);
	assert_file("f", "by name");
	ck_assert_int_eq(entries("."), 1);
}
END_TEST

START_TEST(a_long_name_is_no_obstacle)
{
	char name[256];
	struct err e;

	memset(name, 'n', 255);
	name[255] = '\0';
	ck_assert_msg(!publish_bytes(name, "x", 1, 0644, &e), "%s", e.text);
	assert_file(name, "x");
}
END_TEST

START_TEST(errors_name_the_file_and_leave_nothing)
{
	struct err e;

	ck_assert_int_eq(publish_bytes("absent/f", "x", 1, 0644, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "absent/.f"));
	ck_assert_ptr_nonnull(strstr(e.text, strerror(ENOENT)));
	/* The rename fails: a directory is in the way. */
	ck_assert_int_eq(mkdir("d", 0755), 0);
	ck_assert_int_eq(publish_bytes("d", "x", 1, 0644, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, strerror(EISDIR)));
	ck_assert_int_eq(entries("."), 1);
}
END_TEST

/* The file size limit represents a disk that is full half way: write(2) gives
 * a short count, then an error. */
START_TEST(a_write_that_fails_leaves_the_old_file)
{
	struct rlimit lim = {4096, 4096};
	char *big = xcalloc(1, 10000);
	struct err e;
	pid_t pid;
	int st;

	ck_assert_int_eq(publish_bytes("f", "old", 3, 0644, &e), 0);
	pid = fork();
	if (!pid) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &lim);
		_exit(publish_bytes("f", big, 10000, 0644, &e) == -1 &&
			      strstr(e.text, strerror(EFBIG)) && entries(".") == 1
			  ? 0
			  : 1);
	}
	ck_assert_int_eq(waitpid(pid, &st, 0), pid);
	ck_assert_int_eq(st, 0);
	assert_file("f", "old");
	free(big);
}
END_TEST

enum { NO_MOUNT = 77 };

/* In a mount namespace of its own: a disk of four pages. */
static int on_a_full_disk(void)
{
	char *big = xcalloc(1, 100000);
	struct buf b = {0};
	struct publish p;
	struct err e;

	if (unshare(CLONE_NEWNS) < 0 || mkdir("disk", 0755) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("morph", "disk", "tmpfs", 0, "size=16k") < 0)
		return NO_MOUNT;
	if (publish_bytes("disk/f", "old", 3, 0644, &e) < 0)
		return 1;
	if (!publish_bytes("disk/f", big, 100000, 0644, &e) || !strstr(e.text, strerror(ENOSPC)))
		return 2;
	if (entries("disk") != 1 || file_read("disk/f", 0, &b, &e) < 0 ||
	    strcmp(buf_cstr(&b), "old"))
		return 3;
	if (publish_open(&p, "disk/f", 0644, &e) < 0 || !file_write_all(p.fd, big, 100000))
		return 4;
	publish_abort(&p);
	buf_free(&b);
	free(big);
	return entries("disk") == 1 ? 0 : 5;
}

START_TEST(a_full_disk_leaves_the_old_file)
{
	pid_t pid = fork();
	int st;

	if (!pid)
		_exit(on_a_full_disk());
	ck_assert_int_eq(waitpid(pid, &st, 0), pid);
	ck_assert(WIFEXITED(st));
	if (WEXITSTATUS(st) == NO_MOUNT)
		fprintf(stderr, "no right to mount: full disk not tried, file size limit was\n");
	else
		ck_assert_int_eq(WEXITSTATUS(st), 0);
}
END_TEST

START_TEST(file_read_refuses_what_is_no_file)
{
	struct buf b = {0};
	struct err e;

	buf_str(&b, "kept");
	ck_assert_int_eq(mkfifo("fifo", 0644), 0);
	ck_assert_int_eq(file_read("fifo", 0, &b, &e), -1);
	ck_assert_str_eq(e.text, "fifo: not a regular file");
	ck_assert_int_eq(file_read(".", 0, &b, &e), -1);
	ck_assert_int_eq(file_read("absent", 0, &b, &e), -1);
	ck_assert_int_eq(publish_bytes("f", "12345", 5, 0644, &e), 0);
	ck_assert_int_eq(file_read("f", 4, &b, &e), -1);
	ck_assert_str_eq(e.text, "f: larger than 4 bytes");
	ck_assert_int_eq(file_read("f", 5, &b, &e), 0);
	ck_assert_str_eq(buf_cstr(&b), "kept12345");
	/* Files of /proc say they are empty. */
	b.n = 0;
	ck_assert_int_eq(file_read("/proc/self/status", 0, &b, &e), 0);
	ck_assert_uint_gt(b.n, 100);
	buf_free(&b);
}
END_TEST

START_TEST(directories_are_made_and_removed)
{
	struct err e;

	ck_assert_int_eq(dir_make("a//b/c/", 0755, &e), 0);
	ck_assert_int_eq(dir_make("a/b/c", 0755, &e), 0);
	ck_assert_int_eq(access("a/b/c", X_OK), 0);
	ck_assert_int_eq(publish_bytes("a/file", "x", 1, 0644, &e), 0);
	ck_assert_int_eq(dir_make("a/file/d", 0755, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, strerror(ENOTDIR)));
	ck_assert_int_eq(dir_make("a/file", 0755, &e), -1);

	/* A link out of the tree is removed, not followed. */
	ck_assert_int_eq(dir_make("other", 0755, &e), 0);
	ck_assert_int_eq(publish_bytes("other/kept", "x", 1, 0644, &e), 0);
	ck_assert_int_eq(symlink("../other", "a/link"), 0);
	ck_assert_int_eq(symlink("other", "top"), 0);
	ck_assert_int_eq(dir_remove("a", &e), 0);
	ck_assert_int_eq(dir_remove("top", &e), 0);
	ck_assert_int_eq(dir_remove("a", &e), 0);
	ck_assert_int_eq(entries("."), 1);
	assert_file("other/kept", "x");
}
END_TEST

enum { DEEP = 5000 };

/* Makes DEEP folders in one another, with a file and another in each hundredth. */
static void dig(void)
{
	int k;

	for (k = 0; k < DEEP; k++) {
		ck_assert_int_eq(mkdir("d", 0755), 0);
		if (k % 100 == 0)
			ck_assert_int_eq(mkdir("e", 0755), 0);
		if (k % 100 == 0)
			ck_assert_int_eq(publish_bytes("f", "x", 1, 0644, NULL), 0);
		ck_assert_int_eq(chdir("d"), 0);
	}
}

/* Deeper than descriptors, and than the longest path. */
START_TEST(depth_costs_no_descriptors)
{
	struct rlimit lim = {32, 32};
	struct err e;

	ck_assert_int_eq(mkdir("deep", 0755), 0);
	ck_assert_int_eq(chdir("deep"), 0);
	dig();
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
	ck_assert_msg(!dir_remove("deep", &e), "%s", e.text);
	ck_assert_int_eq(access("deep", F_OK), -1);
}
END_TEST

/* Somebody moves folders out of the tree and back while it is removed: what is
 * beside the tree stays, whichever wins. */
START_TEST(what_is_moved_meanwhile_is_not_followed)
{
	struct err e;
	int round, st;
	pid_t pid;

	ck_assert_int_eq(dir_make("beside/d/kept", 0755, &e), 0);
	for (round = 0; round < 20; round++) {
		ck_assert_int_eq(dir_make("tree/a/b/c/d/kept", 0755, &e), 0);
		pid = fork();
		if (!pid) {
			for (;;) {
				rename("tree/a/b/c", "beside/c");
				rename("beside/c", "tree/a/b/c");
			}
		}
		dir_remove("tree", &e);
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &st, 0), pid);
		ck_assert_int_eq(access("beside/d/kept", F_OK), 0);
		ck_assert_int_eq(dir_remove("tree", &e), 0);
		ck_assert_int_eq(dir_remove("beside/c", &e), 0);
	}
}
END_TEST

START_TEST(paths_split)
{
	static const char *const t[][3] = {
	    {"f", ".", "f"},
	    {"/f", "/", "f"},
	    {"a/b", "a", "b"},
	    {"/a/b.c", "/a", "b.c"},
	};
	size_t i;
	char *d;

	for (i = 0; i < sizeof t / sizeof *t; i++) {
		d = path_dir(t[i][0]);
		ck_assert_str_eq(d, t[i][1]);
		ck_assert_str_eq(path_base(t[i][0]), t[i][2]);
		free(d);
	}
}
END_TEST

UNIT_MAIN("publish", 60, enter, leave, bytes_are_published_whole, the_old_file_stays_until_commit,
    what_can_be_made_again_is_not_synced, a_program_may_replace_tmp, a_long_name_is_no_obstacle,
    errors_name_the_file_and_leave_nothing, a_write_that_fails_leaves_the_old_file,
    a_full_disk_leaves_the_old_file, file_read_refuses_what_is_no_file,
    directories_are_made_and_removed, depth_costs_no_descriptors,
    what_is_moved_meanwhile_is_not_followed, paths_split)
