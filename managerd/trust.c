#include "managerd/trust.h"
#include "common/mem.h"
#include "common/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

	if (w->fd >= 0)
		close(w->fd);
	w->fd = next;
	if (next < 0 || fstat(next, &st) < 0)
		return -1;
	vec_push(&w->level, st);
	return 0;
}

/* dir is canonical: a link met on the way was put there just now. */
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
		return err_set(e, "%s: %s belongs to uid %u, neither to the owner (uid %u) nor root",
		    dir, last ? "the directory" : "a directory above it", (unsigned)st->st_uid,
		    (unsigned)owner);
	if (st->st_mode & OTHERS_WRITE && (last || !(st->st_mode & S_ISVTX)))
		return err_set(e, "%s: %s is writable by others (mode %04o)", dir,
		    last ? "the directory" : "a directory above it", st->st_mode & 07777u);
	return 0;
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
		return err_set(e, "%s: is writable by others (mode %04o)", t->path,
		    t->st.st_mode & 07777u);
	dir = path_dir(t->path);
	for (i = w->level.n; i-- && !r;)
		r = judge_dir(&w->level.v[i], i + 1 == w->level.n, owner, dir, e);
	free(dir);
	return r;
}

/* By O_PATH first: opening a device or a pipe can act. */
static int open_regular(struct trusted *t, struct err *e)
{
	int at = openat(t->dir, t->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct trusted by_path = {.fd = at};
	char path[TRUST_FD_PATH];
	int r = 0;

	if (at < 0)
		return err_sys(e, "%s", t->path);
	if (fstat(at, &t->st) < 0)
		r = err_sys(e, "%s", t->path);
	else if (S_ISLNK(t->st.st_mode))
		r = err_set(e, "%s: is a symbolic link", t->path);
	else if (!S_ISREG(t->st.st_mode))
		r = err_set(e, "%s: is not a regular file", t->path);
	else if ((t->fd = open(trust_fd_path(&by_path, path), O_RDONLY | O_CLOEXEC)) < 0)
		r = err_sys(e, "%s", t->path);
	close(at);
	return r;
}

static int split(const char *path, struct trusted *t, struct err *e)
{
	const char *base = path_base(path);
	char *dir, *real;

	if (path[0] != '/' || !*base || !strcmp(base, ".") || !strcmp(base, ".."))
		return err_set(e, "%s: is not the absolute path of a file", path);
	dir = path_dir(path);
	real = realpath(dir, NULL);
	free(dir);
	if (!real)
		return err_sys(e, "%s", path);
	t->path = xasprintf("%s/%s", strcmp(real, "/") ? real : "", base);
	t->name = strrchr(t->path, '/') + 1;
	free(real);
	return 0;
}

int trust_open(const char *path, uid_t owner, struct trusted *t, struct err *e)
{
	struct walk w = {.fd = -1};
	char *dir = NULL;
	int r;

	*t = (struct trusted){.dir = -1, .fd = -1};
	r = split(path, t, e);
	if (!r) {
		dir = path_dir(t->path);
		r = walk_dir(dir, &w);
		if (r)
			err_sys(e, "%s", dir);
		t->dir = w.fd;
	}
	if (!r)
		r = open_regular(t, e);
	if (!r)
		r = judge(&w, t, owner, e);
	if (r)
		trust_close(t);
	vec_free(&w.level);
	free(dir);
	return r;
}

void trust_close(struct trusted *t)
{
	if (t->dir >= 0)
		close(t->dir);
	if (t->fd >= 0)
		close(t->fd);
	free(t->path);
	*t = (struct trusted){.dir = -1, .fd = -1};
}

static int open_artifact(const char *path, uid_t owner, struct trusted *art, struct err *e)
{
	char *real = realpath(path, NULL);
	int r;

	if (!real)
		return err_sys(e, "%s", path);
	r = trust_open(real, owner, art, e);
	free(real);
	return r;
}

int trust_pair(const char *module, const char *artifact, struct trusted *mod,
    struct trusted *art, struct err *e)
{
	struct trusted m, a = {.dir = -1, .fd = -1};

	if (trust_open(module, (uid_t)-1, &m, e) < 0)
		return -1;
	if (open_artifact(artifact, m.st.st_uid, &a, e) < 0) {
		trust_close(&m);
		return -1;
	}
	if (mod)
		*mod = m;
	else
		trust_close(&m);
	if (art)
		*art = a;
	else
		trust_close(&a);
	return 0;
}

const char *trust_fd_path(const struct trusted *t, char out[TRUST_FD_PATH])
{
	snprintf(out, TRUST_FD_PATH, "/proc/self/fd/%d", t->fd);
	return out;
}
