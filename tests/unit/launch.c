/* Programs that are started while their user interferes. */
#include "managerd/parent/launch.h"
#include "common/mem.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Stops every child of parent but itself, as soon as it is there, as the user of a
 * program may who has just been given it. */
static _Noreturn void stop_children(pid_t parent)
{
	char path[64], text[4096], *at, *end;
	ssize_t n;
	long pid;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
	fd = open(path, O_RDONLY);
	for (;;) {
		n = pread(fd, text, sizeof text - 1, 0);
		if (n < 0)
			_exit(1);
		text[n] = '\0';
		for (at = text; (pid = strtol(at, &end, 10)) > 0 && end != at; at = end)
			if (pid != getpid())
				kill((pid_t)pid, SIGSTOP);
	}
}

START_TEST(stopped_before_it_is_the_program)
{
	static const char *const argv[] = {"/bin/true", NULL};
	static char *const env[] = {NULL};
	struct launch l = {.argv = argv, .env = env, .nfd = 3, .fd = {-1, -1, -1}};
	unsigned i, stopped = 0;
	pid_t stopper = fork(), pid;
	int fd, report, status;
	struct err e;

	if (!stopper)
		stop_children(getppid());
	/* Nobody waits for it: until the stopper was in time once, before the program or after. */
	for (i = 0; !stopped && i < 20000; i++) {
		pid = launch(&l, &fd, &report, &e);
		ck_assert_int_gt(pid, 0);
		ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
		if (WIFSTOPPED(status)) {
			stopped++;
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		ck_assert_int_eq(launch_became(report, &e), 0);
		close(fd);
	}
	kill(stopper, SIGKILL);
	waitpid(stopper, NULL, 0);
	ck_assert_uint_gt(stopped, 0);
}
END_TEST

START_TEST(no_such_program)
{
	static const char *const argv[] = {"/nonexistent/editor", NULL};
	static char *const env[] = {NULL};
	struct launch l = {
	    .argv = argv, .env = env, .nfd = 3, .fd = {-1, -1, -1}, .priority = LAUNCH_IDLE};
	int fd, report, status;
	struct err e;
	pid_t pid = launch(&l, &fd, &report, &e);

	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(launch_became(report, &e), -1);
	ck_assert_str_eq(e.text, "/nonexistent/editor: running it: No such file or directory");
	close(fd);
}
END_TEST

static void *wait_for_end(void *arg)
{
	pause();
	return arg;
}

/* A user with many threads, besides whom jobs are to run. */
static pid_t crowd(uid_t uid, unsigned n)
{
	pthread_t thread;
	int ready[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (setresuid(uid, uid, uid))
			_exit(1);
		while (n--)
			if (pthread_create(&thread, NULL, wait_for_end, NULL))
				_exit(1);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static int run_as(uid_t uid, const char *command)
{
	const char *const argv[] = {"/bin/sh", "-c", command, NULL};
	static char *const env[] = {NULL};
	struct launch l = {.argv = argv,
	    .env = env,
	    .nfd = 3,
	    .fd = {-1, -1, -1},
	    .drop = true,
	    .uid = uid,
	    .gid = uid,
	    .processes = 20};
	struct err e = {""};
	int fd, report, status;
	pid_t pid = launch(&l, &fd, &report, &e);

	ck_assert_msg(pid > 0, "%s", e.text);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	kill(-pid, SIGKILL);
	ck_assert_int_eq(launch_became(report, &e), 0);
	close(fd);
	return status;
}

/* The bound is of what a job starts, however many threads its user has. */
START_TEST(processes_beside_others)
{
	enum { USER = 54321, THREADS = 100 };
	pid_t others;

	if (geteuid())
		return;
	others = crowd(USER, THREADS);
	ck_assert_int_eq(run_as(USER, "sleep 0; exit 3"), 3 << 8);
	ck_assert_int_ne(run_as(USER, "for i in $(seq 40); do sleep 9 & done; exit 3"), 3 << 8);
	kill(others, SIGKILL);
	waitpid(others, NULL, 0);
}
END_TEST

UNIT_MAIN("launch", 120, NULL, NULL, stopped_before_it_is_the_program, no_such_program,
    processes_beside_others)
