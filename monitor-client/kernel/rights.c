#include "monitor-client/kernel/rights.h"
#include "common/callfilter.h"
#include "common/log.h"
#include "common/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON
enum { CAP_PERFMON = 38 };
#endif
#ifndef CAP_CHECKPOINT_RESTORE
enum { CAP_CHECKPOINT_RESTORE = 40 };
#endif

enum { PARSER_MEMORY = 256 << 20 }; /* bytes of address space */

/* Memory, time and the end; what the allocator and the sanitizers do. */
static const int ANY[] = {SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(close), SCMP_SYS(lseek),
    SCMP_SYS(fstat), SCMP_SYS(newfstatat), /* the C library's fstat() */
    SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(futex),
    SCMP_SYS(sigaltstack), SCMP_SYS(sched_yield), SCMP_SYS(getpid), SCMP_SYS(gettid),
    SCMP_SYS(getrandom), SCMP_SYS(clock_gettime), SCMP_SYS(exit), SCMP_SYS(exit_group),
    SCMP_SYS(restart_syscall), SCMP_SYS(sysinfo)};

/* Writing to any descriptor, messages, waiting, signals: not for the parser. */
static const int TRUSTED[] = {SCMP_SYS(write), SCMP_SYS(sendto), SCMP_SYS(sendmsg),
    SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(wait4),
    SCMP_SYS(fcntl), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(readlink), SCMP_SYS(readlinkat)};

/* Fork, and bound the child's time; become the parser. */
static const int READER[] = {SCMP_SYS(pipe2), SCMP_SYS(dup2), SCMP_SYS(close_range),
    SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(prctl), SCMP_SYS(seccomp), SCMP_SYS(capget),
    SCMP_SYS(capset), SCMP_SYS(prlimit64), SCMP_SYS(setrlimit)};

/* The rings, the uplink, the spool, the command. */
static const int MAIN[] = {SCMP_SYS(perf_event_open), SCMP_SYS(connect), SCMP_SYS(shutdown),
    SCMP_SYS(getsockopt), SCMP_SYS(setsockopt), SCMP_SYS(openat), SCMP_SYS(open), SCMP_SYS(stat),
    SCMP_SYS(lstat), SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
    SCMP_SYS(getdents64), SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(unlink), SCMP_SYS(unlinkat),
    SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(rmdir), SCMP_SYS(fsync),
    SCMP_SYS(fdatasync), SCMP_SYS(ftruncate), SCMP_SYS(writev), SCMP_SYS(readv), SCMP_SYS(kill),
    SCMP_SYS(tgkill), SCMP_SYS(waitid), SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep),
    SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getuid),
    SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(umask), SCMP_SYS(uname),
    SCMP_SYS(sched_getaffinity), SCMP_SYS(getcwd), SCMP_SYS(dup)};

/* ---- system calls ---- */

#define LIST(f, list) callfilter_list(f, SCMP_ACT_ALLOW, list, sizeof list / sizeof *list)
#define RULE(f, call, ...) \
	callfilter_rule(f, SCMP_ACT_ALLOW, SCMP_SYS(call), CALLFILTER_IF(__VA_ARGS__))

static void add_reader(struct callfilter *f)
{
	static const uint64_t writing = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;
	static const uint64_t other = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
				      CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_VM;

	LIST(f, TRUSTED);
	LIST(f, READER);
	RULE(f, openat, CALLFILTER_WITHOUT(2, writing));
	RULE(f, clone, CALLFILTER_WITHOUT(0, other));
	/* the one of /proc/PID/maps, and an inode's generation: type and number */
	RULE(f, ioctl, SCMP_CMP(1, SCMP_CMP_MASKED_EQ, 0xffff, 'f' << 8 | 17));
	RULE(f, ioctl, SCMP_CMP(1, SCMP_CMP_MASKED_EQ, 0xffff, 'v' << 8 | 1));
	RULE(f, kill, SCMP_CMP(1, SCMP_CMP_EQ, SIGKILL));
}

static void add_main(struct callfilter *f)
{
	LIST(f, TRUSTED);
	LIST(f, MAIN);
	RULE(f, socket, SCMP_CMP(0, SCMP_CMP_EQ, AF_UNIX));
	/* of perf events: type '$'; and of maps */
	RULE(f, ioctl, SCMP_CMP(1, SCMP_CMP_MASKED_EQ, 0xff00, '$' << 8));
}

static void add_parser(struct callfilter *f)
{
	RULE(f, write, SCMP_CMP(0, SCMP_CMP_EQ, STDOUT_FILENO));
}

/* Allows what is common to all and what the caller adds. */
static int filter(void (*further)(struct callfilter *), struct err *e)
{
	struct callfilter f = callfilter_begin(SCMP_ACT_ERRNO(EPERM));

	LIST(&f, ANY);
	RULE(&f, mmap, CALLFILTER_WITHOUT(2, PROT_EXEC));
	RULE(&f, mprotect, CALLFILTER_WITHOUT(2, PROT_EXEC));
	further(&f);
	/* The C library then takes clone(), whose flags can be seen. */
	callfilter_rule(&f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), NULL, 0);
	return callfilter_load(&f, e);
}

/* ---- capabilities ---- */

static bool listed(cap_value_t v, const cap_value_t *keep, int n)
{
	while (n--)
		if (keep[n] == v)
			return true;
	return false;
}

/* Of what the process has it keeps those; nothing comes back. */
static int keep_only(const cap_value_t *keep, int n, struct err *e)
{
	cap_t have = cap_get_proc(), want = cap_init();
	cap_flag_value_t on;
	int i, rc = have && want ? 0 : -1;

	for (i = 0; !rc && i < n; i++)
		if (!cap_get_flag(have, keep[i], CAP_PERMITTED, &on) && on)
			rc = cap_set_flag(want, CAP_PERMITTED, 1, &keep[i], CAP_SET) |
			     cap_set_flag(want, CAP_EFFECTIVE, 1, &keep[i], CAP_SET);
	/* Fails without CAP_SETPCAP. */
	for (i = 0; !rc && cap_get_bound(i) >= 0; i++)
		if (!listed(i, keep, n))
			cap_drop_bound(i);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (rc || cap_set_proc(want))
		rc = err_sys(e, "dropping capabilities");
	cap_free(have);
	cap_free(want);
	return rc;
}

static int become(const struct rights_user *u, struct err *e)
{
	if (!u->change)
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) ||
	    setresgid(u->gid, u->gid, u->gid) || setresuid(u->uid, u->uid, u->uid))
		return err_sys(e, "becoming user %u", (unsigned)u->uid);
	return 0;
}

/* ---- all together ---- */

struct rights_user rights_user(bool whole_machine, const char *socket)
{
	struct rights_user u = {0};
	char *folder = path_dir(socket);
	struct stat st = {0};
	struct passwd *p;

	stat(folder, &st);
	free(folder);
	if (!whole_machine || geteuid())
		return u;
	p = getpwnam("morph");
	if (st.st_uid && (!p || p->pw_uid != st.st_uid))
		return (struct rights_user){st.st_uid, st.st_gid, true};
	p = getpwnam("morph-monitor");
	if (p && p->pw_uid)
		u = (struct rights_user){p->pw_uid, p->pw_gid, true};
	else
		log_warn("there is no user morph-monitor: running as root, without its "
			 "capabilities (systemd-sysusers makes the user)");
	return u;
}

static int drop(const struct rights_user *u, const cap_value_t *keep, int n,
    void (*further)(struct callfilter *), struct err *e)
{
	if (become(u, e) || keep_only(keep, n, e))
		return -1;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(e, "prctl");
	return filter(further, e);
}

int rights_main(const struct rights_user *u, struct err *e)
{
	static const cap_value_t keep[] = {CAP_PERFMON};

	return drop(u, keep, 1, add_main, e);
}

int rights_reader(const struct rights_user *u, struct err *e)
{
	static const cap_value_t keep[] = {
	    CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH};

	return drop(u, keep, 3, add_reader, e);
}

int rights_parser(int file, int answer, struct err *e)
{
	static const struct rights_user same = {0};
#if !defined __SANITIZE_ADDRESS__
	static const struct rlimit memory = {PARSER_MEMORY, PARSER_MEMORY};

	if (setrlimit(RLIMIT_AS, &memory))
		return err_sys(e, "setrlimit");
#endif
	if (dup2(file, STDIN_FILENO) < 0 || dup2(answer, STDOUT_FILENO) < 0 ||
	    close_range(STDERR_FILENO, ~0u, 0))
		return err_sys(e, "descriptors of the parser");
	return drop(&same, NULL, 0, add_parser, e);
}
