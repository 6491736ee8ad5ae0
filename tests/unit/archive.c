/* hooks/archive: archives as ar writes them, and as nobody should. */
#include "hooks/archive.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void member(struct buf *b, const char *name, const char *content, int size)
{
	char header[64];

	snprintf(
	    header, sizeof header, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, 0, 0, 0, 0644, size);
	buf_add(b, header, 60);
	if (content)
		buf_add(b, content, (size_t)size);
	if (content && size & 1)
		buf_char(b, '\n');
}

static struct buf usual(void)
{
	struct buf b = {0};

	buf_str(&b, "!<arch>\n");
	member(&b, "/", "index", 5);
	member(&b, "//", "a_very_long_member_name.o/\nx y z.o/\n", 36);
	member(&b, "f.o/", "FFF", 3);
	member(&b, "/0", "LONG", 4);
	member(&b, "/27", "XY", 2);
	member(&b, "f.o/", "again", 5);
	return b;
}

START_TEST(members_in_order)
{
	static const char *const name[] = {"f.o", "a_very_long_member_name.o", "x y z.o", "f.o"};
	static const char *const content[] = {"FFF", "LONG", "XY", "again"};
	struct buf b = usual();
	struct archive ar;
	struct arena a = {0};
	struct err e;
	size_t i;

	ck_assert(archive_magic(b.p, b.n));
	ck_assert_msg(archive_read(&ar, &a, b.p, b.n, "x.a", &e) == 0, "%s", e.text);
	ck_assert(!ar.thin);
	ck_assert_uint_eq(ar.member.n, 4);
	for (i = 0; i < 4; i++) {
		ck_assert_str_eq(ar.member.v[i].name, name[i]);
		ck_assert_uint_eq(ar.member.v[i].size, strlen(content[i]));
		ck_assert(!memcmp(b.p + ar.member.v[i].at, content[i], strlen(content[i])));
	}
	archive_free(&ar);
	arena_free(&a);
	buf_free(&b);
}
END_TEST

START_TEST(thin)
{
	struct buf b = {0};
	struct archive ar;
	struct arena a = {0};

	buf_str(&b, "!<thin>\n");
	member(&b, "/", "index.", 6);
	member(&b, "//", "dir/f.o/\n/abs/g.o/\n", 19);
	member(&b, "/0", NULL, 123456);
	member(&b, "/9", NULL, 7);
	ck_assert(archive_read(&ar, &a, b.p, b.n, "x.a", NULL) == 0);
	ck_assert(ar.thin);
	ck_assert_uint_eq(ar.member.n, 2);
	ck_assert_str_eq(ar.member.v[0].name, "dir/f.o");
	ck_assert_str_eq(ar.member.v[1].name, "/abs/g.o");
	archive_free(&ar);
	arena_free(&a);
	buf_free(&b);
}
END_TEST

START_TEST(bsd_names)
{
	struct buf b = {0};
	struct archive ar;
	struct arena a = {0};

	buf_str(&b, "!<arch>\n");
	member(&b, "#1/8", "name.o\0\0DATA", 12);
	ck_assert(archive_read(&ar, &a, b.p, b.n, "x.a", NULL) == 0);
	ck_assert_str_eq(ar.member.v[0].name, "name.o");
	ck_assert_uint_eq(ar.member.v[0].size, 4);
	ck_assert(!memcmp(b.p + ar.member.v[0].at, "DATA", 4));
	archive_free(&ar);
	arena_free(&a);
	buf_free(&b);
}
END_TEST

START_TEST(empty)
{
	struct archive ar;
	struct arena a = {0};

	ck_assert(archive_read(&ar, &a, "!<arch>\n", 8, "x.a", NULL) == 0);
	ck_assert_uint_eq(ar.member.n, 0);
	archive_free(&ar);
}
END_TEST

/* One byte cut off, or one changed: an error or another list, no more. */
START_TEST(garbled)
{
	static const char odd[] = {'\0', '9', '/', '\xff', ' ', '\n'};
	struct buf b = usual();
	struct arena a = {0};
	struct archive ar;
	size_t n, k;
	char *copy;

	for (n = 0; n < b.n; n++) {
		copy = xmalloc(n);
		memcpy(copy, b.p, n);
		if (!archive_read(&ar, &a, copy, n, "x.a", NULL))
			archive_free(&ar);
		free(copy);
		for (k = 0; k < sizeof odd; k++) {
			copy = xmalloc(b.n);
			memcpy(copy, b.p, b.n);
			copy[n] = odd[k];
			if (!archive_read(&ar, &a, copy, b.n, "x.a", NULL))
				archive_free(&ar);
			free(copy);
		}
	}
	arena_free(&a);
	buf_free(&b);
}
END_TEST

static void refuse(const char *name, int size, const char *tail)
{
	struct buf b = {0};
	struct archive ar;
	struct arena a = {0};
	struct err e = {""};

	buf_str(&b, "!<arch>\n");
	member(&b, name, NULL, size);
	buf_str(&b, tail);
	ck_assert(archive_read(&ar, &a, b.p, b.n, "x.a", &e) == -1);
	ck_assert(strstr(e.text, "x.a: garbled archive") != NULL);
	arena_free(&a);
	buf_free(&b);
}

START_TEST(lies)
{
	refuse("f.o/", 1000, "short");
	refuse("/77", 2, "ab");
	refuse("/", 2, "abgarbage");
	refuse("#1/99", 4, "abcd");
	refuse("/x", 2, "ab");
}
END_TEST

UNIT_MAIN("archive", 0, NULL, NULL, members_in_order, thin, bsd_names, empty, garbled, lies)
