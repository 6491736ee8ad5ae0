#include "common/log.h"
#include "common/publish.h"
#include "editor-driver/link/cache.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], in[96], out[96], store[96];
static struct cache cache;
static struct cache_key key;
static struct err e;

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static bool holds(const char *path, const char *text)
{
	struct buf b = {0};
	bool same;

	if (file_read(path, 0, &b, NULL))
		return false;
	same = b.n == strlen(text) && !memcmp(b.p, text, b.n);
	buf_free(&b);
	return same;
}

static char *entry(void)
{
	char hex[2 * sizeof key + 1];
	size_t i;

	for (i = 0; i < sizeof key; i++)
		snprintf(hex + 2 * i, 3, "%02x", key.b[i]);
	return xasprintf("%s/objects/%s", store, hex);
}

static void setup(void)
{
	strcpy(dir, "/tmp/morph-cache-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(in, sizeof in, "%s/in", dir);
	snprintf(out, sizeof out, "%s/out", dir);
	snprintf(store, sizeof store, "%s/store", dir);
	cache_open(&cache, store);
	key = cache_key(&cache, "k", 1);
	put_file(in, "the object");
}

static void teardown(void)
{
	cache_close(&cache);
	ck_assert_int_eq(dir_remove(dir, &e), 0);
}

START_TEST(gives_back_what_was_put)
{
	ck_assert(!cache_get(&cache, CACHE_OBJECTS, &key, out));
	cache_put(&cache, CACHE_OBJECTS, &key, in);
	ck_assert(cache_get(&cache, CACHE_OBJECTS, &key, out));
	ck_assert(holds(out, "the object"));
	ck_assert(!cache_get(&cache, CACHE_BUILDS, &key, out));
}
END_TEST

START_TEST(an_empty_object_is_one)
{
	put_file(in, "");
	cache_put(&cache, CACHE_OBJECTS, &key, in);
	ck_assert(cache_get(&cache, CACHE_OBJECTS, &key, out));
	ck_assert(holds(out, ""));
}
END_TEST

/* Every length below the whole, and every byte changed. */
START_TEST(damage_is_noticed)
{
	struct buf whole = {0};
	char *path = entry();
	size_t i;
	int fd;

	cache_put(&cache, CACHE_OBJECTS, &key, in);
	ck_assert_int_eq(file_read(path, 0, &whole, &e), 0);
	for (i = 0; i < 2 * whole.n; i++) {
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (i >= whole.n)
			whole.p[i - whole.n] ^= 0x20;
		ck_assert_int_eq(file_write_all(fd, whole.p, i < whole.n ? i : whole.n), 0);
		if (i >= whole.n)
			whole.p[i - whole.n] ^= 0x20;
		close(fd);
		ck_assert(!cache_get(&cache, CACHE_OBJECTS, &key, out));
		ck_assert_int_ne(access(path, F_OK), 0);
	}
	cache_put(&cache, CACHE_OBJECTS, &key, in);
	ck_assert(cache_get(&cache, CACHE_OBJECTS, &key, out));
	buf_free(&whole);
	free(path);
}
END_TEST

START_TEST(the_least_used_go_first)
{
	struct cache_key k[3] = {
	    cache_key(&cache, "a", 1), cache_key(&cache, "b", 1), cache_key(&cache, "c", 1)};
	int i;

	for (i = 0; i < 3; i++) {
		cache_put(&cache, CACHE_OBJECTS, &k[i], in);
		usleep(20000);
	}
	ck_assert(cache_get(&cache, CACHE_OBJECTS, &k[0], out));
	cache_prune(&cache, 2 * (strlen("the object") + 40));
	ck_assert(cache_get(&cache, CACHE_OBJECTS, &k[0], out));
	ck_assert(!cache_get(&cache, CACHE_OBJECTS, &k[1], out));
	ck_assert(cache_get(&cache, CACHE_OBJECTS, &k[2], out));
	cache_prune(&cache, 0);
	ck_assert(!cache_get(&cache, CACHE_OBJECTS, &k[0], out));
}
END_TEST

/* An entry is good for its key and kind, in its cache, alone. */
START_TEST(entries_cannot_be_moved)
{
	struct cache_key other = cache_key(&cache, "other", 5);
	char *from = entry(), *to, *foreign;
	struct cache second;

	cache_put(&cache, CACHE_OBJECTS, &key, in);
	key = other;
	to = entry();
	ck_assert_int_eq(link(from, to), 0);
	ck_assert(!cache_get(&cache, CACHE_OBJECTS, &other, out));
	ck_assert_int_ne(access(to, F_OK), 0);
	foreign = xasprintf("%s/builds/%s", store, path_base(from));
	ck_assert_int_eq(link(from, foreign), 0);
	key = cache_key(&cache, "k", 1);
	ck_assert(!cache_get(&cache, CACHE_BUILDS, &key, out));
	free(foreign);
	/* Another cache has other keys; under this one's name its entry is none. */
	foreign = xasprintf("%s/second", dir);
	cache_open(&second, foreign);
	ck_assert_ptr_nonnull(second.dir);
	other = cache_key(&second, "k", 1);
	ck_assert_int_ne(memcmp(&other, &key, sizeof key), 0);
	cache_put(&second, CACHE_OBJECTS, &key, in);
	free(foreign);
	foreign = xasprintf("%s/second/objects/%s", dir, path_base(from));
	ck_assert_int_eq(rename(foreign, from), 0);
	ck_assert(!cache_get(&cache, CACHE_OBJECTS, &key, out));
	cache_close(&second);
	free(foreign);
	free(from);
	free(to);
}
END_TEST

/* As an entry, a folder, or the secret. */
START_TEST(links_are_not_followed)
{
	char path[160], elsewhere[160], *name = entry();
	struct cache none;

	snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", dir);
	cache_put(&cache, CACHE_OBJECTS, &key, in);
	ck_assert_int_eq(rename(name, elsewhere), 0);
	ck_assert_int_eq(symlink(elsewhere, name), 0);
	ck_assert(!cache_get(&cache, CACHE_OBJECTS, &key, out));
	cache_put(&cache, CACHE_OBJECTS, &key, in);
	ck_assert(cache_get(&cache, CACHE_OBJECTS, &key, out));

	snprintf(path, sizeof path, "%s/link", dir);
	ck_assert_int_eq(symlink(store, path), 0);
	cache_open(&none, path);
	ck_assert_ptr_null(none.dir);
	snprintf(path, sizeof path, "%s/third", dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/third/builds", dir);
	ck_assert_int_eq(symlink(store, path), 0);
	snprintf(path, sizeof path, "%s/third", dir);
	cache_open(&none, path);
	ck_assert_ptr_null(none.dir);
	free(name);
}
END_TEST

/* A secret that others could read, or that is cut off, is replaced, and what was made
 * under it is gone. */
START_TEST(the_secret_is_kept)
{
	struct stat st;
	char path[160];

	snprintf(path, sizeof path, "%s/secret", store);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(st.st_size, 32);
	cache_put(&cache, CACHE_OBJECTS, &key, in);
	cache_close(&cache);
	cache_open(&cache, store);
	ck_assert(cache_get(&cache, CACHE_OBJECTS, &key, out));
	cache_close(&cache);
	ck_assert_int_eq(chmod(path, 0644), 0);
	cache_open(&cache, store);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert(!cache_get(&cache, CACHE_OBJECTS, &key, out));
	cache_put(&cache, CACHE_OBJECTS, &key, in);
	cache_close(&cache);
	ck_assert_int_eq(truncate(path, 16), 0);
	cache_open(&cache, store);
	ck_assert(!cache_get(&cache, CACHE_OBJECTS, &key, out));
}
END_TEST

START_TEST(others_folders_are_not_used)
{
	struct cache none;
	char path[128];

	snprintf(path, sizeof path, "%s/objects", store);
	ck_assert_int_eq(chmod(path, 0770), 0);
	cache_open(&none, store);
	ck_assert_ptr_null(none.dir);
	ck_assert_int_eq(chmod(path, 0700), 0);
	if (geteuid())
		return;
	ck_assert_int_eq(chown(store, 65534, 65534), 0);
	cache_open(&none, store);
	ck_assert_ptr_null(none.dir);
}
END_TEST

START_TEST(no_folder_no_cache)
{
	struct cache none;
	char path[128];

	snprintf(path, sizeof path, "%s/in/below-a-file", dir);
	cache_open(&none, path);
	ck_assert_ptr_null(none.dir);
	cache_put(&none, CACHE_OBJECTS, &key, in);
	ck_assert(!cache_get(&none, CACHE_OBJECTS, &key, out));
	cache_prune(&none, 0);
	cache_close(&none);
}
END_TEST

int main(void)
{
	log_init("editcache", LOG_LVL_ERROR);
	return UNIT_RUN("editcache", 0, setup, teardown, gives_back_what_was_put,
	    an_empty_object_is_one, damage_is_noticed, the_least_used_go_first,
	    entries_cannot_be_moved, links_are_not_followed, the_secret_is_kept,
	    others_folders_are_not_used, no_folder_no_cache);
}
