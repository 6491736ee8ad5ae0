#include "common/mem.h"
#include "common/err.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

START_TEST(buffers_grow)
{
	struct buf b = {0};
	size_t i;

	for (i = 0; i < 10000; i++)
		buf_char(&b, (char)('a' + i % 26));
	ck_assert_uint_eq(b.n, 10000);
	ck_assert_int_eq(b.p[9999], 'a' + 9999 % 26);
	b.n = 0;
	buf_str(&b, "x=");
	buf_printf(&b, "%d/%s", 42, "yz");
	buf_add(&b, NULL, 0);
	ck_assert_str_eq(buf_cstr(&b), "x=42/yz");
	ck_assert_uint_eq(b.n, 7);
	memset(buf_grow(&b, 3), '!', 3);
	ck_assert_str_eq(buf_cstr(&b), "x=42/yz!!!");
	buf_free(&b);
	ck_assert(!b.p && !b.n && !b.cap);
	ck_assert_str_eq(buf_cstr(&b), "");
	buf_free(&b);
}
END_TEST

START_TEST(numbers_are_printed)
{
	static const uint64_t v[] = {0, 7, 10, 4294967296, UINT64_MAX};
	char want[32];
	struct buf b = {0};
	size_t i;

	for (i = 0; i < sizeof v / sizeof *v; i++) {
		b.n = 0;
		buf_decimal(&b, v[i]);
		snprintf(want, sizeof want, "%llu", (unsigned long long)v[i]);
		ck_assert_str_eq(buf_cstr(&b), want);
	}
	buf_free(&b);
}
END_TEST

START_TEST(numbers_come_back)
{
	static const uint64_t v[] = {
	    0, 1, 127, 128, 300, 16383, 16384, UINT32_MAX, (uint64_t)1 << 63, UINT64_MAX};
	static const size_t size[] = {1, 1, 1, 2, 2, 2, 3, 5, 10, 10};
	size_t i, cut;

	for (i = 0; i < sizeof v / sizeof *v; i++) {
		struct buf b = {0};
		const uint8_t *p;
		uint64_t got;

		buf_uleb(&b, v[i]);
		ck_assert_uint_eq(b.n, size[i]);
		p = (const uint8_t *)b.p;
		ck_assert_int_eq(uleb_read(&p, p + b.n, &got), 0);
		ck_assert_uint_eq(got, v[i]);
		ck_assert_ptr_eq(p, b.p + b.n);
		for (cut = 0; cut < b.n; cut++) {
			p = (const uint8_t *)b.p;
			ck_assert_int_eq(uleb_read(&p, p + cut, &got), -1);
		}
		buf_free(&b);
	}
}
END_TEST

/* More than 64 bits, in value or in length. */
START_TEST(long_numbers_are_refused)
{
	static const uint8_t two_to_64[] = {
	    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02};
	static const uint8_t eleven[] = {
	    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
	static const uint8_t padded[] = {0x81, 0x80, 0x00};
	const uint8_t *p = two_to_64;
	uint64_t v;

	ck_assert_int_eq(uleb_read(&p, p + sizeof two_to_64, &v), -1);
	p = eleven;
	ck_assert_int_eq(uleb_read(&p, p + sizeof eleven, &v), -1);
	/* Padding within 64 bits is fine: assemblers write it. */
	p = padded;
	ck_assert_int_eq(uleb_read(&p, p + sizeof padded, &v), 0);
	ck_assert_uint_eq(v, 1);
}
END_TEST

START_TEST(arenas_give_zeroed_aligned_memory)
{
	struct arena a = {0};
	size_t i, n, dirty = 0;
	char *p;

	for (i = 0; i < 3000; i++) {
		n = i % 97 == 0 ? 200000 : i % 64;
		p = arena_alloc(&a, n);
		ck_assert_uint_eq((uintptr_t)p % 16, 0);
		while (n--) {
			dirty += p[n];
			p[n] = 1;
		}
	}
	ck_assert_uint_eq(dirty, 0);
	ck_assert_str_eq(arena_strdup(&a, "one"), "one");
	ck_assert_str_eq(arena_strndup(&a, "twofold", 3), "two");
	ck_assert_str_eq(arena_printf(&a, "%s-%d", "three", 3), "three-3");
	arena_free(&a);
	ck_assert_ptr_null(a.chunk);
}
END_TEST

START_TEST(arrays_in_arenas_are_copied_and_grow)
{
	struct arena a = {0};
	uint32_t *v = NULL, *copy, i, cap = 0;

	for (i = 0; i < 1000; i++) {
		v = arena_more(&a, v, i, &cap, sizeof *v);
		ck_assert_uint_gt(cap, i);
		v[i] = 3 * i;
	}
	copy = arena_copy(&a, v, 1000, sizeof *v);
	ck_assert_ptr_ne(copy, v);
	for (i = 0; i < 1000; i++)
		ck_assert_uint_eq(copy[i], 3 * i);
	ck_assert_ptr_nonnull(arena_copy(&a, NULL, 0, sizeof *v));
	arena_free(&a);
}
END_TEST

/* What cannot be had ends the program, with its own status. */
START_TEST(no_memory_ends_the_program)
{
	struct arena a = {0};

	arena_array(&a, SIZE_MAX / 2, 3);
}
END_TEST

START_TEST(an_overflowing_array_ends_the_program)
{
	xrealloc(NULL, SIZE_MAX / 2, 3);
}
END_TEST

struct pair {
	int a, b;
};

START_TEST(vectors_grow)
{
	VEC(struct pair) v = {0};
	int i;

	for (i = 0; i < 1000; i++)
		vec_push(&v, (struct pair){i, -i});
	ck_assert_uint_eq(v.n, 1000);
	ck_assert_int_eq(v.v[777].b, -777);
	vec_free(&v);
	ck_assert(!v.v && !v.n);
}
END_TEST

START_TEST(errors_are_one_line_and_never_overflow)
{
	char longer[3000];
	struct err e;

	ck_assert_int_eq(err_set(&e, "%s:%d", "f", 3), -1);
	ck_assert_int_eq(err_wrap(&e, "policy %s", "p"), -1);
	ck_assert_str_eq(e.text, "policy p: f:3");
	errno = ENOENT;
	ck_assert_int_eq(err_sys(&e, "open"), -1);
	ck_assert_str_eq(e.text, "open: No such file or directory");
	ck_assert_int_eq(errno, ENOENT);
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	err_sys(&e, "%s", longer);
	err_wrap(&e, "%s", longer);
	ck_assert_uint_le(strlen(e.text), sizeof e.text - 1);
	ck_assert_uint_ge(strlen(e.text), sizeof e.text - 10);
	/* However long the path, its begin and what is the matter are there. */
	err_sys(&e, "/home/%s", longer);
	ck_assert(!strncmp(e.text, "/home/xx", 8));
	ck_assert_ptr_nonnull(strstr(e.text, "x: No such file or directory"));
	err_wrap(&e, "policy %s", longer);
	ck_assert_ptr_nonnull(strstr(e.text, "x: No such file or directory"));
	err_fit(longer, 30, "/a/quite/long/path/of/a/file: too odd");
	ck_assert_str_eq(longer, "/a/quite/lon … ile: too odd");
	err_fit(longer, 30, "short");
	ck_assert_str_eq(longer, "short");
	strcpy(longer, "a\nb\t\x1b\x7fä");
	ck_assert_str_eq(err_line(longer), "a b   ä");
	ck_assert_int_eq(err_set(NULL, "nobody asks"), -1);
	ck_assert_int_eq(err_sys(NULL, "nobody asks"), -1);
	ck_assert_int_eq(err_wrap(NULL, "nobody asks"), -1);
}
END_TEST

UNIT_MAIN("mem", 0, NULL, NULL, buffers_grow, numbers_are_printed, numbers_come_back,
    long_numbers_are_refused, arenas_give_zeroed_aligned_memory,
    arrays_in_arenas_are_copied_and_grow, UNIT_EXIT(no_memory_ends_the_program, 70),
    UNIT_EXIT(an_overflowing_array_ends_the_program, 70), vectors_grow,
    errors_are_one_line_and_never_overflow)
