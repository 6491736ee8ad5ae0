/* What each of the monitor's processes can no longer do, tried in a child. */
#include "monitor-client/kernel/rights.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct rights_user same;

static int enter_main(struct err *e)
{
	return rights_main(&same, e);
}

static int enter_reader(struct err *e)
{
	return rights_reader(&same, e);
}

#define REFUSED(call) \
	do { \
		errno = 0; \
		if ((long)(call) != -1 || errno != EPERM) \
			_exit(__LINE__ % 250 + 1); \
	} while (0)
#define ALLOWED(call) \
	do { \
		if ((long)(call) == -1) \
			_exit(__LINE__ % 250 + 1); \
	} while (0)

static int enter_parser(struct err *e)
{
	int file = open("/dev/zero", O_RDONLY), answer = open("/dev/null", O_WRONLY);

	return rights_parser(file, answer, e);
}

/* Of no use to any of them. */
static void try_common(void)
{
	static char *const argv[] = {"/bin/true", NULL};
	struct iovec v = {NULL, 0};

	REFUSED(syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0));
	REFUSED(process_vm_readv(1, &v, 1, &v, 1, 0));
	REFUSED(process_vm_writev(1, &v, 1, &v, 1, 0));
	REFUSED(syscall(SYS_pidfd_open, 1, 0));
	REFUSED(syscall(SYS_pidfd_getfd, 0, 0, 0));
	REFUSED(execve(argv[0], argv, NULL));
	REFUSED(socket(AF_INET, SOCK_STREAM, 0));
	REFUSED(socket(AF_NETLINK, SOCK_RAW, 0));
	REFUSED(unshare(CLONE_NEWUSER));
	REFUSED(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	REFUSED(syscall(SYS_bpf, 0, 0, 0));
	REFUSED(syscall(SYS_io_uring_setup, 1, 0));
	REFUSED(syscall(SYS_setresuid, 0, 0, 0));
	REFUSED(syscall(SYS_chmod, "/tmp", 01777));
	REFUSED(syscall(SYS_chown, "/tmp", -1, -1));
	REFUSED(syscall(
	    SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	ALLOWED(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (prctl(PR_GET_DUMPABLE) != 0 && errno != EPERM)
		_exit(250);
}

static void try_main(void)
{
	REFUSED(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	REFUSED(ioctl(0, TIOCSTI, "x"));
	ALLOWED(socket(AF_UNIX, SOCK_STREAM, 0));
	ALLOWED(open("/proc/self/status", O_RDONLY));
}

static void try_reader(void)
{
	long v = 0;

	REFUSED(open("/dev/null", O_WRONLY));
	REFUSED(open("/dev/null", O_RDWR));
	REFUSED(open("/dev/null", O_RDONLY | O_TRUNC));
	REFUSED(open("/tmp", O_TMPFILE | O_RDWR, 0600));
	REFUSED(syscall(SYS_openat2, AT_FDCWD, "/dev/null", NULL, 0));
	REFUSED(syscall(SYS_open, "/dev/null", O_RDONLY));
	REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
	REFUSED(kill(getppid(), 0));
	REFUSED(kill(getppid(), SIGTERM));
	REFUSED(unlink("/tmp/morph-there-is-none"));
	REFUSED(syscall(SYS_perf_event_open, 0, 0, 0, 0, 0));
	ALLOWED(open("/dev/null", O_RDONLY));
	ALLOWED(open("/dev/null", O_PATH));
	REFUSED(ioctl(0, FS_IOC_SETVERSION, &v));
	REFUSED(ioctl(0, FS_IOC_GETFLAGS, &v));
	if (ioctl(0, FS_IOC_GETVERSION, &v) && errno == EPERM)
		_exit(248);
}

static void try_parser(void)
{
	REFUSED(open("/dev/null", O_RDONLY));
	REFUSED(open("/dev/null", O_PATH));
	REFUSED(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
	REFUSED(kill(getppid(), 0));
	REFUSED(syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0));
	REFUSED(syscall(SYS_setpriority, 0, 0, 0));
	REFUSED(syscall(SYS_rt_sigaction, SIGALRM, NULL, NULL, 8));
	REFUSED(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, NULL, 8));
	REFUSED(send(0, "x", 1, 0));
	REFUSED(sendmsg(0, NULL, 0));
	REFUSED(recv(0, NULL, 0, 0));
	REFUSED(recvmsg(0, NULL, 0));
	REFUSED(write(0, "x", 1));
	REFUSED(write(2, "x", 1));
	REFUSED(dup2(1, 2));
	REFUSED(fcntl(0, F_DUPFD, 2));
}

/* The file to read, the pipe to write, nothing else. */
static void try_descriptors(void)
{
	struct stat st;
	int fd;
	char c;

	ALLOWED(read(0, &c, 1));
	ALLOWED(write(1, "x", 1));
	for (fd = 2; fd < 256; fd++)
		if (!fstat(fd, &st) || errno != EBADF)
			_exit(249);
}

/* In a child: the rights, then what is tried; 0, or the line that went wrong. */
static int in_child(int (*enter)(struct err *), void (*try)(void))
{
	struct err e;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (enter(&e)) {
			fprintf(stderr, "%s\n", e.text);
			_exit(251);
		}
		try_common();
		try();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(main_has_files_and_local_sockets)
{
	ck_assert_int_eq(in_child(enter_main, try_main), 0);
}
END_TEST

START_TEST(the_reader_opens_for_reading_only)
{
	ck_assert_int_eq(in_child(enter_reader, try_reader), 0);
}
END_TEST

START_TEST(the_parser_opens_nothing)
{
	ck_assert_int_eq(in_child(enter_parser, try_parser), 0);
}
END_TEST

START_TEST(the_parser_has_two_descriptors)
{
	ck_assert_int_eq(in_child(enter_parser, try_descriptors), 0);
}
END_TEST

/* Of the parser's sets nothing is left, whoever started it. Its filter lets
 * nobody ask: another process looks. */
START_TEST(the_parser_has_no_capability)
{
	char path[64], line[256];
	int ready[2], go[2], seen = 0;
	struct err e;
	FILE *f;
	pid_t pid;

	ck_assert(!pipe(ready) && !pipe(go));
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (!rights_parser(go[0], ready[1], &e) && write(1, "x", 1) == 1 &&
		    read(0, line, 1) >= 0)
			_exit(0);
		_exit(1);
	}
	ck_assert_int_eq(read(ready[0], line, 1), 1);
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (fgets(line, sizeof line, f)) {
		unsigned long long caps;

		if (sscanf(line, "CapPrm: %llx", &caps) == 1 ||
		    sscanf(line, "CapEff: %llx", &caps) == 1 ||
		    sscanf(line, "CapInh: %llx", &caps) == 1) {
			ck_assert_uint_eq(caps, 0);
			seen++;
		}
	}
	fclose(f);
	ck_assert_int_eq(seen, 3);
	close(go[1]);
	ck_assert_int_eq(waitpid(pid, &seen, 0), pid);
	ck_assert_int_eq(seen, 0);
}
END_TEST

UNIT_MAIN("rights", 0, NULL, NULL, main_has_files_and_local_sockets,
    the_reader_opens_for_reading_only, the_parser_opens_nothing, the_parser_has_two_descriptors,
    the_parser_has_no_capability)
