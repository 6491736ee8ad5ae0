#include "common/textpack.h"
#include "common/pack.h"
#include "tests/unit/unit.h"

#include <string.h>

static void free_streams(struct buf s[TEXT_STREAMS])
{
	int i;

	for (i = 0; i < TEXT_STREAMS; i++)
		buf_free(&s[i]);
}

static void round_trip(const char *p, size_t n)
{
	struct buf s[TEXT_STREAMS] = {0}, out = {0};
	struct err e = {""};

	ck_assert(text_split(p, n, s));
	ck_assert_msg(!text_join(s, n, &out, &e), "%s: %.40s", e.text, p);
	ck_assert(out.n == n && !memcmp(out.p, p, n));
	free_streams(s);
	buf_free(&out);
}

START_TEST(texts_come_back)
{
	static const char *const text[] = {
	    "\n",
	    "\n\n\t\n",
	    "f:\n\tmovq\t%rax, 8(%rsp)\n\tjmp\t.L3\n.L0:\n\tcall\tg@PLT\n\tlock addl "
	    "$-5,(%rdi)\n.L1:\n",
	    ".L7:\n.L07:\n.L7\n.L99999999999999999999:\n.L4: nop\n.Lx:\n\t.quad .L1-.L7+3\n",
	    "\t.string\t\"a\\\"b, 7 .L3\"\n\t.string \"\"\n\t.ascii\t\"x\\\\\", "
	    "\"y\"\n\t.string\t\"open\n",
	    "\t.section\t.rodata.str1.1,\"aMS\",@progbits,1\n\t.type\tf, @function\n\t.size\tf, "
	    ".-f\n",
	    "\tmovl $0, -0(%rax)\n\tmovl $007, 0x10(%rbx)\n\tmovl $-9223372036854775808, 1a\n",
	    "#APP\n# 1 \"a.c\" 1\n1:\tjmp 1b; nop // \xc3\xa4\r\n\tvaddps %zmm1{%k1}{z}, %st(3)\n",
	    "\t.long\t1,2,-3\n\t%a %1 %\n%rax\n\t.a %rax\n",
	};
	size_t i;

	for (i = 0; i < sizeof text / sizeof *text; i++)
		round_trip(text[i], strlen(text[i]));
}
END_TEST

/* More symbols, forms and registers than have a short number, each met again. */
START_TEST(many_of_all_come_back)
{
	struct buf b = {0};
	unsigned i, k;

	for (k = 0; k < 3; k++)
		for (i = 0; i < 1200; i++)
			buf_printf(
			    &b, "\top%u\t%%r%u, sym%u\n", i % 700, i * 7 % 400, i * (k + 1) % 1000);
	round_trip(b.p, b.n);
	buf_free(&b);
}
END_TEST

START_TEST(other_things_are_no_texts)
{
	struct buf s[TEXT_STREAMS] = {0};

	ck_assert(!text_split("", 0, s));
	ck_assert(!text_split("a", 1, s));
	ck_assert(!text_split("a\0\n", 3, s));
	ck_assert(!text_split("\6\n", 2, s));
	ck_assert_ptr_null(s[0].p);
}
END_TEST

/* Streams that say something else give a text of that size or nothing (the sanitizers watch). */
START_TEST(damaged_streams_do_no_harm)
{
	static const char text[] =
	    "f:\n\tmovq\t%rax, 8(%rsp)\n\tjmp\t.L3\n.L0:\n\tcall\tg@PLT\n"
	    "\t.string\t\"abc\"\n\tcall\tf\n\tcall\tg\n\taddq\t$-70000, %rcx\n";
	struct buf s[TEXT_STREAMS] = {0}, out = {0};
	unsigned seed = 1, i, k;
	size_t was[TEXT_STREAMS];
	struct err e;

	ck_assert(text_split(text, sizeof text - 1, s));
	for (i = 0; i < TEXT_STREAMS; i++)
		was[i] = s[i].n;
	ck_assert_int_eq(text_join(s, sizeof text, &out, &e), -1);
	ck_assert_int_eq(text_join(s, sizeof text - 2, &out, &e), -1);
	for (i = 0; i < 20000; i++) {
		struct buf *x = &s[rand_r(&seed) % TEXT_STREAMS];
		char *at = x->p + (x->n ? rand_r(&seed) % x->n : 0), old = x->n ? *at : 0;

		if (x->n)
			*at = (char)rand_r(&seed);
		if (i % 3 == 0)
			x->n = x->n ? rand_r(&seed) % x->n : 0;
		out.n = 2;
		if (text_join(s, sizeof text - 1, &out, &e))
			ck_assert_uint_eq(out.n, 2);
		else
			ck_assert_uint_eq(out.n, 2 + sizeof text - 1);
		for (k = 0; k < TEXT_STREAMS; k++)
			s[k].n = was[k];
		if (x->n)
			*at = old;
	}
	free_streams(s);
	buf_free(&out);
}
END_TEST

START_TEST(strings_are_packed_to_a_bound)
{
	struct buf in[3] = {0}, out[3] = {0}, z = {0};
	struct err e;
	int i;

	memset(buf_grow(&in[0], 100000), 'x', 100000);
	buf_str(&in[2], "short");
	pack_small(in, 3, 0, &z);
	ck_assert_uint_lt(z.n, 200);
	ck_assert_int_eq(unpack_small(z.p, z.n, 100005, 0, out, 3, &e), 0);
	for (i = 0; i < 3; i++) {
		ck_assert(out[i].n == in[i].n && (!in[i].n || !memcmp(out[i].p, in[i].p, in[i].n)));
		out[i].n = 0;
	}
	ck_assert_int_eq(unpack_small(z.p, z.n, 100004, 0, out, 3, &e), -1);
	ck_assert_int_eq(unpack_small(z.p, z.n, 100005, 16, out, 3, &e), -1);
	ck_assert_int_eq(unpack_small(z.p, z.n - 1, 100005, 0, out, 3, &e), -1);
	ck_assert_int_eq(unpack_small(z.p, z.n, 100005, 0, out, 2, &e), -1);
	z.p[8] ^= 1;
	ck_assert_int_eq(unpack_small(z.p, z.n, 100005, 0, out, 3, &e), -1);
	z.n = 0;
	pack_small(in, 3, 16, &z);
	ck_assert_uint_gt(z.n, 100000);
	for (i = 0; i < 3; i++) {
		buf_free(&in[i]);
		buf_free(&out[i]);
	}
	buf_free(&z);
}
END_TEST

UNIT_MAIN("textpack", 120, NULL, NULL, texts_come_back, many_of_all_come_back,
    other_things_are_no_texts, damaged_streams_do_no_harm, strings_are_packed_to_a_bound)
