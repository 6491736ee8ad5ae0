#include "common/log.h"
#include "common/publish.h"
#include "editor-driver/cache.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], in[96], out[96], store[96];
static struct cache cache;
static struct hash128 key;
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
	char hex[HASH_HEX];

	return xasprintf("%s/objects/%s", store, hash_hex(&key, hex));
}

static void setup(void)
{
	strcpy(dir, "/tmp/morph-cache-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(in, sizeof in, "%s/in", dir);
	snprintf(out, sizeof out, "%s/out", dir);
	snprintf(store, sizeof store, "%s/store", dir);
	cache_open(&cache, store);
	key = hash_bytes("k", 1);
	put_file(in, "the object");
}

static void teardown(void)
{
	cache_close(&cache);
	ck_assert_int_eq(dir_remove(dir, &e), 0);
}

START_TEST(gives_back_what_was_put)
{
	ck_assert(!cache_get(&cache, "objects", &key, out));
	cache_put(&cache, "objects", &key, in);
	ck_assert(cache_get(&cache, "objects", &key, out));
	ck_assert(holds(out, "the object"));
	ck_assert(!cache_get(&cache, "builds", &key, out));
}
END_TEST

START_TEST(an_empty_object_is_one)
{
	put_file(in, "");
	cache_put(&cache, "objects", &key, in);
	ck_assert(cache_get(&cache, "objects", &key, out));
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

	cache_put(&cache, "objects", &key, in);
	ck_assert_int_eq(file_read(path, 0, &whole, &e), 0);
	for (i = 0; i < 2 * whole.n; i++) {
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (i >= whole.n)
			whole.p[i - whole.n] ^= 0x20;
		ck_assert_int_eq(file_write_all(fd, whole.p, i < whole.n ? i : whole.n), 0);
		if (i >= whole.n)
			whole.p[i - whole.n] ^= 0x20;
		close(fd);
		ck_assert(!cache_get(&cache, "objects", &key, out));
		ck_assert_int_ne(access(path, F_OK), 0);
	}
	cache_put(&cache, "objects", &key, in);
	ck_assert(cache_get(&cache, "objects", &key, out));
	buf_free(&whole);
	free(path);
}
END_TEST

START_TEST(the_least_used_go_first)
{
	struct hash128 k[3] = {hash_bytes("a", 1), hash_bytes("b", 1), hash_bytes("c", 1)};
	int i;

	for (i = 0; i < 3; i++) {
		cache_put(&cache, "objects", &k[i], in);
		usleep(20000);
	}
	ck_assert(cache_get(&cache, "objects", &k[0], out));
	cache_prune(&cache, 2 * (strlen("the object") + 24));
	ck_assert(cache_get(&cache, "objects", &k[0], out));
	ck_assert(!cache_get(&cache, "objects", &k[1], out));
	ck_assert(cache_get(&cache, "objects", &k[2], out));
	cache_prune(&cache, 0);
	ck_assert(!cache_get(&cache, "objects", &k[0], out));
}
END_TEST

START_TEST(no_folder_no_cache)
{
	struct cache none;
	char path[128];

	snprintf(path, sizeof path, "%s/in/below-a-file", dir);
	cache_open(&none, path);
	ck_assert_ptr_null(none.dir);
	cache_put(&none, "objects", &key, in);
	ck_assert(!cache_get(&none, "objects", &key, out));
	cache_prune(&none, 0);
	cache_close(&none);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("editcache");
	TCase *t = tcase_create("cache");
	SRunner *sr = srunner_create(s);
	int failed;

	log_init("editcache", LOG_LVL_ERROR);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, gives_back_what_was_put);
	tcase_add_test(t, an_empty_object_is_one);
	tcase_add_test(t, damage_is_noticed);
	tcase_add_test(t, the_least_used_go_first);
	tcase_add_test(t, no_folder_no_cache);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
