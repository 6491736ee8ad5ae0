/* Job folders: what their users may leave in them, and how they are emptied. */
#include "managerd/parent/folder.h"
#include "common/mem.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char state[] = "/tmp/morph-folder-XXXXXX";
static char name[FOLDER_NAME];
static int fd;

static void setup(void)
{
	struct folder_user u = {false, geteuid(), getegid()};
	char *jobs;
	struct err e;

	ck_assert_ptr_nonnull(mkdtemp(state));
	ck_assert_int_eq(chmod(state, 0711), 0);
	jobs = xasprintf("%s/jobs", state);
	ck_assert_int_eq(mkdir(jobs, 0711), 0);
	free(jobs);
	fd = folder_make(state, &u, name, &e);
	ck_assert_msg(fd >= 0, "%s", e.text);
}

static void teardown(void)
{
	close(fd);
	dir_remove(state, NULL);
}

static void no_file(const char *file, const char *why)
{
	struct err e = {""};

	ck_assert_int_eq(folder_file(fd, file, geteuid(), 100, &e), -1);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s: not in: %s", why, e.text);
}

START_TEST(what_a_job_made)
{
	char *path = folder_path(state, name, "out");
	int out;

	no_file("out", "No such file");
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	no_file("out", "symbolic links");
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	no_file("out", "no regular file");
	unlink(path);
	ck_assert_int_eq(publish_bytes(path, "built", 5, 0600, NULL), 0);
	out = folder_file(fd, "out", geteuid(), 5, NULL);
	ck_assert_int_ge(out, 0);
	close(out);
	ck_assert_int_eq(folder_file(fd, "out", geteuid(), 4, NULL), -1);
	ck_assert_int_eq(folder_file(fd, "out", geteuid() + 1, 5, NULL), -1);
	free(path);
}
END_TEST

START_TEST(bytes_are_counted)
{
	char *path = folder_path(state, name, "a"), text[10000] = "";
	int dir, i;

	ck_assert_uint_eq(folder_bytes(fd, 100), 0);
	ck_assert_int_eq(publish_bytes(path, text, sizeof text, 0600, NULL), 0);
	ck_assert_uint_ge(folder_bytes(fd, 100), sizeof text);
	ck_assert_uint_lt(folder_bytes(fd, 100), 1 << 20);
	ck_assert_uint_eq(folder_bytes(fd, 1), FOLDER_TOO_MUCH);
	for (i = 0, dir = dup(fd); i < 40; i++) {
		ck_assert_int_eq(mkdirat(dir, "d", 0700), 0);
		int next = openat(dir, "d", O_RDONLY | O_DIRECTORY);
		close(dir);
		dir = next;
	}
	close(dir);
	ck_assert_uint_eq(folder_bytes(fd, 10000), FOLDER_TOO_MUCH);
	free(path);
}
END_TEST

static int emptied(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(folder_empty(state, name, NULL) != 0);
	waitpid(pid, &status, 0);
	return status;
}

static void note(const char *found, void *arg)
{
	ck_assert_str_eq(found, name);
	++*(unsigned *)arg;
}

/* A link leads nowhere, and depth costs no descriptors. */
START_TEST(emptied_as_its_user)
{
	char *path = folder_path(state, name, NULL), *link = folder_path(state, name, "link");
	char *kept = xasprintf("%s/kept", state), *odd = xasprintf("%s/jobs/odd", state);
	unsigned n = 0;
	int dir, i;

	ck_assert_int_eq(publish_bytes(kept, "k", 1, 0600, NULL), 0);
	ck_assert_int_eq(publish_bytes(odd, "k", 1, 0600, NULL), 0);
	ck_assert_int_eq(symlink(state, link), 0);
	for (i = 0, dir = dup(fd); i < 1500; i++) {
		ck_assert_int_eq(mkdirat(dir, "d", 0700), 0);
		int next = openat(dir, "d", O_RDONLY | O_DIRECTORY);
		close(dir);
		dir = next;
	}
	close(dir);
	folder_each(state, note, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(emptied(), 0);
	ck_assert_int_eq(access(kept, F_OK), 0);
	ck_assert_int_eq(folder_remove(state, name, NULL), 0);
	ck_assert_int_eq(folder_remove(state, name, NULL), 0);
	ck_assert_int_eq(emptied(), 0);
	free(path);
	free(link);
	free(kept);
	free(odd);
}
END_TEST

START_TEST(caches_are_their_owners)
{
	struct folder_user u = {!geteuid(), geteuid() ? geteuid() : 4321, 4321};
	char *one = folder_cache(state, &u, "/opt/a", NULL), *top;
	char *two = folder_cache(state, &u, "/opt/b", NULL);
	struct stat st;

	ck_assert_ptr_nonnull(one);
	ck_assert_str_ne(one, two);
	ck_assert_int_eq(stat(one, &st), 0);
	ck_assert_uint_eq(st.st_uid, u.uid);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
	top = path_dir(one);
	ck_assert_int_eq(stat(top, &st), 0);
	ck_assert_uint_eq(st.st_uid, geteuid());
	free(top);
	free(one);
	free(two);
}
END_TEST

UNIT_MAIN("folder", 60, setup, teardown, what_a_job_made, bytes_are_counted, emptied_as_its_user,
    caches_are_their_owners)
