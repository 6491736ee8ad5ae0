#include "managerd/inspect/sandbox.h"
#include "managerd/inspect/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Sanitizers reserve terabytes. */
#ifdef __SANITIZE_ADDRESS__
static const rlim_t MEMORY = RLIM_INFINITY;
#else
static const rlim_t MEMORY = (rlim_t)INSPECT_MEMORY_MB << 20;
#endif

/* Lowers a limit; one that is lower already stays. */
static int lower(int what, rlim_t max)
{
	struct rlimit r;

	if (getrlimit(what, &r))
		return -1;
	if (r.rlim_max > max)
		r.rlim_max = max;
	r.rlim_cur = r.rlim_max;
	return setrlimit(what, &r);
}

static int limit(struct err *e)
{
	if (lower(RLIMIT_CORE, 0) || lower(RLIMIT_NPROC, 0) || lower(RLIMIT_NOFILE, 0) ||
	    lower(RLIMIT_CPU, INSPECT_CPU_S) || lower(RLIMIT_FSIZE, INSPECT_MAX) ||
	    lower(RLIMIT_AS, MEMORY))
		return err_sys(e, "limits");
	return 0;
}

/* What reading takes, whatever the arguments. sysinfo is qsort's, which asks
 * how much memory there is. */
static const int ALLOWED[] = {
    SCMP_SYS(read),
    SCMP_SYS(pread64),
    SCMP_SYS(lseek),
    SCMP_SYS(fstat),
    SCMP_SYS(close),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(brk),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(getrandom),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(sysinfo),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

static int allow_some(scmp_filter_ctx ctx, bool code)
{
	int rc;

	rc = seccomp_rule_add(
	    ctx, SCMP_ACT_ALLOW, SCMP_SYS(pwrite64), 1, SCMP_A0(SCMP_CMP_EQ, INSPECT_ANSWER));
	if (!rc)
		rc = seccomp_rule_add(
		    ctx, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0(SCMP_CMP_EQ, STDERR_FILENO));
	/* glibc's fstat(); libelf asks whether the descriptor is one. */
	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
		    SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH));
	if (!rc)
		rc = seccomp_rule_add(
		    ctx, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, F_GETFD));
	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
		    SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (!rc && code)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
		    SCMP_A2(SCMP_CMP_EQ, PROT_READ | PROT_EXEC),
		    SCMP_A4(SCMP_CMP_EQ, INSPECT_FILE));
	return rc;
}

static int filter(bool code, struct err *e)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int rc = ctx ? allow_some(ctx, code) : -ENOMEM;
	size_t i;

	for (i = 0; i < sizeof ALLOWED / sizeof *ALLOWED && !rc; i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, ALLOWED[i], 0);
	if (!rc)
		rc = seccomp_load(ctx);
	seccomp_release(ctx);
	if (!rc)
		return 0;
	errno = -rc;
	return err_sys(e, "seccomp");
}

int inspect_confine(bool code, struct err *e)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(e, "no_new_privs");
	return limit(e) || filter(code, e) ? -1 : 0;
}
