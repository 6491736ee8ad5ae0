#include "editor-driver/sandbox.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Since Linux 6.2; not in every header. */
#define ACCESS_FS_TRUNCATE (1ULL << 14)
/* Before ABI 2 no file may be linked or renamed from one folder to another. */
enum { ABI_REFER = 2, ABI_TRUNCATE = 3 };

static const uint64_t WRITING = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;
static const uint64_t NEEDED = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_REFER | ACCESS_FS_TRUNCATE;

/* Sanitizers reserve terabytes, and trace the process at its end. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const rlim_t MEMORY_MAX = RLIM_INFINITY;
enum { PTRACE_OK = 1 };
#else
static const rlim_t MEMORY_MAX = (rlim_t)64 << 30; /* bytes of address space */
enum { PTRACE_OK = 0 };
#endif
static const rlim_t FILE_MAX = (rlim_t)16 << 30;   /* bytes of one file */

/* What neither this program nor as, ar or ld has any use for. */
static const int FORBIDDEN[] = {
    SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(io_uring_setup), SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(pidfd_getfd),
    SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(keyctl),
    SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(mount), SCMP_SYS(umount2),
    SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(fsopen), SCMP_SYS(pivot_root),
    SCMP_SYS(chroot), SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(open_by_handle_at),
    SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(reboot), SCMP_SYS(swapon),
    SCMP_SYS(swapoff), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(acct),
    SCMP_SYS(quotactl), SCMP_SYS(mknod), SCMP_SYS(mknodat),
};

static int limit(int what, rlim_t max, struct err *e)
{
	struct rlimit r;

	if (getrlimit(what, &r))
		return err_sys(e, "getrlimit");
	if (r.rlim_max > max)
		r.rlim_max = max;
	if (r.rlim_cur > r.rlim_max)
		r.rlim_cur = r.rlim_max;
	return setrlimit(what, &r) ? err_sys(e, "setrlimit") : 0;
}

static int set_limits(struct err *e)
{
	/* A file too large is an error to report, here and in the tools. */
	signal(SIGXFSZ, SIG_IGN);
	if (limit(RLIMIT_CORE, 0, e) || limit(RLIMIT_FSIZE, FILE_MAX, e) ||
	    limit(RLIMIT_AS, MEMORY_MAX, e))
		return -1;
	return 0;
}

static int allow_below(int rules, const char *path, uint64_t access, struct err *e)
{
	struct landlock_path_beneath_attr below = {.allowed_access = access};
	int rc = 0;

	if (!path)
		return 0;
	below.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (below.parent_fd < 0)
		return err_sys(e, "%s", path);
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0))
		rc = err_sys(e, "%s: landlock", path);
	close(below.parent_fd);
	return rc;
}

static int write_only_below(
    const char *const *writable, size_t n, const char *scratch, struct err *e)
{
	struct landlock_ruleset_attr attr = {.handled_access_fs = WRITING};
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	int rules, rc = 0;
	size_t i;

	if (abi < ABI_REFER) {
		log_debug("no Landlock here (%s): the file system stays as it was",
		    abi < 0 ? strerror(errno) : "too old");
		return 0;
	}
	if (abi >= ABI_TRUNCATE)
		attr.handled_access_fs |= ACCESS_FS_TRUNCATE;
	rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
	if (rules < 0)
		return err_sys(e, "landlock");
	for (i = 0; i < n && !rc; i++)
		rc = allow_below(rules, writable[i], NEEDED & attr.handled_access_fs, e);
	if (!rc)
		rc = allow_below(rules, scratch, LANDLOCK_ACCESS_FS_REMOVE_DIR, e);
	if (!rc)
		rc = allow_below(rules, "/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE, e);
	if (!rc && syscall(SYS_landlock_restrict_self, rules, 0))
		rc = err_sys(e, "landlock");
	close(rules);
	return rc;
}

static int forbid_calls(struct err *e)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	size_t i;
	int rc = ctx ? 0 : -ENOMEM;

	for (i = 0; i < sizeof FORBIDDEN / sizeof *FORBIDDEN && !rc; i++)
		if (FORBIDDEN[i] != SCMP_SYS(ptrace) || !PTRACE_OK)
			rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), FORBIDDEN[i], 0);
	if (!rc)
		rc = seccomp_load(ctx);
	seccomp_release(ctx);
	if (!rc)
		return 0;
	errno = -rc;
	return err_sys(e, "seccomp");
}

int sandbox_enter(const char *const *writable, size_t n, const char *scratch, struct err *e)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(e, "no_new_privs");
	if (set_limits(e) || write_only_below(writable, n, scratch, e) || forbid_calls(e))
		return err_wrap(e, "sandbox");
	return 0;
}

int sandbox_may_edit(const char *artifact, struct err *e)
{
	struct stat st;

	if (stat(artifact, &st))
		return err_sys(e, "%s", artifact);
	if (!S_ISREG(st.st_mode))
		return err_set(e, "%s: not a regular file", artifact);
	if (!geteuid() && (st.st_uid || st.st_mode & 022))
		return err_set(e, "%s: root edits only what root alone may write; run morph-edit "
		    "as the artifact's owner", artifact);
	return 0;
}
