#include "managerd/parent/swap/builds.h"
#include "common/publish.h"
#include "managerd/parent/swap/stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *builds_path(const char *state, const char *module, const struct build_id *id)
{
	char *folder = swap_path(state, "builds", module), hex[BUILD_ID_HEX];
	char *path = xasprintf("%s/%s", folder, build_id_hex(id, hex));

	free(folder);
	return path;
}

bool builds_have(const char *state, const char *module, const struct build_id *id)
{
	char *path = builds_path(state, module, id);
	bool have = !access(path, F_OK);

	free(path);
	return have;
}

bool builds_can_link(const char *state, const struct stat *st)
{
	char *path = xasprintf("%s/builds", state);
	struct stat dir;
	/* A kept build has no name by which its owner might write into it. */
	bool same = st->st_nlink == 1 && !stat(path, &dir) && dir.st_dev == st->st_dev;

	free(path);
	return same;
}

static int folder_make(const char *state, const char *module, struct err *e)
{
	char *folder = swap_path(state, "builds", module), *parent = path_dir(folder);
	int r = dir_make(folder, 0700, e);

	if (!r)
		r = dir_sync(parent, e) < 0 ? -1 : dir_sync(state, e);
	free(parent);
	free(folder);
	return r;
}

static int copy(int fd, const struct stat *st, const char *path, void (*half)(void), struct err *e)
{
	struct publish p;

	if (publish_open(&p, path, 0600, e) < 0)
		return -1;
	if (stage_space(p.fd, (uint64_t)st->st_size, path, e) < 0 ||
	    stage_copy(fd, p.fd, (uint64_t)st->st_size, half, e) < 0 ||
	    stage_attributes(fd, st, p.fd, e) < 0) {
		publish_abort(&p);
		return -1;
	}
	return publish_commit(&p, e);
}

int builds_keep(const char *state, const char *module, const struct build_id *id, int fd,
    const struct stat *st, void (*half)(void), struct err *e)
{
	char *path, *dir, from[32];
	int r;

	if (folder_make(state, module, e) < 0)
		return -1;
	path = builds_path(state, module, id);
	dir = path_dir(path);
	if (!builds_can_link(state, st)) {
		r = copy(fd, st, path, half, e);
	} else {
		half();
		/* Through the descriptor: the path may name another file by now. */
		snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
		r = linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
		if (!r)
			r = dir_sync(dir, e);
		else if (errno == EXDEV || errno == EPERM || errno == ENOTSUP || errno == EMLINK)
			r = copy(fd, st, path, half, e);
		else
			err_sys(e, "%s", path);
	}
	free(dir);
	free(path);
	return r;
}

int builds_drop(const char *state, const char *module, const struct build_id *id, struct err *e)
{
	char *path = builds_path(state, module, id), *dir = path_dir(path);
	int r = 0;

	if (unlink(path) < 0 && errno != ENOENT)
		r = err_sys(e, "%s", path);
	/* The folder stays while there are others. */
	rmdir(dir);
	free(dir);
	free(path);
	return r;
}

int builds_sweep(const char *state, const char *module, struct err *e)
{
	char *folder = swap_path(state, "builds", module);
	DIR *d = opendir(folder);
	struct dirent *de;
	int r = 0;

	while (d && (de = readdir(d)))
		if (strstr(de->d_name, ".morph-new.") && unlinkat(dirfd(d), de->d_name, 0) < 0 &&
		    errno != ENOENT)
			r = err_sys(e, "%s/%s", folder, de->d_name);
	if (d)
		closedir(d);
	rmdir(folder);
	free(folder);
	return r;
}

typedef VEC(struct swap_kept) kept_vec;

static int newer_first(const void *a, const void *b)
{
	const struct swap_kept *x = a, *y = b;

	if (x->since != y->since)
		return x->since < y->since ? 1 : -1;
	return memcmp(x->id.b, y->id.b, sizeof x->id.b);
}

static void list(const char *state, const char *module, kept_vec *out)
{
	char *folder = swap_path(state, "builds", module);
	DIR *d = opendir(folder);
	struct swap_kept k;
	struct dirent *de;
	struct stat st;

	while (d && (de = readdir(d))) {
		if (build_id_parse(de->d_name, &k.id) < 0 ||
		    fstatat(dirfd(d), de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		/* Its status changed last when the module's name went to another file. */
		k.since = (int64_t)st.st_ctim.tv_sec * 1000 + st.st_ctim.tv_nsec / 1000000;
		k.bytes = (uint64_t)st.st_size;
		vec_push(out, k);
	}
	if (d)
		closedir(d);
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, newer_first);
	free(folder);
}

size_t swap_kept(
    const char *state, const char *module, struct arena *a, const struct swap_kept **out)
{
	kept_vec all = {0};
	size_t n;

	list(state, module, &all);
	n = all.n;
	*out = arena_copy(a, all.v, n, sizeof *all.v);
	vec_free(&all);
	return n;
}

int builds_prune(const char *state, const char *module, const struct build_id *origin, size_t keep,
    struct err *e)
{
	kept_vec all = {0};
	size_t left, i;
	int r = 0;

	list(state, module, &all);
	left = all.n;
	for (i = all.n; i-- && left > keep;) {
		if (origin->n && build_id_equal(&all.v[i].id, origin))
			continue;
		if (builds_drop(state, module, &all.v[i].id, e) < 0)
			r = -1;
		left--;
	}
	vec_free(&all);
	return r;
}
