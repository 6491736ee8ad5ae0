#include "managerd/inspect/sandbox.h"
#include "common/callfilter.h"
#include "common/limit.h"
#include "managerd/inspect/inspect.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Sanitizers reserve terabytes. */
#ifdef __SANITIZE_ADDRESS__
static const rlim_t MEMORY = RLIM_INFINITY;
#else
static const rlim_t MEMORY = (rlim_t)INSPECT_MEMORY_MB << 20;
#endif

static int limit(struct err *e)
{
	if (limit_lower(RLIMIT_CORE, 0) || limit_lower(RLIMIT_NPROC, 0) ||
	    limit_lower(RLIMIT_NOFILE, 0) || limit_lower(RLIMIT_CPU, INSPECT_CPU_S) ||
	    limit_lower(RLIMIT_FSIZE, INSPECT_MAX) || limit_lower(RLIMIT_AS, MEMORY))
		return err_sys(e, "limits");
	return 0;
}

/* What reading takes, whatever the arguments. sysinfo is qsort's, which asks
 * how much memory there is. */
static const int ALLOWED[] = {SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(fstat),
    SCMP_SYS(close), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(brk), SCMP_SYS(madvise),
    SCMP_SYS(futex), SCMP_SYS(getrandom), SCMP_SYS(clock_gettime), SCMP_SYS(sysinfo),
    SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group)};

static int filter(struct err *e)
{
	struct callfilter f = callfilter_begin(SCMP_ACT_KILL_PROCESS);

	callfilter_list(&f, SCMP_ACT_ALLOW, ALLOWED, sizeof ALLOWED / sizeof *ALLOWED);
	callfilter_rule(&f, SCMP_ACT_ALLOW, SCMP_SYS(pwrite64),
	    CALLFILTER_IF(SCMP_A0(SCMP_CMP_EQ, INSPECT_ANSWER)));
	callfilter_rule(&f, SCMP_ACT_ALLOW, SCMP_SYS(write),
	    CALLFILTER_IF(SCMP_A0(SCMP_CMP_EQ, STDERR_FILENO)));
	/* glibc's fstat(); libelf asks whether the descriptor is one. */
	callfilter_rule(&f, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat),
	    CALLFILTER_IF(SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH)));
	callfilter_rule(
	    &f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), CALLFILTER_IF(SCMP_A1(SCMP_CMP_EQ, F_GETFD)));
	callfilter_rule(
	    &f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), CALLFILTER_IF(CALLFILTER_WITHOUT(2, PROT_EXEC)));
	return callfilter_load(&f, e);
}

int inspect_confine(struct err *e)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(e, "no_new_privs");
	return limit(e) || filter(e) ? -1 : 0;
}
