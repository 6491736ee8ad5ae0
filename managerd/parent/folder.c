#include "managerd/parent/folder.h"
#include "common/mem.h"
#include "common/publish.h"
#include "managerd/parent/launch.h"
#include "managerd/parent/swap/swap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

char *folder_path(const char *state, const char *name, const char *file)
{
	return file ? xasprintf("%s/jobs/%s/%s", state, name, file)
		    : xasprintf("%s/jobs/%s", state, name);
}

/* Opens a folder of ours and gives it away. */
static int give(const char *path, const struct folder_user *u, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && !fchmod(fd, 0700) && (!u->give || !fchown(fd, u->uid, u->gid)))
		return fd;
	err_sys(e, "%s", path);
	fd_close(&fd);
	return -1;
}

int folder_make(
    const char *state, const struct folder_user *u, char name[FOLDER_NAME], struct err *e)
{
	uint64_t salt;
	char *path;
	int fd;

	if (getrandom(&salt, sizeof salt, 0) != sizeof salt)
		return err_sys(e, "random numbers");
	snprintf(name, FOLDER_NAME, "%016" PRIx64, salt);
	path = folder_path(state, name, NULL);
	fd = mkdir(path, 0700) < 0 ? err_sys(e, "%s", path) : give(path, u, e);
	free(path);
	return fd;
}

int folder_file(int dir, const char *file, uid_t uid, uint64_t max, struct err *e)
{
	int fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		err_sys(e, "what the job made");
	else if (!S_ISREG(st.st_mode) || st.st_uid != uid)
		err_set(e, "what the job made is no regular file of its user");
	else if ((uint64_t)st.st_size > max)
		err_set(e, "what the job made has more than %" PRIu64 " bytes", max);
	else
		return fd;
	fd_close(&fd);
	return -1;
}

int folder_become(const char *state, const char *name, struct err *e)
{
	char *path = folder_path(state, name, NULL);
	struct stat st;
	int r = 0;

	if (lstat(path, &st) < 0)
		r = errno == ENOENT ? 0 : err_sys(e, "%s", path);
	else if (launch_become(st.st_uid, st.st_gid) < 0)
		r = err_sys(e, "%s: becoming its owner", path);
	free(path);
	return r;
}

int folder_empty(const char *state, const char *name, struct err *e)
{
	char *path = folder_path(state, name, NULL);
	int r = access(path, F_OK) < 0 && errno == ENOENT ? 0 : dir_empty(path, e);

	free(path);
	return r;
}

int folder_remove(const char *state, const char *name, struct err *e)
{
	char *path = folder_path(state, name, NULL);
	int r = rmdir(path) < 0 && errno != ENOENT ? err_sys(e, "%s", path) : 0;

	free(path);
	return r;
}

static uint64_t bytes_below(int dir, unsigned *left, unsigned depth)
{
	enum { DEPTH_MAX = 32 };
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), sub;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	uint64_t sum = 0;
	struct dirent *de;
	struct stat st;

	while (d && *left && (de = readdir(d))) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, "..") ||
		    fstatat(dirfd(d), de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		--*left;
		sum += (uint64_t)st.st_blocks * 512;
		if (!S_ISDIR(st.st_mode))
			continue;
		if (depth == DEPTH_MAX)
			*left = 0;
		sub = openat(dirfd(d), de->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0) {
			sum += bytes_below(sub, left, depth + 1);
			close(sub);
		}
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return sum;
}

uint64_t folder_bytes(int dir, unsigned max)
{
	uint64_t sum = bytes_below(dir, &max, 0);

	return max ? sum : FOLDER_TOO_MUCH;
}

char *folder_cache(
    const char *state, const struct folder_user *u, const char *module, struct err *e)
{
	char key[CONTENT_HEX], *top = xasprintf("%s/cache", state),
			       *user = xasprintf("%s/%u", top, (unsigned)u->uid),
			       *path = xasprintf("%s/%s", user, swap_key(module, key));
	int fd = -1;

	/* Ours down to the last, which alone is given away. */
	if (!dir_make(top, 0711, e) && !dir_make(user, 0711, e) && !dir_make(path, 0700, e))
		fd = give(path, u, e);
	free(user);
	free(top);
	if (fd >= 0) {
		close(fd);
		return path;
	}
	free(path);
	return NULL;
}

void folder_each(const char *state, void (*fn)(const char *name, void *arg), void *arg)
{
	char *path = xasprintf("%s/jobs", state);
	DIR *d = opendir(path);
	struct dirent *de;

	while (d && (de = readdir(d)))
		if (strlen(de->d_name) == FOLDER_NAME - 1 &&
		    !de->d_name[strspn(de->d_name, "0123456789abcdef")])
			fn(de->d_name, arg);
	if (d)
		closedir(d);
	free(path);
}
