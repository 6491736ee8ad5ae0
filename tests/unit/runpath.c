#include "common/publish.h"
#include "common/spawn.h"
#include "editor-driver/proof/runpath.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];
static struct buf linked, other;

static void sh(const char *command)
{
	struct spawn s = {.argv = (const char *const[]){"sh", "-ec", command, NULL}};
	struct err e = {""};

	ck_assert_msg(spawn_run(&s, &e) == 0, "%s: %s", command, e.text);
}

static void load(const char *path, struct buf *b)
{
	struct err e = {""};

	b->n = 0;
	ck_assert_msg(!file_read(path, 0, b, &e), "%s", e.text);
}

static void enter(void)
{
	strcpy(dir, "/tmp/morph-runpath-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	sh("echo 'int main(void) { return 0; }' >a.c; gcc -Wl,-rpath,/first/path a.c -o a;"
	   "gcc -Wl,-rpath,/first/path -O2 -DX a.c -o b; gcc a.c -o none;"
	   "gcc -Wl,-rpath,/longer/first/path a.c -o c");
	load("a", &linked);
	load("b", &other);
}

static void leave(void)
{
	buf_free(&linked);
	buf_free(&other);
	ck_assert_int_eq(chdir("/"), 0);
	dir_remove(dir, NULL);
}

static struct runpath find(const struct buf *b)
{
	struct err e = {""};
	struct runpath r;

	ck_assert_msg(!runpath_find(b, &r, &e), "%s", e.text);
	return r;
}

START_TEST(it_is_found_where_there_is_one)
{
	struct runpath r = find(&linked);

	ck_assert_uint_eq(r.n, strlen("/first/path"));
	ck_assert(!memcmp(linked.p + r.strings + r.at, "/first/path", r.n + 1));
	load("none", &other);
	ck_assert_uint_eq(find(&other).n, 0);
}
END_TEST

/* In place by bytes and a NUL, as installers write. */
static struct buf changed(const struct runpath *r, const char *path)
{
	struct buf b = {0};

	buf_add(&b, linked.p, linked.n);
	memcpy(b.p + r->strings + r->at, path, strlen(path) + 1);
	return b;
}

START_TEST(without_it_both_are_the_same)
{
	struct runpath r = find(&linked);
	struct buf b = changed(&r, "/x");

	ck_assert(memcmp(b.p, linked.p, b.n));
	runpath_remove(&b, &r);
	/* Again of one that has none. */
	runpath_remove(&b, &r);
	runpath_remove(&linked, &r);
	ck_assert(!memcmp(b.p, linked.p, b.n));
	ck_assert_uint_eq(find(&b).n, 0);
	b.n = 100; /* cut off: left alone */
	runpath_remove(&b, &r);
	buf_free(&b);
}
END_TEST

START_TEST(it_is_carried_over)
{
	struct runpath r = find(&linked), m = find(&other), now;
	struct buf b = changed(&r, "/x");
	struct err e;

	ck_assert_int_eq(runpath_carry(&linked, &r, &other, &m, &e), 0);
	ck_assert_int_eq(runpath_carry(&b, &r, &other, &m, &e), 1);
	now = find(&other);
	ck_assert_uint_eq(now.n, 2);
	ck_assert(!memcmp(other.p + now.strings, b.p + r.strings, r.strings_n));
	/* And none. */
	runpath_remove(&b, &r);
	load("b", &other);
	ck_assert_int_eq(runpath_carry(&b, &r, &other, &m, &e), 1);
	ck_assert_uint_eq(find(&other).n, 0);
	buf_free(&b);
}
END_TEST

START_TEST(other_strings_are_refused)
{
	struct runpath r = find(&linked), m;
	struct buf b = changed(&r, "/x");
	struct err e;

	load("c", &other);
	m = find(&other);
	ck_assert_int_eq(runpath_carry(&b, &r, &other, &m, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "strings"));
	load("none", &other);
	m = find(&other);
	ck_assert_int_eq(runpath_carry(&b, &r, &other, &m, &e), -1);
	load("b", &other);
	m = find(&other);
	other.p[other.n > m.strings ? m.strings + 1 : 0] ^= 1;
	ck_assert_int_eq(runpath_carry(&b, &r, &other, &m, &e), -1);
	buf_free(&b);
}
END_TEST

UNIT_MAIN("runpath", 60, enter, leave, it_is_found_where_there_is_one, without_it_both_are_the_same,
    it_is_carried_over, other_strings_are_refused)
