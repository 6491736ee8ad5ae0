#include "common/callfilter.h"
#include "common/landlock.h"
#include "common/limit.h"
#include "morphctl/report/confined/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Sanitizers reserve terabytes, and report. */
#ifdef __SANITIZE_ADDRESS__
static const rlim_t MEMORY = RLIM_INFINITY;
enum { LAST_WRITABLE = STDERR_FILENO };
#else
static const rlim_t MEMORY = (rlim_t)2 << 30; /* bytes of address space, beyond the parent's */
enum { LAST_WRITABLE = CONFINED_ANSWER };
#endif
enum { OPEN_MAX_FILES = 64 };

/* What reading takes, whatever the arguments. sysinfo is qsort's, which asks how much memory
 * there is; the last line is the sanitizers'. */
static const int ALLOWED[] = {SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(fstat),
    SCMP_SYS(newfstatat), SCMP_SYS(close), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(brk),
    SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(getrandom), SCMP_SYS(clock_gettime),
    SCMP_SYS(sysinfo), SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall), SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    /* … */
    SCMP_SYS(sigaltstack), SCMP_SYS(sched_yield), SCMP_SYS(getpid), SCMP_SYS(gettid)};

#define RULE(f, call, ...) \
	callfilter_rule(f, SCMP_ACT_ALLOW, SCMP_SYS(call), CALLFILTER_IF(__VA_ARGS__))

static int filter(struct err *e)
{
	static const uint64_t writing = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;
	struct callfilter f = callfilter_begin(SCMP_ACT_ERRNO(EPERM));
	int fd;

	callfilter_list(&f, SCMP_ACT_ALLOW, ALLOWED, sizeof ALLOWED / sizeof *ALLOWED);
	for (fd = CONFINED_ANSWER; fd <= LAST_WRITABLE; fd++)
		RULE(&f, write, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)fd));
	RULE(&f, openat, CALLFILTER_WITHOUT(2, writing));
	RULE(&f, fcntl, SCMP_A1(SCMP_CMP_EQ, F_GETFD));
	RULE(&f, mmap, CALLFILTER_WITHOUT(2, PROT_EXEC));
	RULE(&f, mprotect, CALLFILTER_WITHOUT(2, PROT_EXEC));
	return callfilter_load(&f, e);
}

/* Made while all paths can be walked. fd < 0: no Landlock here. */
static int rules(struct landlock *l, const char *folder, struct err *e)
{
	l->fd = -1;
	if (landlock_lacks())
		return 0;
	return landlock_open(l, e) || landlock_allow(l, folder, LANDLOCK_READ, e) ? -1 : 0;
}

int confined_become(uid_t uid, gid_t gid, struct err *e)
{
	if (geteuid())
		return 0;
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return err_sys(e, "becoming user %u", (unsigned)uid);
	return 0;
}

/* Bytes of address space that this process has from its parent. */
static rlim_t inherited(void)
{
	char text[32] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof text - 1);

	close(fd);
	return n > 0 ? strtoul(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) : 0;
}

static int limit(unsigned cpu_s, struct err *e)
{
	rlim_t memory = MEMORY == RLIM_INFINITY ? MEMORY : MEMORY + inherited();

	if (limit_lower(RLIMIT_CORE, 0) || limit_lower(RLIMIT_NPROC, 0) ||
	    limit_lower(RLIMIT_FSIZE, 0) || limit_lower(RLIMIT_NOFILE, OPEN_MAX_FILES) ||
	    limit_lower(RLIMIT_CPU, cpu_s) || limit_lower(RLIMIT_AS, memory))
		return err_sys(e, "limits");
	return 0;
}

int confined_enter(uid_t uid, gid_t gid, const char *folder, unsigned cpu_s, struct err *e)
{
	struct landlock own;

	if (rules(&own, folder, e) || confined_become(uid, gid, e) || limit(cpu_s, e))
		return -1;
	/* After the change of users, which takes the first back; nobody looks into it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(e, "prctl");
	if (own.fd >= 0 && landlock_enter(own.fd))
		return err_sys(e, "landlock");
	if (own.fd >= 0)
		close(own.fd);
	return filter(e);
}
