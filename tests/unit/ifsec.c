#include "common/elf/ifsec.h"
#include "common/le.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static const char text[] = "\t.file\t\"a.c\"\n\t.text\nf:\n\tret\n";

static struct buf none, funcs = {.p = "functions", .n = 9};

static const uint8_t *bytes(const struct buf *b)
{
	return (const uint8_t *)b->p;
}

START_TEST(what_was_put_comes_back)
{
	struct buf b = {0}, out = {0};
	struct ifsec s;
	struct err e;
	const uint8_t *p, *end;

	ifsec_put(&b, "--64\n-mtune=x", &funcs, text, sizeof text - 1);
	ifsec_put(&b, "", &none, "", 0);
	p = bytes(&b);
	end = p + b.n;
	ck_assert_int_eq(ifsec_next(&p, end, &s, &e), 1);
	ck_assert_uint_eq(s.as_args_n, 13);
	ck_assert(!memcmp(s.as_args, "--64\n-mtune=x", 13));
	ck_assert_uint_eq(s.funcs_size, funcs.n);
	ck_assert(!memcmp(s.funcs, funcs.p, funcs.n));
	ck_assert_uint_eq(s.text_size, sizeof text - 1);
	ck_assert_int_eq(ifsec_text(&s, &out, &e), 0);
	ck_assert_uint_eq(out.n, sizeof text - 1);
	ck_assert(!memcmp(out.p, text, out.n));
	ck_assert_int_eq(ifsec_next(&p, end, &s, &e), 1);
	ck_assert_uint_eq(s.as_args_n, 0);
	ck_assert_int_eq(ifsec_text(&s, &out, &e), 0);
	ck_assert_uint_eq(out.n, sizeof text - 1);
	ck_assert_int_eq(ifsec_next(&p, end, &s, &e), 0);
	buf_free(&b);
	buf_free(&out);
}
END_TEST

START_TEST(every_truncation_is_refused)
{
	struct buf b = {0};
	size_t n;

	ifsec_put(&b, "-g", &funcs, text, sizeof text - 1);
	for (n = 1; n < b.n; n++) {
		uint8_t *copy = memcpy(malloc(n), b.p, n);
		const uint8_t *p = copy;
		struct ifsec s;
		struct err e = {0};

		ck_assert_int_eq(ifsec_next(&p, copy + n, &s, &e), -1);
		ck_assert_ptr_nonnull(strstr(e.text, ".morph.if"));
		ck_assert_ptr_eq(p, copy);
		free(copy);
	}
	buf_free(&b);
}
END_TEST

/* One changed bit anywhere must show, in the record or in its text; only the
 * as arguments have no hash over them. */
START_TEST(every_flipped_bit_is_noticed)
{
	struct buf b = {0}, out = {0};
	size_t bit;

	ifsec_put(&b, "", &none, text, sizeof text - 1);
	for (bit = 0; bit < 8 * b.n; bit++) {
		const uint8_t *p = bytes(&b);
		struct ifsec s;
		int r;

		b.p[bit / 8] ^= (char)(1 << bit % 8);
		r = ifsec_next(&p, bytes(&b) + b.n, &s, NULL);
		if (r == 1)
			r = ifsec_text(&s, &out, NULL) < 0 || p != bytes(&b) + b.n ? -1 : 1;
		b.p[bit / 8] ^= (char)(1 << bit % 8);
		/* A flip in the frame's own header may leave the text whole. */
		if (r == 1)
			ck_assert(out.n == sizeof text - 1 && !memcmp(out.p, text, out.n));
		else
			ck_assert_uint_eq(out.n, 0);
		ck_assert(r == -1 || bit / 8 >= 56);
		out.n = 0;
	}
	buf_free(&b);
	buf_free(&out);
}
END_TEST

START_TEST(a_later_format_is_named)
{
	struct buf b = {0};
	struct ifsec s;
	struct err e;
	const uint8_t *p;

	ifsec_put(&b, "", &none, text, sizeof text - 1);
	put_le32(b.p + 8, 3);
	p = bytes(&b);
	ck_assert_int_eq(ifsec_next(&p, p + b.n, &s, &e), -1);
	ck_assert_str_eq(e.text, "section .morph.if: format 3, this Morph reads 2");
	buf_free(&b);
}
END_TEST

START_TEST(a_gigantic_size_takes_no_memory)
{
	struct buf b = {0}, out = {0};
	struct ifsec s;
	struct err e;
	const uint8_t *p;

	ifsec_put(&b, "", &none, text, sizeof text - 1);
	p = bytes(&b);
	ck_assert_int_eq(ifsec_next(&p, p + b.n, &s, &e), 1);
	s.text_size = (uint64_t)1 << 40;
	ck_assert_int_eq(ifsec_text(&s, &out, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "exceeds the limit"));
	ck_assert_uint_eq(out.cap, 0);
	put_le64(b.p + 16, (uint64_t)1 << 40);
	p = bytes(&b);
	ck_assert_int_eq(ifsec_next(&p, p + b.n, &s, &e), -1);
	buf_free(&b);
}
END_TEST

UNIT_MAIN("ifsec", 0, NULL, NULL, what_was_put_comes_back, every_truncation_is_refused,
    every_flipped_bit_is_noticed, a_later_format_is_named, a_gigantic_size_takes_no_memory)
