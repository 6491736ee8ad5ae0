/* hooks/functions: what the as hook understood of a unit, for the ld hook. */
#include "hooks/functions.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static const char text[] = "\t.file\t\"dir/a.c\"\n"
			   "\t.text\n"
			   "\t.globl\tf\n"
			   "\t.type\tf, @function\n"
			   "f:\n"
			   "\ttestl\t%edi, %edi\n"
			   "\tje\t.L2\n"
			   "\tincl\t%edi\n"
			   ".L2:\n"
			   "\tmovl\t%edi, %eax\n"
			   "\tret\n"
			   "\t.size\tf, .-f\n"
			   "\t.type\tg, @function\n"
			   "g:\n"
			   "\tret\n"
			   "\t.size\tg, .-g\n"
			   "\t.ident\t\"GCC: (Debian 12.2.0-14) 12.2.0\"\n";

static struct arena mem;
static struct buf b;

static struct unit *put(void)
{
	struct err e = {""};
	struct unit *u = unit_parse(&mem, text, sizeof text - 1, &e);

	ck_assert_msg(u != NULL, "%s", e.text);
	functions_put(&b, u);
	return u;
}

START_TEST(what_was_put_comes_back)
{
	struct unit *u = put();
	struct functions f;
	struct err e;
	uint32_t i, k;

	ck_assert_int_eq(functions_read(&f, &mem, (const uint8_t *)b.p, b.n, &e), 0);
	ck_assert_str_eq(f.name, u->name);
	ck_assert_uint_eq(f.n, 2);
	ck_assert_uint_eq(f.func[0].nblock, 3);
	for (i = 0; i < f.n; i++) {
		ck_assert_str_eq(f.func[i].name, u->func[i].name);
		ck_assert_str_eq(f.func[i].opaque, u->func[i].opaque ? u->func[i].opaque : "");
		ck_assert(hash_equal(&f.func[i].key, &u->func[i].key));
		ck_assert_uint_eq(f.func[i].ord, i);
		ck_assert_uint_eq(f.func[i].nblock, u->func[i].cfg.nblock);
		for (k = 0; k < f.func[i].nblock; k++)
			ck_assert_uint_eq(f.func[i].insns[k], u->func[i].cfg.block[k].insns);
	}
}
END_TEST

START_TEST(other_sizes_are_refused)
{
	struct functions f;
	struct err e;
	uint8_t *copy;
	size_t n;

	put();
	buf_char(&b, 0);
	for (n = 0; n <= b.n; n++) {
		if (n == b.n - 1)
			continue;
		copy = memcpy(xmalloc(n + 1), b.p, n);
		ck_assert_int_eq(functions_read(&f, &mem, copy, n, &e), -1);
		ck_assert_str_eq(e.text, "its table of functions is damaged");
		free(copy);
	}
}
END_TEST

START_TEST(a_gigantic_count_takes_no_memory)
{
	const uint8_t bytes[] = {0, 0xff, 0xff, 0xff, 0xff, 0x0f};
	struct functions f;

	ck_assert_int_eq(functions_read(&f, &mem, bytes, sizeof bytes, NULL), -1);
}
END_TEST

UNIT_MAIN("functions", 0, NULL, NULL, what_was_put_comes_back, other_sizes_are_refused,
    a_gigantic_count_takes_no_memory)
