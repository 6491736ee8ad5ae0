#include "managerd/parent/trust/trust.h"
#include "common/mem.h"
#include "common/publish.h"
#include "managerd/parent/trust/links.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { OTHERS_WRITE = S_IWGRP | S_IWOTH };

struct walk {
	VEC(struct stat) level; /* of every directory from / down */
	int fd;                 /* the last one, O_PATH */
};

static int walk_step(struct walk *w, const char *name)
{
	int next = openat(w->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	fd_close(&w->fd);
	w->fd = next;
	if (next < 0 || fstat(next, &st) < 0)
		return -1;
	vec_push(&w->level, st);
	return 0;
}

/* No link is followed. */
static int walk_dir(const char *dir, struct walk *w)
{
	char *copy = xstrdup(dir), *save, *part;
	int r;

	*w = (struct walk){.fd = -1};
	r = walk_step(w, "/");
	for (part = strtok_r(copy, "/", &save); part && !r; part = strtok_r(NULL, "/", &save))
		r = walk_step(w, part);
	free(copy);
	return r;
}

static int judge_dir(const struct stat *st, bool last, uid_t owner, const char *dir, struct err *e)
{
	if (st->st_uid != owner && st->st_uid != 0)
		return err_set(e,
		    "%s: %s belongs to uid %u, neither to the owner (uid %u) nor root", dir,
		    last ? "the directory" : "a directory above it", (unsigned)st->st_uid,
		    (unsigned)owner);
	if (st->st_mode & OTHERS_WRITE && (last || !(st->st_mode & S_ISVTX)))
		return err_set(e, "%s: %s is writable by others (mode %04o)", dir,
		    last ? "the directory" : "a directory above it", st->st_mode & 07777u);
	return 0;
}

/* A link of the owner's may lead to any file of root's, and the owner gets what we
 * open: by tracing the process that is handed it. */
static bool readable(const struct walk *w, const struct trusted *t, uid_t owner)
{
	size_t i;

	if (t->st.st_uid == owner)
		return true;
	for (i = 0; i < w->level.n; i++)
		if (w->level.v[i].st_uid != owner && !(w->level.v[i].st_mode & S_IXOTH))
			return false;
	return t->st.st_mode & S_IROTH;
}

static int judge(const struct walk *w, const struct trusted *t, uid_t owner, struct err *e)
{
	char *dir;
	size_t i;
	int r = 0;

	if (owner == (uid_t)-1)
		owner = t->st.st_uid;
	if (t->st.st_uid != owner && t->st.st_uid != 0)
		return err_set(e, "%s: belongs to uid %u, neither to uid %u nor root", t->path,
		    (unsigned)t->st.st_uid, (unsigned)owner);
	if (t->st.st_mode & OTHERS_WRITE)
		return err_set(
		    e, "%s: is writable by others (mode %04o)", t->path, t->st.st_mode & 07777u);
	if (!readable(w, t, owner))
		return err_set(e, "%s: is root's, and may not be read by all", t->path);
	dir = path_dir(t->path);
	for (i = w->level.n; i-- && !r;)
		r = judge_dir(&w->level.v[i], i + 1 == w->level.n, owner, dir, e);
	free(dir);
	return r;
}

/* By O_PATH first: opening a device or a pipe can act, and a lease would keep
 * us waiting. */
static int open_regular(struct trusted *t, struct err *e)
{
	int at = openat(t->dir, t->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char path[32];
	struct stat st;
	int r = 0;

	if (at < 0)
		return err_sys(e, "%s", t->path);
	snprintf(path, sizeof path, "/proc/self/fd/%d", at);
	if (fstat(at, &st) < 0)
		r = err_sys(e, "%s", t->path);
	else if (S_ISLNK(st.st_mode))
		r = err_set(e, "%s: is a symbolic link", t->path);
	else if (!S_ISREG(st.st_mode))
		r = err_set(e, "%s: is not a regular file", t->path);
	else if (!st.st_size)
		/* Those of /proc too, which show what the opener may see. */
		r = err_set(e, "%s: is empty", t->path);
	else if ((t->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) < 0)
		r = err_sys(e, "%s", t->path);
	else if (fstat(t->fd, &t->st) < 0)
		r = err_sys(e, "%s", t->path);
	close(at);
	return r;
}

int trust_folder(const char *path)
{
	char *dir = path_dir(path);
	struct walk w;
	int r = walk_dir(dir, &w), why = errno;

	vec_free(&w.level);
	free(dir);
	if (r && w.fd >= 0)
		close(w.fd);
	errno = why;
	return r ? -1 : w.fd;
}

int trust_stat(const char *path, struct stat *st)
{
	int dir = trust_folder(path), r, why;

	if (dir < 0)
		return -1;
	r = fstatat(dir, path_base(path), st, AT_SYMLINK_NOFOLLOW);
	why = errno;
	close(dir);
	errno = why;
	return r;
}

static int open_folder(struct trusted *t, struct walk *w, struct err *e)
{
	char *dir = path_dir(t->path);
	int r = walk_dir(dir, w);

	if (r && errno == ENOTDIR)
		err_set(e, "%s: its folder %s is a symbolic link, or no folder", t->path, dir);
	else if (r)
		err_sys(e, "%s", dir);
	t->dir = w->fd;
	free(dir);
	return r;
}

int trust_open(const char *path, uid_t owner, struct trusted *t, struct err *e)
{
	struct walk w = {.fd = -1};
	struct stat st;
	int r;

	*t = (struct trusted){.dir = -1, .fd = -1};
	if (!path_is_plain(path))
		return err_set(e, "%s: is not the plain absolute path of a file", path);
	t->path = xstrdup(path);
	t->name = strrchr(t->path, '/') + 1;
	r = open_folder(t, &w, e);
	if (!r)
		r = open_regular(t, e);
	if (!r)
		r = judge(&w, t, owner, e);
	st = t->st;
	if (r) {
		trust_close(t);
		t->st = st;
	}
	vec_free(&w.level);
	return r;
}

/* Where the link at path leads to, to free; NULL = it is no link. */
static char *link_target(const char *path)
{
	int dir = trust_folder(path);
	char target[PATH_MAX];
	ssize_t n = -1;

	if (dir >= 0) {
		n = readlinkat(dir, path_base(path), target, sizeof target - 1);
		close(dir);
	}
	if (n <= 0)
		return NULL;
	target[n] = '\0';
	return xstrdup(target);
}

int trust_open_link(const char *path, uid_t owner, struct trusted *t, struct err *e)
{
	char *target = path_is_plain(path) ? link_target(path) : NULL;
	int r = trust_open(target ? target : path, owner, t, e);

	if (r && target)
		err_wrap(e, "%s", path);
	free(target);
	return r;
}

void trust_close(struct trusted *t)
{
	fd_close(&t->dir);
	fd_close(&t->fd);
	free(t->path);
	*t = (struct trusted){.dir = -1, .fd = -1};
}

/* ---- what must not be replaced ---- */

/* Can a file that we make be given this group? */
static bool may_give_group(gid_t gid)
{
	gid_t group[NGROUPS_MAX];
	int n = getgroups(NGROUPS_MAX, group);

	if (geteuid() == 0 || gid == getegid())
		return true;
	while (n > 0)
		if (group[--n] == gid)
			return true;
	return false;
}

/* Its other names will go on to be the build before: those beside it, and in perf's cache, where
 * they are meant to. */
static int refuse_links(const struct trusted *t, bool perf_links, struct err *e)
{
	uintmax_t names = t->st.st_nlink, beside, perf;

	if (names == 1 || names == (beside = links_beside(t)))
		return 0;
	perf = links_of_perf(t);
	if (!perf || beside + perf != names)
		return err_set(
		    e, "%s: has %ju names (hard links), not all in its folder", t->path, names);
	if (perf_links)
		return 0;
	return err_set(e,
	    "%s: has %ju names (hard links), %ju of them in perf's cache, ~/.debug: remove %s "
	    "there "
	    "(perf buildid-cache --purge %s), or say perf_links: yes in the policy",
	    t->path, names, perf, perf == 1 ? "it" : "them", t->path);
}

static int refuse_mode(const struct trusted *t, struct err *e)
{
	uid_t self = geteuid();

	if (self != 0 && t->st.st_uid != self)
		return err_set(e, "%s: belongs to uid %u, not to us (uid %u)", t->path,
		    (unsigned)t->st.st_uid, (unsigned)self);
	if (!may_give_group(t->st.st_gid))
		return err_set(e, "%s: its group %u is none of ours, a new build could not have it",
		    t->path, (unsigned)t->st.st_gid);
	if (t->st.st_mode & S_ISUID)
		return err_set(e, "%s: is setuid", t->path);
	if (t->st.st_mode & S_ISGID)
		return err_set(e, "%s: is setgid", t->path);
	return 0;
}

static int refuse_flags(const struct trusted *t, struct err *e)
{
	struct statx sx;

	if (statx(t->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &sx) < 0)
		return err_sys(e, "%s", t->path);
	if (sx.stx_attributes & STATX_ATTR_IMMUTABLE)
		return err_set(e, "%s: is immutable", t->path);
	if (sx.stx_attributes & STATX_ATTR_APPEND)
		return err_set(e, "%s: is append-only", t->path);
	if (sx.stx_attributes & STATX_ATTR_VERITY)
		return err_set(e, "%s: is protected by fs-verity", t->path);
	return 0;
}

static int refuse_xattrs(const struct trusted *t, struct err *e)
{
	static const struct {
		const char *name, *says;
	} bad[] = {
	    {"security.capability", "has file capabilities"},
	    {"security.ima", "is signed for IMA"},
	    {"security.evm", "is signed for EVM"},
	};
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		if (fgetxattr(t->fd, bad[i].name, NULL, 0) >= 0)
			return err_set(e, "%s: %s", t->path, bad[i].says);
		else if (errno != ENODATA && errno != ENOTSUP)
			return err_sys(e, "%s: reading %s", t->path, bad[i].name);
	return 0;
}

int trust_may_replace(const struct trusted *t, bool perf_links, struct err *e)
{
	return refuse_mode(t, e) || refuse_links(t, perf_links, e) || refuse_flags(t, e) ||
		       refuse_xattrs(t, e)
		   ? -1
		   : 0;
}
