#include "managerd/os/confine.h"
#include "common/callfilter.h"
#include "common/landlock.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

/* An event loop, its connections, SQLite, memory; what is none of these finds that
 * the kernel does not have it, so that libraries do without. */
static const int ALLOWED[] = {
    /* the loop, and time */
    SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait),
    SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(eventfd2),
    SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime), SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday),
    SCMP_SYS(time), SCMP_SYS(futex), SCMP_SYS(sched_yield), SCMP_SYS(restart_syscall),
    /* connections, and descriptors */
    SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(sendto),
    SCMP_SYS(sendmsg), SCMP_SYS(sendfile), SCMP_SYS(shutdown), SCMP_SYS(getsockopt),
    SCMP_SYS(setsockopt), SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(pipe2),
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(close),
    SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(fcntl), SCMP_SYS(memfd_create),
    /* files: Landlock says which */
    SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(fstat),
    SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(fstatfs), SCMP_SYS(statfs), SCMP_SYS(access),
    SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
    SCMP_SYS(getcwd), SCMP_SYS(getdents64), SCMP_SYS(lseek), SCMP_SYS(pread64), SCMP_SYS(preadv),
    SCMP_SYS(pwrite64), SCMP_SYS(pwritev), SCMP_SYS(ftruncate), SCMP_SYS(fallocate),
    SCMP_SYS(fsync), SCMP_SYS(fdatasync), SCMP_SYS(flock), SCMP_SYS(fchmod), SCMP_SYS(fchown),
    SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(rename),
    SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(rmdir), SCMP_SYS(linkat), SCMP_SYS(utimensat),
    SCMP_SYS(umask),
    /* memory */
    SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise),
    SCMP_SYS(msync), SCMP_SYS(brk),
    /* itself */
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getppid), SCMP_SYS(getuid), SCMP_SYS(geteuid),
    SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(getrandom), SCMP_SYS(getrusage),
    SCMP_SYS(sysinfo), SCMP_SYS(uname), SCMP_SYS(sched_getaffinity), SCMP_SYS(getcpu),
    SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(exit), SCMP_SYS(exit_group)};

static const unsigned long CONTROLS[] = {FIONBIO, FIONREAD, FIOCLEX};

static int own_files_only(const char *home, struct err *e)
{
	struct landlock own;
	int rc;

	if (landlock_lacks())
		return err_set(e, "this kernel has no Landlock: the manager could open any file"
				  " that its user may");
	if (landlock_open(&own, e))
		return -1;
	rc = landlock_allow(&own, home, LANDLOCK_WRITE, e) ||
	     landlock_allow(&own, "/proc", LANDLOCK_READ, e) ||
	     landlock_allow(&own, "/sys", LANDLOCK_READ, e);
	if (!rc && landlock_enter(own.fd))
		rc = err_sys(e, "landlock");
	close(own.fd);
	return rc ? -1 : 0;
}

static int allowed_calls_only(struct err *e)
{
	struct callfilter f = callfilter_begin(SCMP_ACT_ERRNO(ENOSYS));
	size_t i;

	callfilter_set(&f, SCMP_FLTATR_CTL_TSYNC, 1);
	callfilter_list(&f, SCMP_ACT_ALLOW, ALLOWED, sizeof ALLOWED / sizeof *ALLOWED);
	/* Threads, and nothing else that is new. */
	callfilter_rule(&f, SCMP_ACT_ALLOW, SCMP_SYS(clone),
	    CALLFILTER_IF(SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)));
	for (i = 0; i < sizeof CONTROLS / sizeof *CONTROLS; i++)
		callfilter_rule(&f, SCMP_ACT_ALLOW, SCMP_SYS(ioctl),
		    CALLFILTER_IF(SCMP_A1(SCMP_CMP_EQ, CONTROLS[i])));
	return callfilter_load(&f, e);
}

int confine(const char *home, struct err *e)
{
	struct err why;
	int files;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(e, "no_new_privs");
	files = own_files_only(home, &why);
	if (allowed_calls_only(e))
		return -1;
	return files ? err_set(e, "%s", why.text) : 0;
}
