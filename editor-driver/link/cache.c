#include "editor-driver/link/cache.h"
#include "common/log.h"
#include "common/sort.h"
#include "common/places.h"
#include "common/publish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char MAGIC[8] = "MORPHC2\n";
enum { TRAILER = sizeof MAGIC + CACHE_HASH, STALE_TMP_S = 3600 };
enum { FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
static const char *const KINDS[CACHE_KINDS] = {"objects", "builds", "texts"};
static const char SECRET[] = "secret";

/* ---- the folder ---- */

/* What somebody else put there would be linked into a program. */
static bool ours_alone(int fd, mode_t others)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & others);
}

static const char *open_folders(struct cache *c)
{
	static const char unusable[] = "cannot use the cache";
	static const char shared[] = "others may write the cache";
	struct err e;
	size_t i;

	if (dir_make(c->dir, 0700, &e) || (c->fd = open(c->dir, FOLDER)) < 0)
		return unusable;
	if (!ours_alone(c->fd, S_IWGRP | S_IWOTH))
		return shared;
	for (i = 0; i < CACHE_KINDS; i++) {
		if ((mkdirat(c->fd, KINDS[i], 0700) && errno != EEXIST) ||
		    (c->kind[i] = openat(c->fd, KINDS[i], FOLDER)) < 0 ||
		    faccessat(c->fd, KINDS[i], W_OK | X_OK, 0))
			return unusable;
		if (!ours_alone(c->kind[i], S_IWGRP | S_IWOTH))
			return shared;
	}
	return NULL;
}

static bool read_secret(struct cache *c)
{
	int fd = openat(c->fd, SECRET, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	bool ok;

	if (fd < 0)
		return false;
	ok = ours_alone(fd, S_IRWXG | S_IRWXO) && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	     st.st_size == CACHE_HASH && read(fd, c->secret, CACHE_HASH) == CACHE_HASH;
	close(fd);
	return ok;
}

/* Atomic; another edit may be first. */
static bool make_secret(struct cache *c)
{
	char tmp[64];
	bool made;
	int fd;

	snprintf(tmp, sizeof tmp, ".%s-%d", SECRET, (int)getpid());
	unlinkat(c->fd, tmp, 0);
	fd = openat(c->fd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	randombytes_buf(c->secret, CACHE_HASH);
	made = !file_write_all(fd, c->secret, CACHE_HASH) &&
	       (!linkat(c->fd, tmp, c->fd, SECRET, 0) || errno == EEXIST);
	close(fd);
	unlinkat(c->fd, tmp, 0);
	return made;
}

static bool get_secret(struct cache *c)
{
	if (sodium_init() < 0)
		return false;
	if (read_secret(c))
		return true;
	unlinkat(c->fd, SECRET, 0); /* not one that can be trusted */
	return make_secret(c) && read_secret(c);
}

void cache_open(struct cache *c, const char *dir)
{
	const char *wrong;
	size_t i;

	*c = (struct cache){.fd = -1};
	for (i = 0; i < CACHE_KINDS; i++)
		c->kind[i] = -1;
	c->dir = dir ? xstrdup(dir) : places_user(PLACE_CACHE);
	if (!c->dir)
		return;
	wrong = open_folders(c);
	if (!wrong && !get_secret(c))
		wrong = "cannot use the secret of the cache";
	if (wrong) {
		log_warn("%s %s; going on without", wrong, c->dir);
		cache_close(c);
	}
}

void cache_close(struct cache *c)
{
	size_t i;

	for (i = 0; c->dir && i < CACHE_KINDS; i++)
		if (c->kind[i] >= 0)
			close(c->kind[i]);
	if (c->dir && c->fd >= 0)
		close(c->fd);
	free(c->dir);
	sodium_memzero(c, sizeof *c);
}

char *cache_dir(const struct cache *c)
{
	return c->dir ? xasprintf("/dev/fd/%d", c->fd) : NULL;
}

/* ---- keys and checksums ---- */

static void begin(const struct cache *c, crypto_generichash_state *s, const char *what)
{
	crypto_generichash_init(s, c->secret, CACHE_HASH, CACHE_HASH);
	crypto_generichash_update(s, (const uint8_t *)what, strlen(what) + 1);
}

struct cache_key cache_key(const struct cache *c, const void *p, size_t n)
{
	struct cache_key key = {{0}};
	crypto_generichash_state s;

	if (c->dir) {
		begin(c, &s, "key");
		crypto_generichash_update(&s, p, n);
		crypto_generichash_final(&s, key.b, sizeof key.b);
	}
	return key;
}

int cache_key_file(const struct cache *c, const char *path, struct cache_key *key, struct err *e)
{
	struct buf b = {0};
	int rc = c->dir ? file_read(path, 0, &b, e) : 0;

	*key = cache_key(c, b.p, b.n);
	buf_free(&b);
	return rc;
}

static void keyed_sum(const struct cache *c, enum cache_kind kind, const struct cache_key *key,
    const void *p, size_t n, uint8_t mac[CACHE_HASH])
{
	crypto_generichash_state s;

	begin(c, &s, KINDS[kind]);
	crypto_generichash_update(&s, key->b, sizeof key->b);
	crypto_generichash_update(&s, p, n);
	crypto_generichash_final(&s, mac, CACHE_HASH);
}

/* ---- entries ---- */

enum { NAME = 2 * CACHE_HASH + 1 };

static const char *entry_name(const struct cache_key *key, char name[NAME])
{
	return sodium_bin2hex(name, NAME, key->b, sizeof key->b);
}

static bool sound(const struct cache *c, enum cache_kind kind, const struct cache_key *key,
    const char *p, size_t n)
{
	uint8_t mac[CACHE_HASH];

	if (n < TRAILER || memcmp(p + n - TRAILER, MAGIC, sizeof MAGIC))
		return false;
	keyed_sum(c, kind, key, p, n - TRAILER, mac);
	return !sodium_memcmp(p + n - sizeof mac, mac, sizeof mac);
}

bool cache_read(
    const struct cache *c, enum cache_kind kind, const struct cache_key *key, struct buf *out)
{
	char name[NAME], given[32];
	size_t before = out->n;
	bool hit;
	int fd = -1;

	if (c->dir)
		fd = openat(c->kind[kind], entry_name(key, name),
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	snprintf(given, sizeof given, "/dev/fd/%d", fd);
	hit = !file_read(given, 0, out, NULL) &&
	      sound(c, kind, key, out->p + before, out->n - before);
	if (hit) {
		out->n -= TRAILER;
		futimens(fd, NULL);
	} else {
		log_warn("%s/%s/%s: damaged cache entry dropped", c->dir, KINDS[kind], name);
		unlinkat(c->kind[kind], name, 0);
		out->n = before;
	}
	close(fd);
	return hit;
}

void cache_write(const struct cache *c, enum cache_kind kind, const struct cache_key *key,
    const void *p, size_t n)
{
	static atomic_uint count;
	uint8_t mac[CACHE_HASH];
	char name[NAME], tmp[64];
	int at, fd;
	bool ok;

	if (!c->dir)
		return;
	at = c->kind[kind];
	snprintf(tmp, sizeof tmp, ".new-%d-%u", (int)getpid(), atomic_fetch_add(&count, 1));
	keyed_sum(c, kind, key, p, n, mac);
	fd = openat(at, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ok = fd >= 0 && !file_write_all(fd, p, n) && !file_write_all(fd, MAGIC, sizeof MAGIC) &&
	     !file_write_all(fd, mac, sizeof mac);
	if (fd >= 0)
		ok = !close(fd) && ok;
	if (ok && !renameat(at, tmp, at, entry_name(key, name)))
		return;
	log_debug("not cached: %s", strerror(errno));
	unlinkat(at, tmp, 0);
}

bool cache_get(
    const struct cache *c, enum cache_kind kind, const struct cache_key *key, const char *path)
{
	struct buf b = {0};
	bool hit = cache_read(c, kind, key, &b) && !file_write(path, O_TRUNC, b.p, b.n, NULL);

	buf_free(&b);
	return hit;
}

void cache_put(
    const struct cache *c, enum cache_kind kind, const struct cache_key *key, const char *path)
{
	struct buf b = {0};
	struct err e;

	if (!c->dir)
		return;
	if (!file_read(path, 0, &b, &e))
		cache_write(c, kind, key, b.p, b.n);
	else
		log_debug("not cached: %s", e.text);
	buf_free(&b);
}

/* ---- keeping it small ---- */

struct entry {
	int at;
	char *name;
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

	return ORDER(x->used.tv_sec, y->used.tv_sec) ?: ORDER(x->used.tv_nsec, y->used.tv_nsec);
}

static void gather(int at, struct entries *all)
{
	int fd = openat(at, ".", FOLDER);
	DIR *dp = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;
	struct stat st;

	while (dp && (d = readdir(dp))) {
		if (fstatat(at, d->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (d->d_name[0] == '.' && st.st_mtim.tv_sec + STALE_TMP_S < time(NULL))
			unlinkat(at, d->d_name, 0); /* left by a run that died */
		else
			vec_push(all, (struct entry){at, xstrdup(d->d_name), st.st_mtim,
					  (uint64_t)st.st_size});
	}
	if (dp)
		closedir(dp);
}

void cache_prune(struct cache *c, uint64_t limit)
{
	struct entries all = {0};
	uint64_t sum = 0;
	size_t i;

	for (i = 0; c->dir && i < CACHE_KINDS; i++)
		gather(c->kind[i], &all);
	vec_sort(&all, by_use);
	for (i = 0; i < all.n; i++)
		sum += all.v[i].size;
	for (i = 0; i < all.n; i++) {
		if (sum > limit && !unlinkat(all.v[i].at, all.v[i].name, 0))
			sum -= all.v[i].size;
		free(all.v[i].name);
	}
	vec_free(&all);
}
