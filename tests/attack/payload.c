/*
 * What an artifact might get ld to do: it tries one thing and leaves "gained" or why
 * not in the file report of the folder it runs in. Tools get no environment, so it is
 * compiled for each:
 *	TRY      its name; without one it lists the names
 *	VICTIM   a folder of the same user, with a file secret of mode 0600
 *	PROCESS  a process of the same user
 *	CACHE    the editor's cache
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static char victim[4096], secret[4200], cache[4200];
static pid_t process;

static bool opens(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	return fd >= 0 && !close(fd);
}

static bool opens_below(const char *folder, const char *name, int flags)
{
	char path[8400];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return opens(path, flags);
}

static bool try_control(void)
{
	return opens("made", O_WRONLY | O_CREAT);
}
static bool try_chmod(void)
{
	return !chmod(secret, 04777);
}
static bool try_fchmodat(void)
{
	return !fchmodat(AT_FDCWD, secret, 04777, 0);
}
static bool try_chmod_own(void)
{
	return opens("x", O_CREAT | O_WRONLY) && !chmod("x", 04777);
}
static bool try_setuid_file(void)
{
	return open("s", O_WRONLY | O_CREAT, 06777) >= 0;
}
static bool try_setxattr(void)
{
	return !setxattr(secret, "user.morph", "x", 1, 0);
}
static bool try_utimes(void)
{
	return !utimensat(AT_FDCWD, secret, NULL, 0);
}
static bool try_truncate(void)
{
	return !truncate(secret, 0);
}
static bool try_read(void)
{
	return opens(secret, O_RDONLY);
}
static bool try_write(void)
{
	return opens(secret, O_WRONLY);
}
static bool try_list(void)
{
	return opendir(victim);
}
static bool try_create(void)
{
	return opens_below(victim, "new", O_WRONLY | O_CREAT);
}
static bool try_unlink(void)
{
	return !unlink(secret);
}
static bool try_link(void)
{
	return !link(secret, "linked");
}
static bool try_rename(void)
{
	return !rename(secret, "renamed");
}
static bool try_passwd(void)
{
	return opens("/etc/passwd", O_RDONLY);
}
static bool try_tmp(void)
{
	return opens_below("/tmp", "morph-payload", O_WRONLY | O_CREAT);
}
static bool try_shm_file(void)
{
	return opens_below("/dev/shm", "morph-payload", O_RDWR | O_CREAT);
}
static bool try_cache_write(void)
{
	return opens_below(cache, "objects/new", O_RDWR | O_CREAT);
}
static bool try_cache_secret(void)
{
	return opens_below(cache, "secret", O_RDONLY);
}
static bool try_kill(void)
{
	return !kill(process, SIGTERM);
}
static bool try_kill_all(void)
{
	return !kill(-1, SIGTERM);
}
static bool try_kill_parent(void)
{
	return !kill(getppid(), SIGSTOP) && !kill(getppid(), SIGCONT);
}
static bool try_sigqueue(void)
{
	return !sigqueue(process, SIGTERM, (union sigval){0});
}
static bool try_ptrace(void)
{
	return !ptrace(PTRACE_ATTACH, process, NULL, NULL);
}
static bool try_unshare(void)
{
	return !unshare(CLONE_NEWUSER);
}
static bool try_clone_userns(void)
{
	return syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) >= 0;
}
static bool try_shm(void)
{
	return shmget(IPC_PRIVATE, 4096, 0600) >= 0;
}
static bool try_msg(void)
{
	return msgget(IPC_PRIVATE, 0600) >= 0;
}
static bool try_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM, 0) >= 0;
}
static bool try_unix_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}
static bool try_io_uring(void)
{
	char params[120] = {0};

	return syscall(SYS_io_uring_setup, 1, params) >= 0;
}
static bool try_memfd(void)
{
	return memfd_create("x", 0) >= 0;
}
static bool try_fork(void)
{
	return fork() >= 0;
}
static bool try_outlive(void)
{
	return !prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
}

static bool try_session(void)
{
	return setsid() >= 0 || !setpgid(0, 0) || getpid() == getpgrp();
}

/* Leaves a process behind that has nothing to do with us any more; back when that one is another
 * program, so that who looks for it by its name finds it. */
static bool try_daemon(void)
{
	int started[2] = {-1, -1};
	pid_t pid = pipe2(started, O_CLOEXEC) ? -1 : fork();
	char c;

	if (!pid) {
		setsid();
		if (!fork())
			execlp("sleep", "sleep", "4711", NULL);
		_exit(0);
	}
	close(started[1]);
	return pid > 0 && waitpid(pid, NULL, 0) == pid && read(started[0], &c, 1) == 0;
}

static bool try_memory_of(void)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/environ", (int)process);
	return opens(path, O_RDONLY);
}

static bool try_descriptors(void)
{
	int fd, found = 0;

	for (fd = 3; fd < 256; fd++)
		found += fcntl(fd, F_GETFD) >= 0;
	return found;
}

static bool try_shell(void)
{
	execl("/bin/sh", "sh", "-c", "echo gained >report", NULL);
	return false;
}

static bool try_large(void)
{
	int fd = open("large", O_RDWR | O_CREAT, 0600);

	return fd >= 0 && !ftruncate(fd, (off_t)1 << 30);
}

#define T(name) \
	{ \
#name, try_##name \
	}
static const struct {
	const char *name;
	bool (*fn)(void);
} TRIES[] = {T(control), T(chmod), T(fchmodat), T(chmod_own), T(setuid_file), T(setxattr),
    T(utimes), T(truncate), T(read), T(write), T(list), T(create), T(unlink), T(link), T(rename),
    T(passwd), T(tmp), T(shm_file), T(cache_write), T(cache_secret), T(kill), T(kill_all),
    T(kill_parent), T(sigqueue), T(ptrace), T(unshare), T(clone_userns), T(shm), T(msg), T(socket),
    T(unix_socket), T(io_uring), T(memfd), T(fork), T(outlive), T(session), T(daemon), T(memory_of),
    T(descriptors), T(shell), T(large)};

static void report(const char *text)
{
	int fd = open("report", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd >= 0 && write(fd, text, strlen(text)) >= 0)
		close(fd);
}

int main(void)
{
#ifdef TRY
	static const char name[] = TRY;
#else
	enum { PROCESS = 0 };
	static const char VICTIM[] = "", CACHE[] = "", *name = NULL;
#endif
	size_t i;

	for (i = 0; i < sizeof TRIES / sizeof *TRIES; i++) {
		if (!name)
			puts(TRIES[i].name);
		if (!name || strcmp(name, TRIES[i].name))
			continue;
		snprintf(victim, sizeof victim, "%s", VICTIM);
		snprintf(secret, sizeof secret, "%s/secret", victim);
		snprintf(cache, sizeof cache, "%s", CACHE);
		process = PROCESS;
		report("tried\n");
		report(TRIES[i].fn() ? "gained\n" : "refused\n");
	}
	return 1;
}
