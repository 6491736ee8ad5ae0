#include "editor-driver/os/sandbox.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "editor-driver/os/run.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static char base[] = "/tmp/morph-sandbox-XXXXXX";
static char dir[64], inside[96], outside[96], mine[128], theirs[128];
static char *as;
static struct err e;

/* Each test runs in a process of its own (CK_FORK), which the sandbox needs. */
static void setup(void)
{
	snprintf(dir, sizeof dir, "%s/XXXXXX", base);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(inside, sizeof inside, "%s/inside", dir);
	snprintf(outside, sizeof outside, "%s/outside", dir);
	snprintf(mine, sizeof mine, "%s/mine", inside);
	snprintf(theirs, sizeof theirs, "%s/theirs", outside);
	ck_assert_int_eq(mkdir(inside, 0700), 0);
	ck_assert_int_eq(mkdir(outside, 0700), 0);
	ck_assert_int_eq(publish_bytes(mine, "x", 1, 0644, &e), 0);
	ck_assert_int_eq(publish_bytes(theirs, "x", 1, 0600, &e), 0);
	as = tool_find("as", &e);
	ck_assert_ptr_nonnull(as);
}

static int try_enter(const char *readable, bool needed)
{
	const char *const tool[] = {as, NULL};
	const char *const writable[] = {inside, NULL};

	return sandbox_enter(
	    &(struct sandbox){&readable, 1, writable, 2, tool, 2, inside, dir, 1 << 20, needed},
	    &e);
}

static void enter(void)
{
	ck_assert_msg(!try_enter(NULL, false), "%s", e.text);
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

static bool can_read(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool landlock; /* found out before the sandbox forbids to ask */

/* What depends on Landlock is left out where there is none, with a line each. */
static bool has_landlock(void)
{
	if (!landlock)
		fprintf(stderr, "no Landlock here: not tried\n");
	return landlock;
}

static int run(const char *const *argv)
{
	return spawn_run(&(struct spawn){.argv = argv, .out = -1, .err = -1, .in = -1}, &e);
}

/* ---- calls that fail ---- */

/* Each returns -1 and EPERM, and the process goes on. */
START_TEST(calls_fail)
{
	static const struct timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
	int fd = open(mine, O_RDONLY), pipes[2];
	pid_t parent = getppid();

#define REFUSED(call) \
	do { \
		errno = 0; \
		ck_assert_msg((call) == -1 && errno == EPERM, #call ": %s", strerror(errno)); \
	} while (0)
	ck_assert_int_eq(pipe(pipes), 0);
	enter();
	REFUSED(socket(AF_INET, SOCK_STREAM, 0));
	REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
	REFUSED(chmod(mine, 04755));
	REFUSED(chmod(mine, 0644));
	REFUSED(fchmod(fd, 0600));
	REFUSED(fchmodat(AT_FDCWD, mine, 0600, 0));
	REFUSED(chown(mine, getuid(), getgid()));
	REFUSED(fchown(fd, getuid(), getgid()));
	REFUSED(setxattr(mine, "user.x", "y", 1, 0));
	REFUSED(fsetxattr(fd, "user.x", "y", 1, 0));
	REFUSED(removexattr(mine, "user.x"));
	REFUSED(utimensat(AT_FDCWD, mine, now, 0));
	REFUSED(futimens(fd, now));
	REFUSED(syscall(SYS_utime, mine, NULL));
	REFUSED(syscall(SYS_utimes, mine, NULL));
	REFUSED(syscall(SYS_futimesat, AT_FDCWD, mine, NULL));
	REFUSED(truncate(mine, 0));
	REFUSED(mknod(mine, S_IFIFO | 0600, 0));
	REFUSED(symlink("/", mine));
	REFUSED(open(mine, O_WRONLY | O_CREAT, 04755));
	REFUSED(open(inside, O_WRONLY | O_TMPFILE, 02755));
	REFUSED(creat(mine, 06755));
	REFUSED(mkdir(mine, 02755));
	REFUSED(kill(parent, 0));
	REFUSED(kill(0, 0));
	REFUSED(kill(-1, 0));
	REFUSED(syscall(SYS_tkill, parent, 0));
	REFUSED(syscall(SYS_tgkill, parent, parent, 0));
	REFUSED(sigqueue(parent, 0, (union sigval){0}));
	REFUSED(syscall(SYS_pidfd_send_signal, pipes[0], 0, NULL, 0));
	REFUSED(setsid());
	REFUSED(setpgid(0, 0));
	REFUSED(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	REFUSED(syscall(SYS_clone, CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0));
	REFUSED(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0));
	REFUSED(shmget(IPC_PRIVATE, 4096, 0600));
	REFUSED(syscall(SYS_msgget, IPC_PRIVATE, 0600));
	REFUSED(syscall(SYS_semget, IPC_PRIVATE, 1, 0600));
	REFUSED(syscall(SYS_mq_open, "/m", O_CREAT, 0600, NULL));
	REFUSED(memfd_create("m", 0));
	REFUSED(syscall(SYS_execveat, fd, "", NULL, NULL, AT_EMPTY_PATH));
	REFUSED(syscall(SYS_personality, 0));
	REFUSED(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	REFUSED(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	REFUSED(ioctl(fd, TIOCSTI, "x"));
	REFUSED(fcntl(pipes[0], F_SETOWN, parent));
	REFUSED(fcntl(fd, F_SETLEASE, F_RDLCK));
	REFUSED(setpriority(PRIO_PROCESS, (id_t)parent, 10));
	REFUSED(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1, 1}));
	REFUSED(prlimit(parent, RLIMIT_CORE, NULL, &(struct rlimit){0}));
	REFUSED(syscall(SYS_memfd_secret, 0));
#undef REFUSED
	/* C libraries go on to clone. */
	errno = 0;
	ck_assert(syscall(SYS_clone3, NULL, 0) == -1 && errno == ENOSYS);
	/* The cache remembers when an entry was used. */
	ck_assert_int_eq(futimens(fd, NULL), 0);
}
END_TEST

/* ---- calls that end the process ---- */

static void do_bpf(void)
{
	syscall(SYS_bpf, 0, NULL, 0);
}
static void do_mount(void)
{
	mount("none", "/tmp", "tmpfs", 0, NULL);
}
static void do_unshare(void)
{
	unshare(CLONE_NEWUSER);
}
static void do_setns(void)
{
	setns(0, 0);
}
static void do_chroot(void)
{
	chroot("/") ? (void)0 : (void)0;
}
static void do_io_uring(void)
{
	syscall(SYS_io_uring_setup, 1, NULL);
}
static void do_keyctl(void)
{
	syscall(SYS_keyctl, 0, 0);
}
static void do_userfaultfd(void)
{
	syscall(SYS_userfaultfd, 0);
}
static void do_open_by_handle(void)
{
	syscall(SYS_open_by_handle_at, 0, NULL, 0);
}
static void do_vm_readv(void)
{
	process_vm_readv(getppid(), NULL, 0, NULL, 0, 0);
}
static void do_i386(void)
{
	signal(SIGSEGV, SIG_DFL);
	__asm__ volatile("int $0x80" : : "a"(20) : "memory");
}
static void do_x32(void)
{
	syscall(0x40000000 | SYS_getpid);
}

static void (*const FATAL[])(void) = {do_bpf, do_mount, do_unshare, do_setns, do_chroot,
    do_io_uring, do_keyctl, do_userfaultfd, do_open_by_handle, do_vm_readv, do_i386, do_x32};

START_TEST(calls_end_the_process)
{
	pid_t pid;
	int st;

	enter();
	pid = fork();
	if (!pid) {
		FATAL[_i]();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &st, 0), pid);
	/* Kernels without 32-bit programs have no such gate. */
	ck_assert_msg(WIFSIGNALED(st) && (WTERMSIG(st) == SIGSYS ||
					     (FATAL[_i] == do_i386 && WTERMSIG(st) == SIGSEGV)),
	    "number %d went on", _i);
}
END_TEST

START_TEST(abort_still_aborts)
{
	enter();
	abort();
}
END_TEST

/* ---- files ---- */

START_TEST(reads_only_what_is_named)
{
	char *given = xasprintf("/dev/fd/%d", open(theirs, O_RDONLY));
	struct buf b = {0};

	if (!has_landlock())
		return;
	ck_assert_msg(!try_enter(mine, true), "%s", e.text);
	ck_assert(can_read(mine));
	ck_assert(can_read("/usr/bin/ld"));
	ck_assert(!can_read(theirs));
	ck_assert_int_eq(errno, EACCES);
	ck_assert(!can_read(outside));
	ck_assert(!can_read("/etc/passwd"));
	ck_assert(!can_read("/etc"));
	ck_assert(!can_read("/proc/1/environ"));
	/* What was opened before is read, but not by its name again. */
	ck_assert_msg(!file_read(given, 0, &b, &e), "%s", e.text);
	ck_assert(!can_read(given));
	buf_free(&b);
	free(given);
}
END_TEST

START_TEST(writes_only_inside)
{
	enter();
	ck_assert(can_write(inside));
	if (!has_landlock())
		return;
	ck_assert(!can_write(outside));
	ck_assert(open(theirs, O_WRONLY) == -1 && open(theirs, O_RDONLY | O_TRUNC) == -1);
	ck_assert(unlink(theirs) && rename(theirs, mine) && link(theirs, mine));
	ck_assert(rename(mine, theirs));
	ck_assert(!can_write("/dev/shm"));
}
END_TEST

START_TEST(runs_only_tools)
{
	const char *const plain[] = {as, "--version", NULL};
	const char *const shell[] = {"sh", "-c", ":", NULL};

	enter();
	ck_assert_int_eq(run(plain), 0);
	if (!has_landlock())
		return;
	ck_assert_int_eq(run(shell), -1);
	ck_assert_ptr_nonnull(strstr(e.text, strerror(EACCES)));
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

/* ---- tools ---- */

/* as copies what a directive includes. */
static int include(const char *path)
{
	char *text = xasprintf("\t.incbin \"%s\"\n", path), *source = xasprintf("%s/x.s", inside);
	char *out = xasprintf("%s/x.o", inside);
	const char *const argv[] = {as, "-o", out, source, NULL};
	int rc;

	ck_assert_msg(!publish_bytes(source, text, strlen(text), 0600, &e), "%s", e.text);
	rc = run_tool(&(struct spawn){.argv = argv}, "as", &e);
	free(text);
	free(source);
	free(out);
	return rc;
}

/* The tools get less than we have: what we may read, they may not. */
START_TEST(tools_get_less)
{
	char *out = xasprintf("%s/x.o", outside);
	const char *const argv[] = {as, "-o", out, "/dev/null", NULL};
	const char *const writable[] = {inside, outside};
	const char *const tool[] = {as};
	int kept = fcntl(open(theirs, O_RDONLY), F_DUPFD, 50);
	char *given = xasprintf("/dev/fd/%d", kept);

	if (!has_landlock())
		return;
	ck_assert_int_ge(kept, 50);
	ck_assert_msg(!sandbox_enter(&(struct sandbox){NULL, 0, writable, 2, tool, 1, inside}, &e),
	    "%s", e.text);
	ck_assert_int_eq(include(mine), 0);
	ck_assert_int_eq(include(theirs), -1);
	ck_assert(can_read(theirs));
	ck_assert_int_eq(include(given), -1);
	ck_assert_int_eq(run_tool(&(struct spawn){.argv = argv}, "as", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "Permission denied"));
	ck_assert(can_write(outside));
	free(out);
	free(given);
}
END_TEST

START_TEST(tools_make_no_processes)
{
	pid_t pid;
	int st;

	enter();
	pid = fork();
	if (!pid) {
		if (sandbox_narrow())
			_exit(2);
		_exit(fork() == -1 && errno == EPERM && kill(getppid(), 0) == -1 &&
			      prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) == -1
			  ? 0
			  : 1);
	}
	ck_assert_int_eq(waitpid(pid, &st, 0), pid);
	ck_assert_int_eq(st, 0);
}
END_TEST

START_TEST(a_huge_object_is_one_error)
{
	static const char text[] = "\t.data\n\t.fill 4000000, 1, 1\n";
	char *source = xasprintf("%s/x.s", inside), *out = xasprintf("%s/x.o", inside);
	const char *const argv[] = {as, "-o", out, source, NULL};

	enter();
	ck_assert_int_eq(publish_bytes(source, text, sizeof text - 1, 0600, &e), 0);
	ck_assert_int_eq(run_tool(&(struct spawn){.argv = argv}, "as", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "as: its output is larger than 1 MiB"));
	free(source);
	free(out);
}
END_TEST

START_TEST(limits_are_set)
{
	static const int what[] = {
	    RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_CPU, RLIMIT_NOFILE, RLIMIT_NPROC};
	struct rlimit r, low = {100, 100};
	size_t i;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
	enter();
	for (i = 0; i < sizeof what / sizeof *what; i++) {
		ck_assert_int_eq(getrlimit((__rlimit_resource_t)what[i], &r), 0);
		ck_assert(r.rlim_cur != RLIM_INFINITY && r.rlim_max != RLIM_INFINITY);
		ck_assert(what[i] != RLIMIT_NOFILE || r.rlim_max == low.rlim_max);
		ck_assert(what[i] != RLIMIT_FSIZE || r.rlim_max == 1 << 20);
		ck_assert(what[i] != RLIMIT_CORE || r.rlim_max == 0);
	}
}
END_TEST

/* A kernel without Landlock, as a filter shows it. */
START_TEST(without_landlock_it_says_so_or_refuses)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	ck_assert_int_eq(
	    seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(landlock_create_ruleset), 0), 0);
	ck_assert_int_eq(seccomp_load(ctx), 0);
	seccomp_release(ctx);
	ck_assert_int_eq(try_enter(NULL, true), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "Landlock"));
	ck_assert_int_eq(try_enter(NULL, false), 0);
	ck_assert_int_eq(socket(AF_INET, SOCK_STREAM, 0), -1);
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
	int failed;

	if (!mkdtemp(base))
		return EXIT_FAILURE;
	landlock =
	    syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 2;
	failed = UNIT_RUN("sandbox", 0, setup, NULL, calls_fail,
	    UNIT_LOOP(calls_end_the_process, sizeof FATAL / sizeof *FATAL),
	    UNIT_SIGNAL(abort_still_aborts, SIGABRT), reads_only_what_is_named, writes_only_inside,
	    runs_only_tools, removes_its_own_folder_but_no_file_beside, tools_get_less,
	    tools_make_no_processes, a_huge_object_is_one_error, limits_are_set,
	    without_landlock_it_says_so_or_refuses, root_takes_only_roots);
	dir_remove(base, NULL); /* the tests, locked in, could not */
	return failed;
}
