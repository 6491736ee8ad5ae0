#include "editor-driver/os/sandbox_calls.h"
#include "common/callfilter.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Seen of morph-edit, and of as, ar and ld.bfd of binutils 2.40 with glibc
 * 2.36, or what another C library would use in place of that. */
static const int ALLOWED[] = {
    /* files and folders: Landlock says which */
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64),
    SCMP_SYS(pwrite64), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(close_range), SCMP_SYS(dup),
    SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(poll),
    SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(stat), SCMP_SYS(lstat),
    SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(statfs), SCMP_SYS(fstatfs),
    SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(chdir), SCMP_SYS(getdents),
    SCMP_SYS(getdents64), SCMP_SYS(rmdir), SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(rename),
    SCMP_SYS(renameat), SCMP_SYS(link), SCMP_SYS(linkat), SCMP_SYS(ftruncate), SCMP_SYS(fallocate),
    SCMP_SYS(fsync), SCMP_SYS(fdatasync), SCMP_SYS(flock), SCMP_SYS(umask), SCMP_SYS(fadvise64),
    /* memory */
    SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    /* threads, and the begin and end of programs */
    SCMP_SYS(futex), SCMP_SYS(set_tid_address), SCMP_SYS(set_robust_list), SCMP_SYS(rseq),
    SCMP_SYS(arch_prctl), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(getcpu),
    SCMP_SYS(vfork), SCMP_SYS(execve), SCMP_SYS(wait4), SCMP_SYS(waitid), SCMP_SYS(pidfd_open),
    SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(seccomp), SCMP_SYS(landlock_restrict_self),
    /* signals that come */
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigpending), SCMP_SYS(rt_sigsuspend), SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall),
    /* who, when, how much */
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getppid), SCMP_SYS(getpgrp), SCMP_SYS(getuid),
    SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(getresuid),
    SCMP_SYS(getresgid), SCMP_SYS(getrandom), SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(time),
    SCMP_SYS(times), SCMP_SYS(getrusage), SCMP_SYS(getrlimit), SCMP_SYS(sysinfo), SCMP_SYS(uname)};

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Leak checkers trace; check(3) asks which clock has timers. */
static const int OF_TESTS[] = {SCMP_SYS(ptrace), SCMP_SYS(timer_create), SCMP_SYS(timer_delete)};

/* Calls that no tool makes by mistake. */
static const int FATAL[] = {
#if !SANITIZED
    SCMP_SYS(ptrace),
#endif
    SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(pidfd_getfd), SCMP_SYS(kcmp),
    SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register), SCMP_SYS(keyctl), SCMP_SYS(add_key),
    SCMP_SYS(request_key), SCMP_SYS(open_by_handle_at), SCMP_SYS(mount), SCMP_SYS(umount2),
    SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(mount_setattr), SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
    SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(init_module), SCMP_SYS(finit_module),
    SCMP_SYS(delete_module), SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(reboot),
    SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime),
    SCMP_SYS(acct), SCMP_SYS(quotactl), SCMP_SYS(iopl), SCMP_SYS(ioperm), SCMP_SYS(modify_ldt)};

/* Namespaces; a child of our parent; tracing. CLONE_NEWTIME is no flag of clone. */
static const uint64_t CLONE_FORBIDDEN = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
					CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
					CLONE_PARENT | CLONE_PTRACE;
static const uint64_t SET_ID_BITS = 07000; /* of a file's mode; the sticky bit too */
/* O_TMPFILE without the O_DIRECTORY in it: with either, open has a mode. */
static const uint64_t MAKES_FILE = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);

/* Of calls that do many things, those that are allowed: by argument at. */
static const struct {
	int call;
	unsigned at;
	uint64_t value;
} ONE_OF[] = {{SCMP_SYS(fcntl), 1, F_DUPFD}, {SCMP_SYS(fcntl), 1, F_DUPFD_CLOEXEC},
    {SCMP_SYS(fcntl), 1, F_GETFD}, {SCMP_SYS(fcntl), 1, F_SETFD}, {SCMP_SYS(fcntl), 1, F_GETFL},
    {SCMP_SYS(fcntl), 1, F_SETFL}, {SCMP_SYS(fcntl), 1, F_GETLK}, {SCMP_SYS(fcntl), 1, F_SETLK},
    {SCMP_SYS(fcntl), 1, F_SETLKW}, {SCMP_SYS(ioctl), 1, TCGETS}, {SCMP_SYS(ioctl), 1, FIONREAD},
    {SCMP_SYS(prctl), 0, PR_SET_NAME}, {SCMP_SYS(prctl), 0, PR_GET_NAME},
    {SCMP_SYS(prctl), 0, PR_SET_PDEATHSIG}, {SCMP_SYS(prctl), 0, PR_GET_DUMPABLE},
    {SCMP_SYS(prctl), 0, PR_SET_NO_NEW_PRIVS}, {SCMP_SYS(prctl), 0, PR_GET_NO_NEW_PRIVS}};

/* Of calls that take a mode or flags, what no bit may be of. */
static const struct {
	int call;
	unsigned at;
	const uint64_t *bits;
} NONE_OF[] = {{SCMP_SYS(open), 1, &MAKES_FILE}, {SCMP_SYS(open), 2, &SET_ID_BITS},
    {SCMP_SYS(openat), 2, &MAKES_FILE}, {SCMP_SYS(openat), 3, &SET_ID_BITS},
    {SCMP_SYS(creat), 1, &SET_ID_BITS}, {SCMP_SYS(mkdir), 1, &SET_ID_BITS},
    {SCMP_SYS(mkdirat), 2, &SET_ID_BITS}, {SCMP_SYS(clone), 0, &CLONE_FORBIDDEN}};

/* What a tool has no use for of what we may. */
static const int NOT_FOR_TOOLS[] = {SYS_clone, SYS_clone3, SYS_fork, SYS_vfork, SYS_kill,
    SYS_tgkill, SYS_prctl, SYS_utimensat, SYS_flock, SYS_link, SYS_linkat, SYS_pidfd_open,
    SYS_seccomp, SYS_landlock_restrict_self};

static void add_lists(struct callfilter *f)
{
	callfilter_list(f, SCMP_ACT_ALLOW, ALLOWED, COUNT(ALLOWED));
	callfilter_list(f, SCMP_ACT_KILL_PROCESS, FATAL, COUNT(FATAL));
	callfilter_list(f, SCMP_ACT_ALLOW, OF_TESTS, SANITIZED ? COUNT(OF_TESTS) : 0);
	callfilter_rule(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), NULL, 0);
}

static void add_arguments(struct callfilter *f)
{
	uint64_t self = (uint64_t)getpid();
	size_t i;

	/* abort() signals itself. */
	callfilter_rule(
	    f, SCMP_ACT_ALLOW, SCMP_SYS(kill), CALLFILTER_IF(SCMP_A0(SCMP_CMP_EQ, self)));
	callfilter_rule(
	    f, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), CALLFILTER_IF(SCMP_A0(SCMP_CMP_EQ, self)));
	/* Limits are read: root could raise them. */
	callfilter_rule(f, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64),
	    CALLFILTER_IF(SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0)));
	/* The cache marks an open file as used now: a name or a time is never given. */
	callfilter_rule(f, SCMP_ACT_ALLOW, SCMP_SYS(utimensat),
	    CALLFILTER_IF(SCMP_A1(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0)));
	for (i = 0; i < COUNT(ONE_OF); i++)
		callfilter_rule(f, SCMP_ACT_ALLOW, ONE_OF[i].call,
		    CALLFILTER_IF(SCMP_CMP(ONE_OF[i].at, SCMP_CMP_EQ, ONE_OF[i].value)));
	for (i = 0; i < COUNT(NONE_OF); i++)
		callfilter_rule(f, SCMP_ACT_ALLOW, NONE_OF[i].call,
		    CALLFILTER_IF(CALLFILTER_WITHOUT(NONE_OF[i].at, *NONE_OF[i].bits)));
}

int sandbox_filter(struct err *e)
{
	enum { BINARY_TREE = 2 };
	struct callfilter f = callfilter_begin(SCMP_ACT_ERRNO(EPERM));

	callfilter_set(&f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	callfilter_set(&f, SCMP_FLTATR_CTL_OPTIMIZE, BINARY_TREE);
	add_lists(&f);
	add_arguments(&f);
	return callfilter_load(&f, e);
}

/* The other filter checked the architecture. */
int sandbox_filter_tool(void)
{
	enum { N = COUNT(NOT_FOR_TOOLS) };
	/* mold sets the mode of its output, which nobody but we will read: nothing happens. */
	struct sock_filter code[N + 5] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fchmod, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO)};
	struct sock_fprog program = {N + 5, code};
	uint8_t i;

	for (i = 0; i < N; i++)
		code[3 + i] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)NOT_FOR_TOOLS[i], (uint8_t)(N - i), 0);
	code[N + 3] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[N + 4] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}
