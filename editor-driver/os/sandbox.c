#include "editor-driver/os/sandbox.h"
#include "common/landlock.h"
#include "common/limit.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/publish.h"
#include "editor-driver/os/sandbox_calls.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static int set_limits(uint64_t file_max, struct err *e)
{
	rlim_t file = file_max && file_max < FILE_MAX ? file_max : FILE_MAX;

	/* A file too large is an error to report. */
	signal(SIGXFSZ, SIG_IGN);
	if (limit_lower(RLIMIT_CORE, 0) || limit_lower(RLIMIT_FSIZE, file) ||
	    limit_lower(RLIMIT_AS, MEMORY_MAX) || limit_lower(RLIMIT_CPU, CPU_MAX_S) ||
	    limit_lower(RLIMIT_NOFILE, OPEN_MAX) || limit_lower(RLIMIT_NPROC, TASKS_MAX))
		return err_sys(e, "limits");
	return 0;
}

/* ---- Landlock ---- */

/* A tool, and the libraries that it brings along, as binutils in a folder of their
 * own do. */
static int allow_tool(struct landlock *l, const char *path, struct err *e)
{
	char *real = path ? realpath(path, NULL) : NULL, *dir, *lib;
	int rc;

	if (!real)
		return 0;
	dir = path_dir(real);
	lib = xasprintf("%s/../lib", dir);
	rc = landlock_allow(l, real, LANDLOCK_RUN, e) || landlock_allow(l, lib, LANDLOCK_READ, e);
	free(lib);
	free(dir);
	free(real);
	return rc;
}

static int allow_each(
    struct landlock *l, const char *const *path, size_t n, uint64_t access, struct err *e)
{
	while (n--)
		if (landlock_allow(l, *path++, access, e))
			return -1;
	return 0;
}

/* Rules, with what this process and its tools have in common. */
static int common_rules(struct landlock *l, const struct sandbox *s, struct err *e)
{
	size_t i;

	if (landlock_open(l, e) ||
	    allow_each(l, SYSTEM, sizeof SYSTEM / sizeof *SYSTEM, LANDLOCK_READ, e) ||
	    landlock_allow(l, "/dev/null", LANDLOCK_READ_WRITE, e))
		return -1;
	for (i = 0; i < s->ntool; i++)
		if (allow_tool(l, s->tool[i], e))
			return -1;
	return s->ntool ? landlock_allow(l, LOADER, LANDLOCK_RUN, e) : 0;
}

static int restrict_files(const struct sandbox *s, struct err *e)
{
	struct landlock own = {.fd = -1}, tools = {.fd = -1};
	int rc;

	rc = common_rules(&own, s, e) || landlock_allow(&own, OWN, LANDLOCK_READ, e) ||
	     allow_each(&own, s->readable, s->nreadable, LANDLOCK_READ, e) ||
	     allow_each(&own, s->writable, s->nwritable, LANDLOCK_WRITE, e) ||
	     landlock_allow(&own, s->scratch, LANDLOCK_REMOVE_DIR, e) ||
	     common_rules(&tools, s, e) || landlock_allow(&tools, s->work, LANDLOCK_WRITE, e);
	if (!rc && landlock_enter(own.fd))
		rc = err_sys(e, "landlock");
	if (own.fd >= 0)
		close(own.fd);
	narrow.rules = tools.fd;
	return rc ? -1 : 0;
}

static int enter_landlock(const struct sandbox *s, struct err *e)
{
	const char *lacks = landlock_lacks();

	if (!lacks)
		return restrict_files(s, e);
	if (s->needed)
		return err_set(e,
		    "Linux has no Landlock here (%s): it takes 5.19 or later with "
		    "landlock among its security modules",
		    lacks);
	log_warn("no Landlock here (%s): as and ld can read and write all that you can", lacks);
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
	    (narrow.rules >= 0 && landlock_enter(narrow.rules)) ||
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
