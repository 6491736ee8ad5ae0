#include "common/spawn.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/socket.h>
#include <unistd.h>

#define SH(text) \
	(const char *const[]) \
	{ \
		"sh", "-c", text, NULL \
	}

static struct buf out, errs;

static void release(void)
{
	buf_free(&out);
	buf_free(&errs);
}

static int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

START_TEST(status_is_told)
{
	struct err e;
	int before = open_fds();

	ck_assert_int_eq(spawn_run(&(struct spawn){.argv = SH("exit 0")}, &e), 0);
	ck_assert_int_eq(spawn_run(&(struct spawn){.argv = SH("exit 255")}, &e), 255);
	ck_assert_int_eq(spawn_run(&(struct spawn){.argv = SH("kill -TERM $$")}, &e), 128 + 15);
	ck_assert_int_eq(open_fds(), before);
}
END_TEST

START_TEST(what_cannot_run_is_named)
{
	const char *const absent[] = {"morph-no-such-program", NULL};
	int before = open_fds();
	struct err e;

	ck_assert_int_eq(spawn_run(&(struct spawn){.argv = absent, .capture_out = &out}, &e), -1);
	ck_assert_str_eq(e.text, "morph-no-such-program: No such file or directory");
	ck_assert_int_eq(
	    spawn_run(&(struct spawn){.argv = SH("exit 0"), .dir = "/no/such/dir"}, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, strerror(ENOENT)));
	ck_assert_int_eq(open_fds(), before);
}
END_TEST

START_TEST(output_is_captured_apart)
{
	struct spawn s = {
	    .argv = SH("echo to-out; echo to-err >&2"), .capture_out = &out, .capture_err = &errs};
	struct err e;

	buf_str(&out, "kept ");
	ck_assert_int_eq(spawn_run(&s, &e), 0);
	ck_assert_str_eq(buf_cstr(&out), "kept to-out\n");
	ck_assert_str_eq(buf_cstr(&errs), "to-err\n");
}
END_TEST

/* Both pipes full at once block no one; what exceeds the limit is dropped. */
START_TEST(much_output_neither_blocks_nor_grows)
{
	struct spawn s = {
	    .argv = SH("head -c 20000000 /dev/zero >&2 & head -c 20000000 /dev/zero; wait"),
	    .capture_out = &out,
	    .capture_err = &errs};
	struct err e;

	ck_assert_int_eq(spawn_run(&s, &e), 0);
	ck_assert_uint_eq(out.n, 16 << 20);
	ck_assert_uint_eq(errs.n, 16 << 20);
}
END_TEST

START_TEST(descriptors_are_put_in_place)
{
	struct spawn s = {.argv = SH("cat; echo err >&2"), .capture_out = &out};
	struct err e;
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(write(fd[1], "through", 7), 7);
	close(fd[1]);
	s.in = fd[0];
	s.err = -1;
	ck_assert_int_eq(spawn_run(&s, &e), 0);
	ck_assert_str_eq(buf_cstr(&out), "through");
	close(fd[0]);

	/* Standard output and error changed for one another. */
	out.n = 0;
	s = (struct spawn){.argv = SH("echo 1; echo 2 >&2"), .out = 2, .err = 1};
	ck_assert_int_eq(pipe(fd), 0);
	dup2(fd[1], 2);
	close(fd[1]);
	ck_assert_int_eq(spawn_run(&s, &e), 0);
	close(2);
	ck_assert_int_eq(read(fd[0], buf_grow(&out, 16), 16), 2);
	ck_assert_int_eq(out.p[0], '1');
	close(fd[0]);
}
END_TEST

START_TEST(dev_null_is_empty)
{
	struct spawn s = {.argv = SH("cat; echo x"), .in = -1, .out = -1, .capture_err = &errs};
	struct err e;

	ck_assert_int_eq(spawn_run(&s, &e), 0);
	ck_assert_uint_eq(errs.n, 0);
}
END_TEST

START_TEST(directory_and_environment_reach_the_child)
{
	const char *const env[] = {"MORPH_T=new", "MORPH_U=more", NULL};
	struct spawn s = {
	    .argv = SH("pwd; echo $MORPH_T $MORPH_U $MORPH_TT; env | grep -c ^MORPH_T="),
	    .env = env,
	    .dir = "/usr",
	    .capture_out = &out};
	struct err e;

	setenv("MORPH_T", "old", 1);
	setenv("MORPH_TT", "stays", 1);
	ck_assert_int_eq(spawn_run(&s, &e), 0);
	ck_assert_str_eq(buf_cstr(&out), "/usr\nnew more stays\n1\n");
	out.n = 0;
	s.only_env = true;
	ck_assert_int_eq(spawn_run(&s, &e), 0);
	ck_assert_str_eq(buf_cstr(&out), "/usr\nnew more\n1\n");
}
END_TEST

/* True once pid is gone, or dead and not yet reaped by its new parent. */
static bool dead(pid_t pid)
{
	char *path = xasprintf("/proc/%d/stat", (int)pid);
	struct buf b = {0};
	bool r = file_read(path, 0, &b, NULL) < 0 || strstr(buf_cstr(&b), ") Z ");

	buf_free(&b);
	free(path);
	return r;
}

/* The deadline ends the whole group, also children that keep the pipe open. */
static int refuse(void)
{
	errno = EXDEV;
	return -1;
}

static int close_input(void)
{
	return close(0);
}

/* In the child alone, and before the program. */
START_TEST(the_child_is_narrowed_before_it_runs)
{
	struct spawn s = {.argv = SH("[ ! -e /proc/$$/fd/0 ]"), .before = close_input};
	struct err e;

	ck_assert_int_eq(spawn_run(&s, &e), 0);
	ck_assert_int_ge(fcntl(0, F_GETFD), 0);
	s.before = refuse;
	ck_assert_int_eq(spawn_run(&s, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, strerror(EXDEV)));
}
END_TEST

static void handler(int signal)
{
}

/* Handlers go, what is ignored stays so, and our mask is the child's. */
START_TEST(signals_reach_the_child_as_exec_has_them)
{
	static const char script[] = "kill -USR1 $$; kill -USR2 $$; exit 3";
	sigset_t mask;
	struct err e;

	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, handler);
	ck_assert_int_eq(spawn_run(&(struct spawn){.argv = SH(script)}, &e), 128 + SIGUSR2);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
	ck_assert(!sigismember(&mask, SIGUSR2));
	sigaddset(&mask, SIGUSR2);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, &mask, NULL), 0);
	ck_assert_int_eq(spawn_run(&(struct spawn){.argv = SH(script)}, &e), 3);
}
END_TEST

START_TEST(time_runs_out_for_the_group)
{
	struct spawn s = {
	    .argv = SH("sleep 100 & echo $!; wait"), .capture_out = &out, .timeout_s = 1};
	time_t begin = time(NULL);
	struct err e;
	pid_t pid;
	int i;

	ck_assert_int_eq(spawn_run(&s, &e), -1);
	ck_assert_str_eq(e.text, "sh: stopped after 1 s");
	ck_assert_int_lt(time(NULL) - begin, 5);
	pid = atoi(buf_cstr(&out));
	ck_assert_int_gt(pid, 1);
	for (i = 0; i < 200 && !dead(pid); i++)
		usleep(10000);
	ck_assert(dead(pid));
}
END_TEST

/* A daemon left behind with the pipe open is not waited for. */
START_TEST(a_grandchild_holds_up_nobody)
{
	struct spawn s = {.argv = SH("sleep 30 & echo $!"), .capture_out = &out};
	time_t begin = time(NULL);
	struct err e;

	ck_assert_int_eq(spawn_run(&s, &e), 0);
	ck_assert_int_lt(time(NULL) - begin, 10);
	kill(atoi(buf_cstr(&out)), SIGKILL);
}
END_TEST

START_TEST(too_much_output_stops_it)
{
	struct spawn s = {.argv = SH("exec tr '\\0' x </dev/zero"),
	    .capture_out = &out,
	    .timeout_s = 100,
	    .whole = true};
	struct err e;

	ck_assert_int_eq(spawn_run(&s, &e), -1);
	ck_assert_str_eq(e.text, "sh: stopped, it prints more than 16 MiB");
	ck_assert_uint_eq(out.n, 16 << 20);
}
END_TEST

START_TEST(nobody_waits_any_more)
{
	struct spawn s = {
	    .argv = SH("sleep 100 & echo $!; wait"), .capture_out = &out, .timeout_s = 100};
	struct err e;
	int pair[2], i;
	pid_t pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	s.client = pair[0];
	close(pair[1]);
	ck_assert_int_eq(spawn_run(&s, &e), -1);
	ck_assert_str_eq(e.text, "sh: stopped, nobody waits for it");
	pid = out.n ? atoi(buf_cstr(&out)) : 0;
	for (i = 0; i < 200 && pid && !dead(pid); i++)
		usleep(10000);
	ck_assert(!pid || dead(pid));
	close(pair[0]);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	s = (struct spawn){.argv = SH("exit 3"), .timeout_s = 100, .client = pair[0]};
	ck_assert_int_eq(spawn_run(&s, &e), 3);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

UNIT_MAIN("spawn", 30, NULL, release, status_is_told, what_cannot_run_is_named,
    output_is_captured_apart, much_output_neither_blocks_nor_grows, descriptors_are_put_in_place,
    dev_null_is_empty, directory_and_environment_reach_the_child,
    the_child_is_narrowed_before_it_runs, signals_reach_the_child_as_exec_has_them,
    time_runs_out_for_the_group, too_much_output_stops_it, nobody_waits_any_more,
    a_grandchild_holds_up_nobody)
