#include "managerd/parent/folder.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/publish.h"
#include "managerd/parent/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES_MAX = 100000 };

struct cache { /* of one module */
	char *path;
	int64_t used_s;
	uint64_t bytes;
};
typedef VEC(struct cache) caches;

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Of one module's kept builds. */
static uint64_t bytes_kept(int dir, uid_t owner)
{
	DIR *d = fdopendir(dir);
	struct dirent *de;
	struct stat st;
	uint64_t sum = 0;

	while (d && (de = readdir(d)))
		if (!is_dot(de->d_name) && !fstatat(dir, de->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode) && st.st_uid == owner)
			sum += (uint64_t)st.st_blocks * 512;
	if (d)
		closedir(d);
	else
		close(dir);
	return sum;
}

static uint64_t all_kept(const char *state, uid_t owner)
{
	char *path = xasprintf("%s/builds", state);
	DIR *d = opendir(path);
	struct dirent *de;
	uint64_t sum = 0;
	int dir;

	while (d && (de = readdir(d))) {
		dir = is_dot(de->d_name) ? -1
					 : openat(dirfd(d), de->d_name,
					       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir >= 0)
			sum += bytes_kept(dir, owner);
	}
	if (d)
		closedir(d);
	free(path);
	return sum;
}

static void list_caches(const char *folder, caches *all)
{
	DIR *d = opendir(folder);
	struct dirent *de;
	struct stat st;
	int dir;

	while (d && (de = readdir(d))) {
		dir = is_dot(de->d_name) ? -1
					 : openat(dirfd(d), de->d_name,
					       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir < 0)
			continue;
		if (!fstat(dir, &st))
			vec_push(all, (struct cache){xasprintf("%s/%s", folder, de->d_name),
					  st.st_mtim.tv_sec, folder_bytes(dir, ENTRIES_MAX)});
		close(dir);
	}
	if (d)
		closedir(d);
}

static int longest_ago(const void *a, const void *b)
{
	const struct cache *x = a, *y = b;

	return (x->used_s > y->used_s) - (x->used_s < y->used_s);
}

static void empty_caches(caches *all, uint64_t sum, uint64_t max)
{
	struct err e;
	size_t i;

	if (all->n)
		qsort(all->v, all->n, sizeof *all->v, longest_ago);
	for (i = 0; i < all->n && sum > max; i++) {
		if (dir_empty(all->v[i].path, &e) < 0)
			log_info("%s", e.text);
		sum -= all->v[i].bytes;
	}
}

int quota_make_room(
    const char *state, uid_t owner, const struct folder_user *u, uint64_t max, struct err *e)
{
	char *folder = xasprintf("%s/cache/%u", state, (unsigned)u->uid);
	uint64_t kept = all_kept(state, owner), sum = kept;
	caches all = {0};
	size_t i;
	int r = 0;

	list_caches(folder, &all);
	for (i = 0; i < all.n; i++)
		sum += all.v[i].bytes;
	if (kept > max)
		r = err_set(e,
		    "the kept builds of uid %u take %" PRIu64 " bytes, more than the "
		    "policy's quota.disk",
		    (unsigned)owner, kept);
	else if (sum > max && u->give && launch_become(u->uid, u->gid) < 0)
		r = err_sys(e, "becoming uid %u", (unsigned)u->uid);
	else if (sum > max)
		empty_caches(&all, sum, max);
	for (i = 0; i < all.n; i++)
		free(all.v[i].path);
	vec_free(&all);
	free(folder);
	return r;
}
