#include "editor-driver/os/sandbox.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/publish.h"
#include "editor-driver/os/sandbox_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* include/uapi/linux/landlock.h of Linux 6.12; Debian 12 has that of 6.1. */
struct ruleset_attr {
	uint64_t fs, net, scoped;
};
#define ACCESS_FS_TRUNCATE (1ULL << 14)
#define ACCESS_FS_IOCTL_DEV (1ULL << 15)
#define ACCESS_NET_TCP 3ULL /* bind, connect */
#define SCOPE_ALL 3ULL      /* abstract sockets, signals */
/* Before ABI 2 no file may be linked or renamed from one folder to another. */
enum { ABI_REFER = 2, ABI_TRUNCATE = 3, ABI_NET = 4, ABI_IOCTL = 5, ABI_SCOPE = 6 };

static const uint64_t ALL_FS = (LANDLOCK_ACCESS_FS_REFER << 1) - 1;
static const uint64_t READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t WRITE =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_WRITE_FILE |
    LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REFER | ACCESS_FS_TRUNCATE;
static const uint64_t RUN = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
/* What a rule for something else than a folder may name. */
static const uint64_t OF_FILES = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
				 LANDLOCK_ACCESS_FS_READ_FILE | ACCESS_FS_TRUNCATE;

/* What programs read before they begin; of psABI, the linker that begins them. */
static const char *const SYSTEM[] = {
    "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.preload"};
static const char LOADER[] = "/lib64/ld-linux-x86-64.so.2";

/* Sanitizers reserve terabytes and read their own mappings. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const rlim_t MEMORY_MAX = RLIM_INFINITY;
static const char *const OWN = "/proc/self";
#else
static const rlim_t MEMORY_MAX = (rlim_t)64 << 30; /* bytes of address space */
static const char *const OWN = "/proc/self/exe";
#endif
static const rlim_t FILE_MAX = (rlim_t)16 << 30;
/* Tasks of this user in all: high, for what else the user runs counts as well. */
enum { TASKS_MAX = 4096, OPEN_MAX = 4096, CPU_MAX_S = 3600 };

/* For the tools; < 0: no Landlock. */
static struct {
	bool entered;
	int rules;
} narrow = {false, -1};

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

static int set_limits(uint64_t file_max, struct err *e)
{
	rlim_t file = file_max && file_max < FILE_MAX ? file_max : FILE_MAX;

	/* A file too large is an error to report. */
	signal(SIGXFSZ, SIG_IGN);
	return limit(RLIMIT_CORE, 0, e) || limit(RLIMIT_FSIZE, file, e) ||
		       limit(RLIMIT_AS, MEMORY_MAX, e) || limit(RLIMIT_CPU, CPU_MAX_S, e) ||
		       limit(RLIMIT_NOFILE, OPEN_MAX, e) || limit(RLIMIT_NPROC, TASKS_MAX, e)
		   ? -1
		   : 0;
}

/* ---- Landlock ---- */

struct rules {
	int fd;
	uint64_t handled;
	bool failed;
	struct err *e;
};

/* Allows that at path and below. Absent is fine; NULL as well. */
static void allow(struct rules *r, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr below = {.allowed_access = access & r->handled};
	struct stat st;

	if (!path || r->failed)
		return;
	below.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (below.parent_fd < 0) {
		r->failed = errno != ENOENT && errno != ENOTDIR;
	} else {
		r->failed = fstat(below.parent_fd, &st) != 0;
		if (!r->failed && !S_ISDIR(st.st_mode))
			below.allowed_access &= OF_FILES;
		r->failed = r->failed || syscall(SYS_landlock_add_rule, r->fd,
					     LANDLOCK_RULE_PATH_BENEATH, &below, 0);
		close(below.parent_fd);
	}
	if (r->failed)
		err_sys(r->e, "%s: landlock", path);
}

/* A tool, and the libraries that it brings along, as binutils in a folder of their
 * own do. */
static void allow_tool(struct rules *r, const char *path)
{
	char *real = path ? realpath(path, NULL) : NULL, *dir, *lib;

	if (!real)
		return;
	dir = path_dir(real);
	lib = xasprintf("%s/../lib", dir);
	allow(r, real, RUN);
	allow(r, lib, READ);
	free(lib);
	free(dir);
	free(real);
}

static int rules_open(struct rules *r, long abi, struct err *e)
{
	struct ruleset_attr attr = {.fs = ALL_FS};

	if (abi >= ABI_TRUNCATE)
		attr.fs |= ACCESS_FS_TRUNCATE;
	if (abi >= ABI_IOCTL)
		attr.fs |= ACCESS_FS_IOCTL_DEV;
	if (abi >= ABI_NET)
		attr.net = ACCESS_NET_TCP;
	if (abi >= ABI_SCOPE)
		attr.scoped = SCOPE_ALL;
	*r = (struct rules){.handled = attr.fs, .e = e};
	r->fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
	return r->fd < 0 ? err_sys(e, "landlock") : 0;
}

/* What this process and its tools have in common. */
static void allow_common(struct rules *r, const struct sandbox *s)
{
	size_t i;

	for (i = 0; i < sizeof SYSTEM / sizeof *SYSTEM; i++)
		allow(r, SYSTEM[i], READ);
	allow(r, "/dev/null", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
	for (i = 0; i < s->ntool; i++)
		allow_tool(r, s->tool[i]);
	if (s->ntool)
		allow(r, LOADER, RUN);
}

static void allow_own(struct rules *r, const struct sandbox *s)
{
	size_t i;

	allow_common(r, s);
	allow(r, OWN, READ);
	for (i = 0; i < s->nreadable; i++)
		allow(r, s->readable[i], READ);
	for (i = 0; i < s->nwritable; i++)
		allow(r, s->writable[i], WRITE);
	allow(r, s->scratch, LANDLOCK_ACCESS_FS_REMOVE_DIR);
}

static int restrict_files(const struct sandbox *s, long abi, struct err *e)
{
	struct rules own, tools = {.fd = -1};
	int rc;

	if (rules_open(&own, abi, e))
		return -1;
	allow_own(&own, s);
	rc = own.failed ? -1 : rules_open(&tools, abi, e);
	if (!rc) {
		allow_common(&tools, s);
		allow(&tools, s->work, WRITE);
		rc = tools.failed ? -1 : 0;
	}
	if (!rc && syscall(SYS_landlock_restrict_self, own.fd, 0))
		rc = err_sys(e, "landlock");
	close(own.fd);
	narrow.rules = tools.fd;
	return rc;
}

static int enter_landlock(const struct sandbox *s, struct err *e)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	if (abi >= ABI_REFER)
		return restrict_files(s, abi, e);
	if (s->needed)
		return err_set(e,
		    "Linux has no Landlock here (%s): it takes 5.19 or later with "
		    "landlock among its security modules",
		    abi < 0 ? strerror(errno) : "too old");
	log_warn("no Landlock here (%s): as and ld can read and write all that you can",
	    abi < 0 ? strerror(errno) : "too old");
	return 0;
}

int sandbox_enter(const struct sandbox *s, struct err *e)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(e, "no_new_privs");
	if (set_limits(s->file_max, e) || enter_landlock(s, e) || sandbox_filter(e))
		return err_wrap(e, "sandbox");
	narrow.entered = true;
	return 0;
}

int sandbox_narrow(void)
{
	if (!narrow.entered)
		return 0;
	/* binutils call any short write a full disk. */
	signal(SIGXFSZ, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) ||
	    (narrow.rules >= 0 && syscall(SYS_landlock_restrict_self, narrow.rules, 0)) ||
	    (syscall(SYS_close_range, 3, ~0U, 0) && errno != ENOSYS))
		return -1;
	return sandbox_filter_tool();
}

int sandbox_may_edit(const char *artifact, struct err *e)
{
	struct stat st;

	if (stat(artifact, &st))
		return err_sys(e, "%s", artifact);
	if (!S_ISREG(st.st_mode))
		return err_set(e, "%s: not a regular file", artifact);
	if (!geteuid() && (st.st_uid || st.st_mode & 022))
		return err_set(e,
		    "%s: root edits only what root alone may write; run morph-edit "
		    "as the artifact's owner",
		    artifact);
	return 0;
}
