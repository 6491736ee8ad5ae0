/*
 * The verbs: every argument is checked before use, in both modes; in system
 * mode (as root) the parent serves, the child is nobody, and neither outlives
 * the other.
 */
#include "managerd/builds.h"
#include "managerd/edit.h"
#include "managerd/jobs.h"
#include "managerd/parent.h"
#include "managerd/priv.h"
#include "managerd/procs.h"
#include "tests/unit/tinyelf.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { OLD = 11, NEW = 22, NOBODY = 65534, OWNER = 1 };

static char dir[] = "/tmp/morph-priv-XXXXXX";
static char *state, *run, *folder, *module, *editor, *build, *old;
static struct build_id origin; /* what jobs are to compare with */

static void setup(void)
{
	static const char text[] = "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in -o) out=$2;;"
	    "--original) old=$2;; --cache) cache=$2;; esac; shift; done\nid -u\nid -G\n"
	    "test -n \"$out\" && cp \"$0.build\" $out\n"
	    "test -n \"$old\" && cmp $old $0.old && echo ${old##*/}\n"
	    "test -n \"$cache\" && echo used >>$cache/x && stat -c %u:%a $cache\nexit 0\n";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chmod(dir, 0755), 0);
	state = xasprintf("%s/state", dir);
	run = xasprintf("%s/run", dir);
	folder = xasprintf("%s/bin", dir);
	module = xasprintf("%s/prog", folder);
	editor = xasprintf("%s/editor", dir);
	build = xasprintf("%s.build", editor);
	ck_assert_int_eq(mkdir(folder, 0755), 0);
	ck_assert_int_eq(tiny_write(module, OLD, false, 5000), 0);
	old = xasprintf("%s.old", editor);
	ck_assert_int_eq(tiny_write(old, OLD, false, 5000), 0);
	ck_assert_int_eq(tiny_write(build, NEW, false, 5000), 0);
	ck_assert_int_eq(publish_bytes(editor, text, sizeof text - 1, 0755, NULL), 0);
}

static void teardown(void)
{
	dir_remove(dir, NULL);
	free(state);
	free(run);
	free(folder);
	free(module);
	free(editor);
	free(build);
	free(old);
}

static char *verify_one[] = {"true", "{new}", NULL};
static char *verify_other[] = {"true", "{old}", NULL};
static char *const *const verify_all[] = {verify_one, NULL};

static struct priv *start(bool user)
{
	struct priv_options o = {.state = state, .user = user, .uid = NOBODY, .gid = NOBODY,
		.run = run, .editor = editor, .verify = verify_all};
	struct priv *p;
	struct err e = {""};

	p = priv_start(&o, &e);
	if (!p) {
		fprintf(stderr, "%s\n", e.text);
		abort();
	}
	return p;
}

static void require(bool ok, const char *what, const struct err *e)
{
	if (ok)
		return;
	fprintf(stderr, "not so: %s (%s)\n", what, e->text);
	_exit(1);
}
#define REQUIRE(x) require((x), #x, &e)
#define REFUSED(x)                                                                                 \
	do {                                                                                       \
		e.text[0] = '\0';                                                                  \
		require((x) != 0 && strstr(e.text, "refused"), #x, &e);                            \
	} while (0)

static struct priv_swap good_swap(void)
{
	return (struct priv_swap){.module = module, .job = "0123456789abcdef",
		.from = tiny_id(OLD), .to = tiny_id(NEW), .keep = 2};
}

static void bad_modules(struct priv *p, const char *bad)
{
	struct priv_swap s = good_swap();
	struct err e = {""};

	s.module = bad;
	REFUSED(priv_swap(p, &s, &e));
	REFUSED(priv_rollback(p, &s, &e));
	REFUSED(priv_swap_done(p, bad, &e));
	REFUSED(priv_swap_check(p, bad, &e));
}

static void bad_swaps(struct priv *p)
{
	static const char *const paths[] = {"", "prog", "./x", "/", "//x", "/a//b", "/a/", "/a/./b",
		"/a/../b", "/..", "/."};
	static const char *const jobs[] = {"", "..", "0123456789abcde", "0123456789abcdeF",
		"0123456789abcdef0", "../../../../etc/"};
	struct priv_swap s;
	struct err e = {""};
	size_t i;

	for (i = 0; i < sizeof paths / sizeof *paths; i++)
		bad_modules(p, paths[i]);
	for (i = 0; i < sizeof jobs / sizeof *jobs; i++) {
		s = good_swap();
		s.job = jobs[i];
		REFUSED(priv_swap(p, &s, &e));
		REFUSED(priv_job_drop(p, jobs[i], &e));
	}
	s = good_swap();
	s.from.n = 0;
	REFUSED(priv_swap(p, &s, &e));
	s = good_swap();
	s.to = s.from;
	REFUSED(priv_rollback(p, &s, &e));
	s = good_swap();
	s.keep = 0;
	REFUSED(priv_swap(p, &s, &e));
	s.keep = 1001;
	REFUSED(priv_rollback(p, &s, &e));
}

static struct priv_job good_job(int samples)
{
	return (struct priv_job){.kind = PRIV_BUILD, .module = module, .artifact = "/a.morph",
		.samples = samples, .out = 1, .err = 2};
}

static void bad_jobs(struct priv *p, bool system)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), status;
	struct priv_started s;
	struct priv_job j;
	struct err e = {""};

	j = good_job(fd);
	j.kind = 9;
	REFUSED(priv_job_start(p, &j, &s, &e));
	j = good_job(fd);
	j.artifact = "--score";
	REFUSED(priv_job_start(p, &j, &s, &e));
	j = good_job(fd);
	j.module = "/x/../y";
	REFUSED(priv_job_start(p, &j, &s, &e));
	j = good_job(fd);
	REQUIRE(priv_job_start(p, &j, &s, &e) < 0 && strstr(e.text, "not a regular file"));
	j = (struct priv_job){.kind = PRIV_VERIFY, .module = module, .job = "..",
		.command = verify_one, .samples = -1, .out = 1, .err = 2};
	REFUSED(priv_job_start(p, &j, &s, &e));
	j.job = "0123456789abcdef";
	j.command = NULL;
	REFUSED(priv_job_start(p, &j, &s, &e));
	j.command = verify_other;
	if (system)
		REFUSED(priv_job_start(p, &j, &s, &e));
	REFUSED(priv_job_signal(p, 1, SIGKILL, &e));
	REFUSED(priv_job_signal(p, getpid(), SIGSTOP, &e));
	REFUSED(priv_job_signal(p, -1, SIGTERM, &e));
	REFUSED(priv_job_signal(p, getpid(), SIGUSR1, &e));
	REFUSED(priv_job_reap(p, getpid(), &status, &e));
	close(fd);
}

static void read_all(int fd, char *text, size_t max)
{
	size_t n = 0;
	ssize_t r;

	while ((r = read(fd, text + n, max - 1 - n)) > 0)
		n += (size_t)r;
	text[n] = '\0';
}

/* Runs a build to its end; what it printed goes to text. */
static void run_job(struct priv *p, struct priv_started *s, char *text, size_t max)
{
	int out[2], status, fd = memfd_create("samples", MFD_CLOEXEC);
	struct priv_job j = good_job(fd);
	struct err e = {""};

	j.origin = origin;
	REQUIRE(pipe2(out, O_CLOEXEC) == 0);
	j.out = out[1];
	REQUIRE(priv_job_start(p, &j, s, &e) == 0);
	close(out[1]);
	close(fd);
	read_all(out[0], text, max);
	close(out[0]);
	REQUIRE(poll(&(struct pollfd){.fd = s->pidfd, .events = POLLIN}, 1, 10000) == 1);
	REQUIRE(priv_job_reap(p, s->pid, &status, &e) == 0);
	REQUIRE(WIFEXITED(status) && !WEXITSTATUS(status));
	REFUSED(priv_job_reap(p, s->pid, &status, &e));
	close(s->pidfd);
}

static void outcome(const struct swap_outcome *o, void *arg)
{
	struct priv *p = arg;
	struct err e = {""};

	REQUIRE(!strcmp(o->module, module));
	REQUIRE(o->end == SWAP_FINISHED);
	REQUIRE(priv_swap_done(p, o->module, &e) == 0);
}

/* Build, swap, crash before done, recover, roll back: through the verbs. */
static void whole_way(struct priv *p)
{
	struct priv_swap s = good_swap();
	const struct swap_kept *kept;
	struct priv_started job;
	struct arena a = {0};
	char text[200];
	struct err e = {""};

	run_job(p, &job, text, sizeof text);
	s.job = job.name;
	REQUIRE(priv_swap_check(p, module, &e) == SWAP_OK);
	REQUIRE(priv_swap(p, &s, &e) == SWAP_OK);
	REQUIRE(tiny_run(module) == NEW);
	REQUIRE(priv_unchanged(p, module, &s.to, &e) == 0);
	REQUIRE(priv_recover(p, outcome, p, &e) == 0);
	REQUIRE(priv_kept(p, module, &a, &kept) == 1);
	REQUIRE(priv_job_drop(p, job.name, &e) == 0);
	origin = tiny_id(OLD); /* kept now */
	run_job(p, &job, text, sizeof text);
	REQUIRE(strstr(text, "\noriginal\n"));
	origin = tiny_id(NEW); /* the module itself, which is not like the old one */
	run_job(p, &job, text, sizeof text);
	REQUIRE(strstr(text, "differ") && !strstr(text, "original"));
	origin = (struct build_id){0};
	s.to = tiny_id(OLD);
	s.from = tiny_id(NEW);
	s.job = NULL;
	REQUIRE(priv_rollback(p, &s, &e) == SWAP_OK);
	REQUIRE(priv_swap_done(p, module, &e) == 0);
	REQUIRE(tiny_run(module) == OLD);
	REQUIRE(priv_swap(p, &s, &e) == SWAP_FAILED);
	arena_free(&a);
}

START_TEST(user_mode)
{
	struct priv *p = start(true);

	ck_assert_str_eq(priv_home(p), state);
	bad_swaps(p);
	bad_jobs(p, false);
	whole_way(p);
	priv_stop(p);
}
END_TEST

START_TEST(one_manager_at_a_time)
{
	struct priv_options o = {.state = state, .user = true, .editor = editor};
	struct priv *p = start(true);
	char pid[32];
	struct err e = {""};

	snprintf(pid, sizeof pid, "process %d)", (int)getpid());
	ck_assert_ptr_null(priv_start(&o, &e));
	ck_assert_ptr_nonnull(strstr(e.text, "another morphd"));
	ck_assert_ptr_nonnull(strstr(e.text, pid));
	priv_stop(p);
	p = start(true);
	priv_stop(p);
}
END_TEST

START_TEST(state_must_be_ours)
{
	struct priv_options o = {.state = state, .user = true, .editor = editor};
	struct err e = {""};

	ck_assert_int_eq(mkdir(state, 0755), 0);
	ck_assert_int_eq(chmod(state, 0777), 0);
	ck_assert_ptr_null(priv_start(&o, &e));
	ck_assert_ptr_nonnull(strstr(e.text, "not be writable by others"));
	o.state = "relative";
	ck_assert_ptr_null(priv_start(&o, &e));
	ck_assert_ptr_nonnull(strstr(e.text, "absolute"));
	o.state = state;
	o.user = false;
	ck_assert_ptr_null(priv_start(&o, &e));
	ck_assert_ptr_nonnull(strstr(e.text, "root"));
}
END_TEST

/* A manager that dies takes its job along, or the next one does. */
START_TEST(jobs_do_not_outlive_the_manager)
{
	char *mark = xasprintf("%s/jobs/", state);
	int ready[2], status;
	pid_t pid;
	char c;

	ck_assert_int_eq(publish_bytes(editor, "#!/bin/sh\nsleep 100 & echo x; sleep 100\n", 40,
			     0755, NULL), 0);
	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		struct priv *p = start(true);
		struct priv_started s;
		struct priv_job j = good_job(memfd_create("samples", 0));
		struct err e = {""};

		j.out = ready[1];
		REQUIRE(priv_job_start(p, &j, &s, &e) == 0);
		pause();
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	/* The shell is killed by the kernel; its first child is left, and swept. */
	struct priv *p = start(true);
	ck_assert_uint_eq(procs_kill_marked("MORPH_JOB", mark), 0);
	ck_assert_int_eq(read(ready[0], &c, 1), 1); /* newline */
	ck_assert_int_eq(read(ready[0], &c, 1), 0); /* nobody holds the pipe */
	priv_stop(p);
	free(mark);
}
END_TEST

/* ---- system mode ---- */

/* Runs body in the child of a parent; true when it came to its end. */
static bool in_system(void (*body)(struct priv *p))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		body(start(false));
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void is_nobody(struct priv *p)
{
	char *lock = xasprintf("%s/lock", state), *mine = xasprintf("%s/x", priv_home(p));
	char *sock = xasprintf("%s/x", run), *builds = xasprintf("%s/builds/x", state);
	char *journal = xasprintf("%s/journal", state);
	struct err e = {""};
	struct stat st;

	REQUIRE(getuid() == NOBODY && geteuid() == NOBODY && getgid() == NOBODY);
	REQUIRE(setuid(0) < 0);
	REQUIRE(getgroups(0, NULL) == 0);
	REQUIRE(open(lock, O_RDWR) < 0);
	REQUIRE(!publish_bytes(mine, "x", 1, 0600, NULL));
	REQUIRE(!publish_bytes(sock, "x", 1, 0600, NULL));
	REQUIRE(publish_bytes(builds, "x", 1, 0600, NULL) < 0);
	REQUIRE(mkdir(journal, 0700) < 0);
	REQUIRE(!stat(priv_home(p), &st) && st.st_uid == NOBODY);
	REQUIRE(kill(getppid(), 0) < 0);
}

static void refuses_all(struct priv *p)
{
	bad_swaps(p);
	bad_jobs(p, true);
}

/* root's module: edited by the manager's user. */
static void root_job(struct priv *p)
{
	struct priv_started s;
	struct err e = {""};
	char text[200];

	run_job(p, &s, text, sizeof text);
	REQUIRE(!strcmp(text, "65534\n65534\n65534:700\n"));
	char *out = priv_job_out(p, s.name);
	REQUIRE(access(out, R_OK) == 0);
}

/* A user's module: edited by that user, and readable for us. */
static void owner_job(struct priv *p)
{
	struct priv_started s;
	struct err e = {""};
	char text[200];
	struct stat st;

	run_job(p, &s, text, sizeof text);
	REQUIRE(!strcmp(text, "1\n1\n1:700\n"));
	char *out = priv_job_out(p, s.name);
	REQUIRE(access(out, R_OK) == 0 && !stat(out, &st) && st.st_uid == OWNER);
}

START_TEST(system_mode)
{
	struct stat st;

	if (geteuid())
		return;
	ck_assert(in_system(is_nobody));
	ck_assert(in_system(refuses_all));
	ck_assert(in_system(root_job));
	ck_assert(in_system(whole_way));
	ck_assert_int_eq(chown(folder, OWNER, OWNER), 0);
	ck_assert_int_eq(chown(module, OWNER, OWNER), 0);
	ck_assert(in_system(owner_job));
	ck_assert(in_system(whole_way));
	ck_assert_int_eq(stat(module, &st), 0);
	ck_assert_uint_eq(st.st_uid, OWNER);
}
END_TEST

/* A build made for one user does not get into another's module. */
static void cross_swap(struct priv *p)
{
	char *mine = module, *other = xasprintf("%s/other/prog", dir);
	struct priv_swap s = good_swap();
	struct priv_started job;
	struct err e = {""};
	char text[200];

	run_job(p, &job, text, sizeof text);
	module = other;
	s.module = other;
	s.job = job.name;
	REQUIRE(priv_swap(p, &s, &e) == SWAP_FAILED && strstr(e.text, "belongs to uid 1"));
	struct priv_job j = {.kind = PRIV_VERIFY, .module = other, .job = job.name,
		.command = verify_one, .samples = -1, .out = 1, .err = 2};
	REFUSED(priv_job_start(p, &j, &job, &e));
	module = mine;
}

START_TEST(builds_stay_with_their_owner)
{
	char *folder2, *other;

	if (geteuid())
		return;
	folder2 = xasprintf("%s/other", dir);
	other = xasprintf("%s/prog", folder2);
	ck_assert_int_eq(mkdir(folder2, 0755), 0);
	ck_assert_int_eq(tiny_write(other, OLD, false, 5000), 0);
	ck_assert_int_eq(chown(folder, OWNER, OWNER), 0);
	ck_assert_int_eq(chown(module, OWNER, OWNER), 0);
	ck_assert(in_system(cross_swap));
	ck_assert_int_eq(tiny_run(other), OLD);
	free(folder2);
	free(other);
}
END_TEST

static int tell_child; /* the child says its pid, then waits */

static void wait_forever(struct priv *p)
{
	pid_t me = getpid();

	signal(SIGTERM, SIG_DFL);
	if (write(tell_child, &me, sizeof me) == sizeof me)
		pause();
}

static pid_t start_halves(pid_t *child)
{
	int pipe_fd[2];
	pid_t pid;

	ck_assert_int_eq(pipe(pipe_fd), 0);
	tell_child = pipe_fd[1];
	pid = fork();
	if (!pid) {
		wait_forever(start(false));
		_exit(0);
	}
	close(pipe_fd[1]);
	ck_assert_int_eq(read(pipe_fd[0], child, sizeof *child), sizeof *child);
	close(pipe_fd[0]);
	return pid;
}

/* Also a process that nobody waits for (a container's first process need not). */
static bool ends(pid_t pid)
{
	int fd = pidfd_open(pid, 0);
	bool ended = fd < 0 || poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 5000) == 1;

	if (fd >= 0)
		close(fd);
	return ended;
}

START_TEST(halves_die_together)
{
	pid_t parent, child;
	int status;

	if (geteuid())
		return;
	parent = start_halves(&child);
	ck_assert_int_eq(kill(parent, SIGKILL), 0);
	ck_assert_int_eq(waitpid(parent, &status, 0), parent);
	ck_assert(ends(child));
	parent = start_halves(&child);
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(parent, &status, 0), parent);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL);
	/* SIGTERM to the parent reaches the child. */
	parent = start_halves(&child);
	ck_assert_int_eq(kill(parent, SIGTERM), 0);
	ck_assert_int_eq(waitpid(parent, &status, 0), parent);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM);
}
END_TEST

/* A verb without its parent ends the manager; it is not an answer. */
static void verb_after_parent(struct priv *p)
{
	struct err e = {""};
	pid_t me = getpid(), parent = getppid();

	signal(SIGTERM, SIG_IGN);
	if (write(tell_child, &me, sizeof me) != sizeof me)
		return;
	while (getppid() == parent)
		usleep(1000);
	priv_swap_check(p, module, &e);
	if (write(tell_child, &me, sizeof me) < 0)
		return;
}

START_TEST(verb_without_parent)
{
	int pipe_fd[2], status;
	pid_t parent, child, more;

	if (geteuid())
		return;
	ck_assert_int_eq(pipe(pipe_fd), 0);
	tell_child = pipe_fd[1];
	parent = fork();
	if (!parent) {
		verb_after_parent(start(false));
		_exit(0);
	}
	close(pipe_fd[1]);
	ck_assert_int_eq(read(pipe_fd[0], &child, sizeof child), sizeof child);
	ck_assert_int_eq(kill(parent, SIGKILL), 0);
	ck_assert_int_eq(waitpid(parent, &status, 0), parent);
	ck_assert_int_eq(read(pipe_fd[0], &more, sizeof more), 0);
	close(pipe_fd[0]);
}
END_TEST

/* ---- frames of no form ---- */

static void handle(struct verbs *v, struct frame *f)
{
	struct buf reply = {0};
	int pair[2], fd;
	unsigned nfd;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	parent_handle(v, pair[0], f, &reply, &fd, &nfd);
	ck_assert_int_eq(fd, -1);
	ck_assert_uint_ge(reply.n, 12);
	ck_assert_ptr_nonnull(memmem(reply.p, reply.n, "refused", 7));
	close(pair[0]);
	close(pair[1]);
	buf_free(&reply);
}

START_TEST(garbled_frames_are_refused)
{
	struct verbs v = {.state = state, .system = true, .uid = NOBODY, .gid = NOBODY};
	static struct frame f;
	struct buf b = {0};
	uint32_t verb;
	size_t n;

	for (n = 0; n < 4; n++) {
		f.n = n;
		handle(&v, &f);
	}
	for (verb = 0; verb < FRAME_VERBS + 2; verb++) {
		/* Fields cut off, lengths beyond the end, and one byte too much. */
		b.n = 0;
		frame_u32(&b, verb);
		for (n = 0; n < 40; n++)
			buf_char(&b, (char)0xff);
		for (n = verb == FRAME_RECOVER ? 5 : 4; n <= b.n; n++) {
			memcpy(f.bytes, b.p, n);
			f.n = n;
			handle(&v, &f);
		}
	}
	b.n = 0;
	frame_u32(&b, FRAME_CHECK);
	frame_str(&b, "/usr/bin/env");
	buf_char(&b, 0);
	memcpy(f.bytes, b.p, b.n);
	f.n = b.n;
	handle(&v, &f);
	buf_free(&b);
}
END_TEST

START_TEST(descriptors_must_fit_the_verb)
{
	struct verbs v = {.state = state, .system = true, .uid = NOBODY, .gid = NOBODY};
	static struct frame f;
	struct buf b = {0};

	frame_u32(&b, FRAME_CHECK);
	frame_str(&b, module);
	memcpy(f.bytes, b.p, b.n);
	f.n = b.n;
	f.fd[0] = open("/dev/null", O_RDONLY);
	f.nfd = 1;
	int fd = f.fd[0];
	handle(&v, &f);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1); /* and are closed */
	buf_free(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("priv");
	TCase *t = tcase_create("priv");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, user_mode);
	tcase_add_test(t, one_manager_at_a_time);
	tcase_add_test(t, state_must_be_ours);
	tcase_add_test(t, jobs_do_not_outlive_the_manager);
	tcase_add_test(t, system_mode);
	tcase_add_test(t, builds_stay_with_their_owner);
	tcase_add_test(t, halves_die_together);
	tcase_add_test(t, verb_without_parent);
	tcase_add_test(t, garbled_frames_are_refused);
	tcase_add_test(t, descriptors_must_fit_the_verb);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
