#include "common/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <string.h>
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
#define ACCESS_NET_CONNECT 2ULL
enum { RULE_NET_PORT = 2 };
struct net_port_attr {
	uint64_t allowed, port;
};
#define SCOPE_ALL 3ULL /* abstract sockets, signals */
/* Before ABI 2 no file may be linked or renamed from one folder to another. */
enum { ABI_REFER = 2, ABI_TRUNCATE = 3, ABI_NET = 4, ABI_IOCTL = 5, ABI_SCOPE = 6 };

const uint64_t LANDLOCK_READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
const uint64_t LANDLOCK_WRITE =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_WRITE_FILE |
    LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REFER | ACCESS_FS_TRUNCATE;
const uint64_t LANDLOCK_RUN = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
const uint64_t LANDLOCK_READ_WRITE = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
const uint64_t LANDLOCK_REMOVE_DIR = LANDLOCK_ACCESS_FS_REMOVE_DIR;
static const uint64_t ALL = (LANDLOCK_ACCESS_FS_REFER << 1) - 1;
/* What a rule for something else than a folder may name. */
static const uint64_t OF_FILES = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
				 LANDLOCK_ACCESS_FS_READ_FILE | ACCESS_FS_TRUNCATE;

static long abi_here(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

const char *landlock_lacks(void)
{
	long abi = abi_here();

	return abi >= ABI_REFER ? NULL : abi < 0 ? strerror(errno) : "too old";
}

int landlock_open(struct landlock *l, struct err *e)
{
	long abi = abi_here();
	struct ruleset_attr attr = {.fs = ALL | (abi >= ABI_TRUNCATE ? ACCESS_FS_TRUNCATE : 0) |
					  (abi >= ABI_IOCTL ? ACCESS_FS_IOCTL_DEV : 0),
	    .net = abi >= ABI_NET ? ACCESS_NET_TCP : 0,
	    .scoped = abi >= ABI_SCOPE ? SCOPE_ALL : 0};

	l->handled = attr.fs;
	l->fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
	return l->fd < 0 ? err_sys(e, "landlock") : 0;
}

int landlock_allow(struct landlock *l, const char *path, uint64_t access, struct err *e)
{
	struct landlock_path_beneath_attr below = {.allowed_access = access & l->handled};
	struct stat st;
	int rc;

	if (!path)
		return 0;
	below.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (below.parent_fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : err_sys(e, "%s: landlock", path);
	rc = fstat(below.parent_fd, &st);
	if (!rc && !S_ISDIR(st.st_mode))
		below.allowed_access &= OF_FILES;
	if (rc || syscall(SYS_landlock_add_rule, l->fd, LANDLOCK_RULE_PATH_BENEATH, &below, 0))
		rc = err_sys(e, "%s: landlock", path);
	close(below.parent_fd);
	return rc;
}

int landlock_allow_connect(struct landlock *l, unsigned port, struct err *e)
{
	struct net_port_attr rule = {ACCESS_NET_CONNECT, port};

	if (abi_here() >= ABI_NET &&
	    syscall(SYS_landlock_add_rule, l->fd, (enum landlock_rule_type)RULE_NET_PORT, &rule, 0))
		return err_sys(e, "landlock, port %u", port);
	return 0;
}

int landlock_enter(int fd)
{
	return (int)syscall(SYS_landlock_restrict_self, fd, 0);
}
