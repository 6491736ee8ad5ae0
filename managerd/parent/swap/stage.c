#include "managerd/parent/swap/stage.h"
#include "common/mem.h"
#include "common/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SPARE = 1 << 20, CHUNK = 1 << 20, XATTR_MAX = 64 * 1024 };

static int copy_range(int from, int to, uint64_t at, uint64_t end, char *chunk, struct err *e)
{
	ssize_t r;

	for (; at < end; at += (uint64_t)r) {
		r = pread(from, chunk, end - at < CHUNK ? (size_t)(end - at) : CHUNK, (off_t)at);
		if (r < 0 && errno == EINTR)
			r = 0;
		else if (r < 0)
			return err_sys(e, "reading the build");
		else if (!r)
			return err_set(e, "the build became shorter while it was copied");
		if (file_write_all(to, chunk, (size_t)r) < 0)
			return err_sys(e, "writing the build");
	}
	return 0;
}

int stage_copy(int from, int to, uint64_t n, void (*half)(void), struct err *e)
{
	uint64_t middle = n / 2 < CHUNK ? n / 2 : n / 2 - n / 2 % CHUNK;
	char *chunk;
	int r;

	/* All the room at once; where that is not supported, writing will tell. */
	r = n ? posix_fallocate(to, 0, (off_t)n) : 0;
	if (r == ENOSPC || r == EDQUOT || r == EFBIG) {
		errno = r;
		return err_sys(e, "writing the build");
	}
	chunk = xmalloc(CHUNK);
	r = copy_range(from, to, 0, middle, chunk, e);
	if (!r) {
		if (half)
			half();
		r = copy_range(from, to, middle, n, chunk, e);
	}
	free(chunk);
	return r;
}

struct xattrs {
	char name[XATTR_MAX];
	size_t n;
};

static int xattr_list(int fd, struct xattrs *x, struct err *e)
{
	ssize_t r = flistxattr(fd, x->name, sizeof x->name);

	if (r < 0 && errno != ENOTSUP)
		return err_sys(e, "listing extended attributes");
	x->n = r > 0 ? (size_t)r : 0;
	return 0;
}

/* A label that may not be set is fine where it is there already. */
static int xattr_copy(int like, int to, const char *name, char *value, char *there, struct err *e)
{
	ssize_t n = fgetxattr(like, name, value, XATTR_MAX);

	if (n < 0)
		return err_sys(e, "reading the attribute %s", name);
	if (fgetxattr(to, name, there, XATTR_MAX) == n && !memcmp(value, there, (size_t)n))
		return 0;
	if (fsetxattr(to, name, value, (size_t)n, 0) < 0)
		return err_sys(e, "carrying over the attribute %s", name);
	return 0;
}

static bool xattr_in(const struct xattrs *x, const char *name)
{
	size_t i;

	for (i = 0; i < x->n; i += strlen(x->name + i) + 1)
		if (!strcmp(x->name + i, name))
			return true;
	return false;
}

/* A folder's default access list is not the old file's. */
static int xattr_remove_foreign(
    const struct xattrs *old, const struct xattrs *now, int to, struct err *e)
{
	const char *name;
	size_t i;

	for (i = 0; i < now->n; i += strlen(name) + 1) {
		name = now->name + i;
		if (!strncmp(name, "system.posix_acl_", 17) && !xattr_in(old, name) &&
		    fremovexattr(to, name) < 0)
			return err_sys(e, "removing the attribute %s", name);
	}
	return 0;
}

static int xattrs_carry(int like, int to, struct err *e)
{
	struct xattrs *old = xmalloc(sizeof *old), *now = xmalloc(sizeof *now);
	char *value = xmalloc(XATTR_MAX), *there = xmalloc(XATTR_MAX);
	size_t i;
	int r;

	r = xattr_list(like, old, e) < 0 || xattr_list(to, now, e) < 0 ? -1 : 0;
	if (!r)
		r = xattr_remove_foreign(old, now, to, e);
	for (i = 0; !r && i < old->n; i += strlen(old->name + i) + 1)
		r = xattr_copy(like, to, old->name + i, value, there, e);
	free(old);
	free(now);
	free(value);
	free(there);
	return r;
}

int stage_attributes(int like, const struct stat *st, int to, struct err *e)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};
	struct stat now;

	if (fstat(to, &now) < 0)
		return err_sys(e, "the new file");
	if ((now.st_uid != st->st_uid || now.st_gid != st->st_gid) &&
	    fchown(to, st->st_uid, st->st_gid) < 0)
		return err_sys(
		    e, "giving it to uid %u, gid %u", (unsigned)st->st_uid, (unsigned)st->st_gid);
	/* Access lists first: they move the mode's group bits. */
	if (xattrs_carry(like, to, e) < 0)
		return -1;
	if (fchmod(to, st->st_mode & 07777) < 0)
		return err_sys(e, "setting its mode");
	if (futimens(to, times) < 0)
		return err_sys(e, "setting its times");
	return 0;
}

int stage_space(int fd, uint64_t n, const char *what, struct err *e)
{
	struct statvfs fs;
	uint64_t room;

	if (fstatvfs(fd, &fs) < 0)
		return err_sys(e, "%s", what);
	if (fs.f_flag & ST_RDONLY)
		return err_set(e, "%s: the file system is read-only", what);
	if (__builtin_mul_overflow((uint64_t)fs.f_bavail, (uint64_t)fs.f_frsize, &room))
		room = UINT64_MAX;
	if (room < SPARE || room - SPARE < n)
		return err_set(e, "%s: no room: %ju bytes are needed and %d to spare, %ju are free",
		    what, (uintmax_t)n, SPARE, (uintmax_t)room);
	if (fs.f_files && fs.f_favail < 4)
		return err_set(e, "%s: no room: the file system has no inodes left", what);
	return 0;
}
