/* hooks/face: what linkers read of shared libraries, kept between links. */
#include "hooks/face.h"
#include "common/pack.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char dir[64], lib[80];
static struct buf bytes;
static struct err e;

/* In the place of the library as it is, another file. */
static void put_library(const char *from, time_t age)
{
	struct timespec when[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};

	bytes.n = 0;
	ck_assert_int_eq(file_read(from, 0, &bytes, &e), 0);
	ck_assert_int_eq(publish_bytes(lib, bytes.p, bytes.n, 0644, &e), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, lib, when, 0), 0);
}

static void setup(void)
{
	strcpy(dir, "/tmp/morph-face-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(lib, sizeof lib, "%s/lib.so", dir);
	setenv("MORPH_ARTIFACTS", dir, 1);
	put_library("/lib/x86_64-linux-gnu/libm.so.6", 7200);
}

static void teardown(void)
{
	dir_remove(dir, NULL);
	buf_free(&bytes);
}

/* Whether one was kept; made now where none was. */
static bool find(struct face *f, const char *named)
{
	memset(f, 0, sizeof *f);
	if (face_find(f, lib, named))
		return true;
	ck_assert_msg(!face_make(f, bytes.p, bytes.n, named, &e), "%s", e.text);
	return false;
}

static bool found(const char *named)
{
	struct face f;
	bool is = find(&f, named);
	struct buf out = {0};

	ck_assert_msg(!unpack_bytes(f.z.p, f.z.n, f.size, &f.hash, &out, &e), "%s", e.text);
	buf_free(&out);
	face_free(&f);
	return is;
}

START_TEST(kept_as_made)
{
	struct face a, b;

	ck_assert(!find(&a, NULL));
	ck_assert(find(&b, NULL));
	ck_assert_uint_eq(a.size, b.size);
	ck_assert(hash_equal(&a.hash, &b.hash));
	ck_assert_mem_eq(a.z.p, b.z.p, a.z.n);
	ck_assert_uint_eq(a.z.n, b.z.n);
	ck_assert_str_eq(a.kept, b.kept);
	face_free(&a);
	face_free(&b);
	ck_assert(!found("/another/name.so"));
	ck_assert(found("/another/name.so"));
}
END_TEST

START_TEST(another_library_in_its_place)
{
	ck_assert(!found(NULL));
	put_library("/lib/x86_64-linux-gnu/libc.so.6", 7200);
	ck_assert(!found(NULL));
	ck_assert(found(NULL));
}
END_TEST

START_TEST(new_libraries_are_not_kept)
{
	put_library("/lib/x86_64-linux-gnu/libm.so.6", 60);
	ck_assert(!found(NULL));
	ck_assert(!found(NULL));
}
END_TEST

/* Each spoils a file that is kept. */
static void cut(const char *path)
{
	ck_assert_int_eq(truncate(path, 1000), 0);
}

static void empty(const char *path)
{
	ck_assert_int_eq(truncate(path, 0), 0);
}

static void change(const char *path)
{
	int fd = open(path, O_WRONLY);

	ck_assert_int_eq(pwrite(fd, "\0\1\2\3", 4, 2000), 4);
	close(fd);
}

static void let_others_write(const char *path)
{
	ck_assert_int_eq(chmod(path, 0666), 0);
}

static void into_a_folder(const char *path)
{
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void (*const spoil[])(const char *) = {cut, empty, change, let_others_write, into_a_folder};

START_TEST(spoiled_ones_are_made_again)
{
	struct face f;

	find(&f, NULL);
	spoil[_i](f.kept);
	face_free(&f);
	ck_assert(!found(NULL));
}
END_TEST

START_TEST(of_another_user)
{
	struct face f;

	find(&f, NULL);
	if (!geteuid()) {
		ck_assert_int_eq(chown(f.kept, 65534, 65534), 0);
		ck_assert(!found(NULL));
	}
	face_free(&f);
}
END_TEST

START_TEST(without_a_store)
{
	setenv("MORPH_ARTIFACTS", "/proc/no/such", 1);
	ck_assert(!found(NULL));
	ck_assert(!found(NULL));
	unsetenv("MORPH_ARTIFACTS");
	unsetenv("HOME");
	ck_assert(!found(NULL));
}
END_TEST

START_TEST(no_library)
{
	struct face f = {0};

	ck_assert(!face_find(&f, "/no/such/library", NULL));
	ck_assert_int_eq(face_make(&f, "no library", 10, NULL, &e), -1);
	face_free(&f);
}
END_TEST

UNIT_MAIN("face", 0, setup, teardown, kept_as_made, another_library_in_its_place,
    new_libraries_are_not_kept,
    UNIT_LOOP(spoiled_ones_are_made_again, sizeof spoil / sizeof *spoil), of_another_user,
    without_a_store, no_library)
