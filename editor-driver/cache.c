#include "editor-driver/cache.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/publish.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char MAGIC[8] = "MORPHC1\n";
enum { TRAILER = sizeof MAGIC + sizeof(struct hash128), STALE_TMP_S = 3600 };
static const char *const KINDS[] = {"objects", "builds"};
enum { NKIND = sizeof KINDS / sizeof *KINDS };

/* What somebody else put there would be linked into a program. */
static bool ours_alone(const char *dir)
{
	struct stat st;

	return !stat(dir, &st) && (st.st_uid == geteuid() || st.st_uid == 0) &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH));
}

void cache_open(struct cache *c, const char *dir)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct err e = {{0}};
	char *path;
	size_t i;

	c->dir = dir ? xstrdup(dir)
	    : xdg && *xdg == '/' ? xasprintf("%s/morph", xdg)
	    : home && *home == '/' ? xasprintf("%s/.cache/morph", home)
				   : NULL;
	for (i = 0; c->dir && i < NKIND; i++) {
		path = xasprintf("%s/%s", c->dir, KINDS[i]);
		if (dir_make(path, 0700, &e) || access(path, W_OK | X_OK)) {
			log_warn("cannot use the cache %s; going on without", path);
			cache_close(c);
		} else if (!ours_alone(c->dir) || !ours_alone(path)) {
			log_warn("others may write the cache %s; going on without", path);
			cache_close(c);
		}
		free(path);
	}
}

void cache_close(struct cache *c)
{
	free(c->dir);
	c->dir = NULL;
}

static char *entry_path(struct cache *c, const char *kind, const struct hash128 *key)
{
	char hex[HASH_HEX];

	return xasprintf("%s/%s/%s", c->dir, kind, hash_hex(key, hex));
}

static bool sound(const struct buf *b)
{
	struct hash128 h;

	if (b->n < TRAILER || memcmp(b->p + b->n - TRAILER, MAGIC, sizeof MAGIC))
		return false;
	h = hash_bytes(b->p, b->n - TRAILER);
	return !memcmp(b->p + b->n - sizeof h, &h, sizeof h);
}

static bool write_new(const char *path, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool ok;

	if (fd < 0)
		return false;
	ok = !file_write_all(fd, p, n);
	return !close(fd) && ok;
}

bool cache_get(struct cache *c, const char *kind, const struct hash128 *key, const char *path)
{
	struct buf b = {0};
	char *entry;
	bool hit;

	if (!c->dir)
		return false;
	entry = entry_path(c, kind, key);
	hit = !file_read(entry, 0, &b, NULL);
	if (hit && !sound(&b)) {
		log_warn("%s: damaged cache entry dropped", entry);
		unlink(entry);
		hit = false;
	}
	hit = hit && write_new(path, b.p, b.n - TRAILER);
	if (hit)
		utimensat(AT_FDCWD, entry, NULL, 0);
	buf_free(&b);
	free(entry);
	return hit;
}

void cache_put(struct cache *c, const char *kind, const struct hash128 *key, const char *path)
{
	struct buf b = {0};
	struct err e = {{0}};
	struct publish p;
	struct hash128 h;
	char *entry;

	if (!c->dir)
		return;
	entry = entry_path(c, kind, key);
	if (file_read(path, 0, &b, &e) || publish_open(&p, entry, 0600, &e))
		goto out;
	h = hash_bytes(b.p, b.n);
	buf_add(&b, MAGIC, sizeof MAGIC);
	buf_add(&b, &h, sizeof h);
	if (!file_write_all(p.fd, b.p, b.n)) {
		publish_commit_unsynced(&p, &e);
	} else {
		err_sys(&e, "%s", entry);
		publish_abort(&p);
	}
out:
	if (e.text[0])
		log_debug("not cached: %s", e.text);
	buf_free(&b);
	free(entry);
}

/* ---- keeping it small ---- */

struct entry {
	char *path;
	struct timespec used;
	uint64_t size;
};

struct entries {
	struct entry *v;
	size_t n, cap;
};

static int by_use(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

static void gather(const char *dir, struct entries *all)
{
	struct dirent *d;
	struct stat st;
	char *path;
	DIR *dp = opendir(dir);

	while (dp && (d = readdir(dp))) {
		path = xasprintf("%s/%s", dir, d->d_name);
		if (lstat(path, &st) || !S_ISREG(st.st_mode)) {
			free(path);
		} else if (d->d_name[0] == '.' && st.st_mtim.tv_sec + STALE_TMP_S < time(NULL)) {
			unlink(path); /* left by a run that died */
			free(path);
		} else {
			vec_push(all, (struct entry){path, st.st_mtim, (uint64_t)st.st_size});
		}
	}
	if (dp)
		closedir(dp);
}

void cache_prune(struct cache *c, uint64_t limit)
{
	struct entries all = {0};
	uint64_t sum = 0;
	size_t i;
	char *dir;

	for (i = 0; c->dir && i < NKIND; i++) {
		dir = xasprintf("%s/%s", c->dir, KINDS[i]);
		gather(dir, &all);
		free(dir);
	}
	if (all.n)
		qsort(all.v, all.n, sizeof *all.v, by_use);
	for (i = 0; i < all.n; i++)
		sum += all.v[i].size;
	for (i = 0; i < all.n; i++) {
		if (sum > limit && !unlink(all.v[i].path))
			sum -= all.v[i].size;
		free(all.v[i].path);
	}
	vec_free(&all);
}
