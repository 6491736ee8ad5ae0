#include "common/publish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PUBLISH_TRIES = 100 };

int publish_open(struct publish *p, const char *path, mode_t mode, struct err *e)
{
	char *dir = path_dir(path);
	int i;

	*p = (struct publish){.fd = -1, .path = xstrdup(path)};
	for (i = 0; i < PUBLISH_TRIES && p->fd < 0; i++) {
		free(p->tmp);
		/* The name is cut so that the longest file name still has room. */
		p->tmp =
		    xasprintf("%s/.%.200s.morph-new.%d.%d", dir, path_base(path), (int)getpid(), i);
		p->fd = open(p->tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (p->fd < 0 && errno != EEXIST)
			break;
	}
	free(dir);
	if (p->fd >= 0)
		return 0;
	err_sys(e, "%s", p->tmp);
	free(p->tmp);
	free(p->path);
	*p = (struct publish){.fd = -1};
	return -1;
}

void publish_abort(struct publish *p)
{
	if (p->fd >= 0)
		close(p->fd);
	if (p->tmp)
		unlink(p->tmp);
	free(p->tmp);
	free(p->path);
	*p = (struct publish){.fd = -1};
}

/* By name: a program that was handed tmp may have made a new file of it. */
static int publish_sync(struct publish *p, struct err *e)
{
	int fd = p->fd, r;

	p->fd = -1;
	if (fd >= 0 && close(fd) < 0)
		return err_sys(e, "%s", p->path);
	fd = open(p->tmp, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "%s", p->tmp);
	r = fsync(fd);
	if (r < 0)
		err_sys(e, "%s", p->path);
	close(fd);
	return r;
}

static int put_in_place(struct publish *p, struct err *e)
{
	if (rename(p->tmp, p->path) < 0)
		return err_sys(e, "%s", p->path);
	free(p->tmp);
	p->tmp = NULL;
	return 0;
}

int publish_commit(struct publish *p, struct err *e)
{
	char *dir = path_dir(p->path);
	int r = publish_sync(p, e);

	if (!r)
		r = put_in_place(p, e);
	if (!r)
		r = dir_sync(dir, e);
	publish_abort(p);
	free(dir);
	return r;
}

int publish_commit_unsynced(struct publish *p, struct err *e)
{
	int r = put_in_place(p, e);

	publish_abort(p);
	return r;
}

int publish_bytes(const char *path, const void *bytes, size_t n, mode_t mode, struct err *e)
{
	struct publish p;

	if (publish_open(&p, path, mode, e) < 0)
		return -1;
	if (file_write_all(p.fd, bytes, n) < 0) {
		err_sys(e, "%s", path);
		publish_abort(&p);
		return -1;
	}
	return publish_commit(&p, e);
}

static int publish_copy(const char *from, const char *to, struct err *e)
{
	struct buf b = {0};
	struct publish p;
	int r = file_read(from, 0, &b, e);

	if (!r)
		r = publish_open(&p, to, 0644, e);
	if (!r && file_write_all(p.fd, b.p, b.n) < 0) {
		r = err_sys(e, "%s", to);
		publish_abort(&p);
	} else if (!r) {
		r = publish_commit_unsynced(&p, e);
	}
	buf_free(&b);
	return r;
}

int publish_link(const char *from, const char *name, struct err *e)
{
	char *tmp = xasprintf("%s.%d", name, (int)getpid());
	int r = link(from, tmp) < 0 || rename(tmp, name) < 0 ? -1 : 0;

	/* Of two names of one file rename() leaves both. */
	unlink(tmp);
	free(tmp);
	return r ? publish_copy(from, name, e) : 0;
}

/* size: what the file says it has; those of /proc say 0. */
static int read_to_end(
    int fd, const char *path, size_t size, size_t max, struct buf *out, struct err *e)
{
	const size_t usual = 64 * 1024;
	size_t begin = out->n, step = size ? size + 1 : usual;
	ssize_t r;

	do {
		r = read(fd, buf_grow(out, step), step);
		out->n -= step - (r > 0 ? (size_t)r : 0);
		if (r < 0 && errno != EINTR)
			return err_sys(e, "%s", path);
		if (out->n - begin > max)
			return err_set(e, "%s: larger than %zu bytes", path, max);
		step = out->n - begin == size ? 1 : usual; /* the end, without room for more */
	} while (r);
	return 0;
}

/* The descriptor that "/dev/fd/N" names, or -1. */
static int named_descriptor(const char *path)
{
	static const char dir[] = "/dev/fd/";
	long n;
	char *end;

	if (strncmp(path, dir, sizeof dir - 1) || path[sizeof dir - 1] < '0' ||
	    path[sizeof dir - 1] > '9')
		return -1;
	n = strtol(path + sizeof dir - 1, &end, 10);
	return *end || n > INT_MAX ? -1 : (int)n;
}

bool file_is_given(const char *path)
{
	return named_descriptor(path) >= 0;
}

int file_open(const char *path, struct err *e)
{
	int given = named_descriptor(path), fd;
	struct stat st;

	if (given >= 0)
		fd = fcntl(given, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_sys(e, "%s", path);
	if (fstat(fd, &st) < 0)
		err_sys(e, "%s", path);
	else if (!S_ISREG(st.st_mode))
		err_set(e, "%s: not a regular file", path);
	else if (given < 0 || lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	else
		err_sys(e, "%s", path);
	close(fd);
	return -1;
}

int file_read(const char *path, size_t max, struct buf *out, struct err *e)
{
	int fd = file_open(path, e), r;
	size_t begin = out->n;
	struct stat st;

	if (!max)
		max = (size_t)4 << 30;
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		r = err_sys(e, "%s", path);
	else if ((uint64_t)st.st_size > max)
		r = err_set(e, "%s: larger than %zu bytes", path, max);
	else
		r = read_to_end(fd, path, (size_t)st.st_size, max, out, e);
	if (r < 0)
		out->n = begin;
	close(fd);
	return r;
}

void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int file_map(const char *path, struct file_map *m, struct err *e)
{
	int fd = file_open(path, e), r = 0;
	struct stat st;

	*m = (struct file_map){0};
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0) {
		r = err_sys(e, "%s", path);
	} else if (st.st_size) {
		m->n = (size_t)st.st_size;
		m->p = mmap(NULL, m->n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		if (m->p == MAP_FAILED) {
			*m = (struct file_map){0};
			r = err_sys(e, "%s", path);
		}
	}
	close(fd);
	return r;
}

void file_unmap(struct file_map *m)
{
	if (m->p)
		munmap(m->p, m->n);
	*m = (struct file_map){0};
}

int file_write_all(int fd, const void *p, size_t n)
{
	const char *at = p;
	ssize_t r;

	while (n) {
		r = write(fd, at, n);
		if (r < 0 && errno != EINTR)
			return -1;
		if (r > 0) {
			at += r;
			n -= (size_t)r;
		}
	}
	return 0;
}

int file_write(const char *path, int how, const void *p, size_t n, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0600);
	int rc = fd < 0 || file_write_all(fd, p, n) ? err_sys(e, "%s", path) : 0;

	if (fd >= 0 && close(fd) && !rc)
		rc = err_sys(e, "%s", path);
	return rc;
}

int dir_sync(const char *dir, struct err *e)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (fd < 0)
		return err_sys(e, "%s", dir);
	r = fsync(fd);
	if (r < 0)
		err_sys(e, "%s", dir);
	close(fd);
	return r;
}

static int dir_make_one(const char *path, mode_t mode, struct err *e)
{
	struct stat st;

	if (!mkdir(path, mode))
		return 0;
	if (errno == EEXIST && !stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return 0;
		errno = ENOTDIR;
	}
	return err_sys(e, "%s", path);
}

int dir_make(const char *path, mode_t mode, struct err *e)
{
	char *copy = xstrdup(path), *slash = copy;
	int r = 0;

	while (!r && *slash && (slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		r = dir_make_one(copy, mode, e);
		*slash = '/';
	}
	if (!r)
		r = dir_make_one(copy, mode, e);
	free(copy);
	return r;
}

/* ---- removing a tree: one folder is open at a time, whatever the depth ---- */

/* A folder on the way down, known again by its inode on the way back up. */
struct level {
	char *name;
	dev_t dev;
	ino_t ino;
	VEC(char *) sub; /* folders in it that are still there */
};

struct removal {
	VEC(struct level) way;
	int fd; /* of the last level */
};

/* 1 = gone, 0 = a folder, -1 = an error. */
static int remove_file(int at, const char *name, struct err *e)
{
	struct stat st;
	int why;

	if (!unlinkat(at, name, 0) || errno == ENOENT)
		return 1;
	/* A directory gives EISDIR, EPERM on some file systems, and EACCES under a
	 * Landlock that lets directories go but no files. */
	why = errno;
	if ((why == EISDIR || why == EPERM || why == EACCES) &&
	    !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode))
		return 0;
	errno = why;
	return err_sys(e, "%s", name);
}

/* Removes the files of the last level and keeps the names of its folders. */
static int remove_files(struct removal *r, struct err *e)
{
	struct level *l = &r->way.v[r->way.n - 1];
	DIR *d = fdopendir(fcntl(r->fd, F_DUPFD_CLOEXEC, 3));
	struct dirent *de;
	int rc = 0;

	if (!d)
		return err_sys(e, "%s", l->name);
	while (rc >= 0 && (de = readdir(d))) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		rc = remove_file(r->fd, de->d_name, e);
		if (!rc)
			vec_push(&l->sub, xstrdup(de->d_name));
	}
	closedir(d);
	return rc < 0 ? -1 : 0;
}

static int go_down(struct removal *r, int at, const char *name, struct err *e)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(e, "%s", name);
	if (r->fd >= 0)
		close(r->fd);
	r->fd = fd;
	if (fstat(fd, &st))
		return err_sys(e, "%s", name);
	vec_push(&r->way, (struct level){xstrdup(name), st.st_dev, st.st_ino});
	return remove_files(r, e);
}

/* Leaves the last level, which is empty, and removes it. */
static int go_up(struct removal *r, int at, struct err *e)
{
	struct level *l = &r->way.v[--r->way.n], *up = l - 1;
	struct stat st;
	int fd = -1, rc = 0;

	if (r->way.n) {
		fd = openat(r->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st))
			rc = err_sys(e, "%s/..", l->name);
		else if (st.st_dev != up->dev || st.st_ino != up->ino)
			rc = err_set(e, "%s: was moved while it was removed", l->name);
	}
	if (!rc && unlinkat(r->way.n ? fd : at, l->name, AT_REMOVEDIR) && errno != ENOENT)
		rc = err_sys(e, "%s", l->name);
	close(r->fd);
	r->fd = fd;
	free(l->name);
	vec_free(&l->sub);
	return rc;
}

static void removal_free(struct removal *r)
{
	struct level *l;

	if (r->fd >= 0)
		close(r->fd);
	while (r->way.n) {
		l = &r->way.v[--r->way.n];
		while (l->sub.n)
			free(l->sub.v[--l->sub.n]);
		vec_free(&l->sub);
		free(l->name);
	}
	vec_free(&r->way);
}

int dir_remove_at(int at, const char *name, struct err *e)
{
	struct removal r = {.fd = -1};
	struct level *l;
	char *sub;
	int rc = remove_file(at, name, e);

	if (rc)
		return rc < 0 ? -1 : 0;
	rc = go_down(&r, at, name, e);
	while (!rc && r.way.n) {
		l = &r.way.v[r.way.n - 1];
		if (l->sub.n) {
			sub = l->sub.v[--l->sub.n];
			rc = go_down(&r, r.fd, sub, e);
			free(sub);
		} else {
			rc = go_up(&r, at, e);
		}
	}
	removal_free(&r);
	return rc;
}

int dir_empty(const char *path, struct err *e)
{
	DIR *d = opendir(path);
	struct dirent *de;
	int r = 0;

	if (!d)
		return err_sys(e, "%s", path);
	while (!r && (de = readdir(d)))
		if (strcmp(de->d_name, ".") && strcmp(de->d_name, ".."))
			r = dir_remove_at(dirfd(d), de->d_name, e);
	closedir(d);
	return r;
}

int dir_remove(const char *path, struct err *e)
{
	return dir_remove_at(AT_FDCWD, path, e);
}

char *path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	if (slash == path)
		return xstrdup("/");
	return xasprintf("%.*s", (int)(slash - path), path);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_is_plain(const char *path)
{
	const char *p = path, *end;
	size_t n;

	if (*path != '/' || strlen(path) >= PATH_MAX)
		return false;
	while (*p) {
		end = strchrnul(++p, '/');
		n = (size_t)(end - p);
		if (!n || (n == 1 && *p == '.') || (n == 2 && !strncmp(p, "..", 2)))
			return false;
		p = end;
	}
	return true;
}
