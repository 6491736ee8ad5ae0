/* Each test runs in a process of its own, which is confined for good. */
#include "managerd/os/confine.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char base[] = "/tmp/morph-confine-XXXXXX";
static char home[64], beside[64];
static struct err e;

static void make_folders(void)
{
	if (!mkdtemp(base))
		abort();
	snprintf(home, sizeof home, "%s/home", base);
	snprintf(beside, sizeof beside, "%s/beside", base);
	if (mkdir(home, 0700) || publish_bytes(beside, "x", 1, 0666, &e))
		abort();
}

static int opens(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? errno : 0;
}

/* What a process has to say that is confined; its exit status is what to say. */
static int confined(int (*what)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (confine(home, &e))
			_exit(77);
		_exit(what());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status), "signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static int files(void)
{
	char own[80], link[80];

	snprintf(own, sizeof own, "%s/own", home);
	snprintf(link, sizeof link, "%s/link", home);
	if (opens(own, O_RDWR | O_CREAT) || opens(own, O_RDONLY))
		return 1;
	if (opens("/proc/stat", O_RDONLY) || opens("/proc/self/stat", O_RDONLY))
		return 2;
	if (opens(beside, O_RDONLY) != EACCES || opens(beside, O_WRONLY) != EACCES)
		return 3;
	if (opens("/etc/passwd", O_RDONLY) != EACCES || opens("/", O_RDONLY) != EACCES)
		return 4;
	if (!symlink(beside, link) || errno != ENOSYS)
		return 5;
	return 0;
}

START_TEST(only_own_files)
{
	int rc = confined(files);

	if (rc != 77) /* no Landlock here */
		ck_assert_int_eq(rc, 0);
}
END_TEST

static void *nothing(void *arg)
{
	return arg;
}

static int calls(void)
{
	struct {
		uint64_t a[16];
	} x = {0};
	pthread_t t;
	int fd;

#define refused(...) (syscall(__VA_ARGS__) < 0 && errno == ENOSYS)
	if (!refused(SYS_execve, "/bin/true", NULL, NULL) || !refused(SYS_fork) ||
	    !refused(SYS_vfork) || !refused(SYS_clone3, &x, sizeof x) ||
	    !refused(SYS_clone, SIGCHLD, 0, 0, 0, 0))
		return 1;
	if (!refused(SYS_socket, AF_UNIX, SOCK_STREAM, 0) || !refused(SYS_connect, 0, &x, 2) ||
	    !refused(SYS_bind, 0, &x, 2))
		return 2;
	if (!refused(SYS_ptrace, 0, 0, 0, 0) ||
	    !refused(SYS_process_vm_readv, 1, &x, 1, &x, 1, 0) ||
	    !refused(SYS_kill, getppid(), SIGTERM) || !refused(SYS_open_by_handle_at, 0, &x, 0) ||
	    !refused(SYS_mount, "a", "b", "c", 0, 0) || !refused(SYS_unshare, CLONE_NEWUSER) ||
	    !refused(SYS_setns, 0, 0) || !refused(SYS_bpf, 0, &x, 8) ||
	    !refused(SYS_io_uring_setup, 1, &x) || !refused(SYS_chmod, "/", 0777) ||
	    !refused(SYS_setuid, 0))
		return 3;
	fd = (int)syscall(SYS_memfd_create, "x", 0);
	if (fd < 0 || ftruncate(fd, 10) || fcntl(fd, F_DUPFD_CLOEXEC, 10) < 0)
		return 4;
	if (pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL))
		return 5;
	if (syscall(SYS_ioctl, 0, 0x5412 /* TIOCSTI */, "x") >= 0 || errno != ENOSYS)
		return 6;
	return 0;
}

START_TEST(only_what_a_loop_needs)
{
	int rc = confined(calls);

	if (rc != 77)
		ck_assert_int_eq(rc, 0);
}
END_TEST

/* The store works on, and so does publishing a file. */
static int store(void)
{
	char path[80];
	sqlite3 *db;
	int i;

	snprintf(path, sizeof path, "%s/a.db", home);
	if (sqlite3_open(path, &db) || sqlite3_exec(db,
					   "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
					   "CREATE TABLE t (a BLOB); BEGIN IMMEDIATE",
					   NULL, NULL, NULL))
		return 1;
	for (i = 0; i < 3000; i++)
		if (sqlite3_exec(db, "INSERT INTO t VALUES (randomblob(1000))", NULL, NULL, NULL))
			return 2;
	if (sqlite3_exec(db,
		"COMMIT; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA quick_check;"
		"SELECT count(*) FROM t ORDER BY a",
		NULL, NULL, NULL) ||
	    sqlite3_close(db))
		return 3;
	snprintf(path, sizeof path, "%s/replay", home);
	if (dir_make(path, 0700, &e))
		return 4;
	snprintf(path, sizeof path, "%s/replay/a", home);
	return publish_bytes(path, "x", 1, 0600, &e) ? 5 : 0;
}

START_TEST(the_store_works_on)
{
	int rc = confined(store);

	if (rc != 77)
		ck_assert_int_eq(rc, 0);
}
END_TEST

int main(void)
{
	int failed;

	make_folders();
	failed = UNIT_RUN(
	    "confine", 60, NULL, NULL, only_own_files, only_what_a_loop_needs, the_store_works_on);
	dir_remove(base, NULL);
	return failed;
}
