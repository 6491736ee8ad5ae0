#include "common/profiletext/funclist.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct funclist l;
static struct err e;

static void setup(void)
{
	l = (struct funclist){0};
	e.text[0] = '\0';
}

static void teardown(void)
{
	funclist_free(&l);
}

static int parse(const char *p, size_t n)
{
	struct buf text = {0};

	funclist_free(&l);
	buf_add(&text, p, n);
	return funclist_parse(&l, &text, "f", &e);
}

static void refuses(const char *p, size_t n, const char *why)
{
	ck_assert_int_eq(parse(p, n), -1);
	ck_assert_str_eq(e.text, why);
}
#define REFUSES(text, why) refuses(text, sizeof(text) - 1, why)

START_TEST(names_of_all_linkers)
{
	static const char text[] =
	    "# order\n\n main\t\r\n_ZN1a1bEv\n.text._Z1cv\nx.o:d\n"
	    "lib.a(x.o):e\n.text:f\nx.o:.text.g\n  # more\ngcc.part.0\n.text.h";
	static const char *const want[] = {
	    "main", "_ZN1a1bEv", "_Z1cv", "d", "e", "f", "g", "gcc.part.0", "h"};
	size_t i;

	ck_assert_msg(!parse(text, sizeof text - 1), "%s", e.text);
	ck_assert_uint_eq(l.name.n, sizeof want / sizeof *want);
	for (i = 0; i < l.name.n; i++) {
		ck_assert_str_eq(l.name.v[i], want[i]);
		ck_assert_uint_eq(*htab_get_str(&l.index, want[i]), i);
	}
	ck_assert_ptr_null(htab_get_str(&l.index, "# order"));
}
END_TEST

START_TEST(nothing_is_a_list)
{
	ck_assert_int_eq(parse("", 0), 0);
	ck_assert_int_eq(parse("\n#a\n \n", 6), 0);
	ck_assert_uint_eq(l.name.n, 0);
}
END_TEST

START_TEST(what_is_wrong)
{
	REFUSES("a\nb\na\n", "f: line 3: 'a' is in the list already");
	REFUSES("a\n\nx.o:.text.a", "f: line 3: 'a' is in the list already");
	REFUSES("a\nb\0c\n", "f: line 2: not the name of a function");
	REFUSES("a b\n", "f: line 1: not the name of a function");
	REFUSES("x.o:\n", "f: line 1: not the name of a function");
	REFUSES("a\n.text.*\n", "f: line 2: not the name of a function");
	REFUSES("\x7f"
		"ELF\n",
	    "f: line 1: not the name of a function");
	REFUSES("a\x1b[m\n", "f: line 1: not the name of a function");
}
END_TEST

START_TEST(long_lines)
{
	struct buf text = {0};
	size_t i;

	for (i = 0; i < FUNCLIST_NAME; i++)
		buf_char(&text, 'x');
	ck_assert_int_eq(parse(text.p, text.n), 0);
	ck_assert_uint_eq(strlen(l.name.v[0]), FUNCLIST_NAME);
	buf_char(&text, 'x');
	refuses(text.p, text.n, "f: line 1: longer than 65536 bytes");
	buf_free(&text);
}
END_TEST

UNIT_MAIN("funclist", 20, setup, teardown, names_of_all_linkers, nothing_is_a_list, what_is_wrong,
    long_lines)
