/* hooks/linkmap: what linkers wrote about a link. */
#include "hooks/linkmap.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static void expect_of(enum linker linker, const char *text, const char *files)
{
	struct args a = {0};
	char *joined;

	depfile_read(linker, text, strlen(text), &a);
	joined = args_join(&a, '|');
	ck_assert_str_eq(joined, files);
	free(joined);
	args_free(&a);
}

static void expect_files(const char *text, const char *files)
{
	expect_of(LINKER_GNU, text, files);
}

START_TEST(dependency_file_of_others)
{
	expect_of(LINKER_LLD, "o: \\\n a\\ $$x\\#b.o \\\n l.a\n\na\\ $$x\\#b.o:\n\nl.a:\n",
	    "a $x#b.o|l.a");
	expect_of(LINKER_LLD, "o: \\\n a\\b.o\n\na\\b.o:\n", "a\\b.o");
	expect_of(LINKER_MOLD, "o: a b.o l.a\n\na b.o:\n\nl.a:\n\nl.a:\n", "a b.o|l.a");
	expect_of(LINKER_MOLD, "o: a.o", "");
	expect_of(LINKER_MOLD, "", "");
	expect_of(LINKER_GOLD, "o: \\\n  a b.o \\\n  l.a\n\na b.o:\n\nl.a:\n", "a b.o|l.a");
}
END_TEST

START_TEST(columns)
{
	static const char lld[] =
	    "             VMA              LMA     Size Align Out     In      Symbol\n"
	    "          201158           201158       10     1 .text\n"
	    "          201158           201158       10     1         d/libx.a(f.o):(.text)\n"
	    "          201158           201158        0     1                 n::(anonymous)::f()\n"
	    "               0                0       1a     1         <internal>:(.comment)\n";
	static const char mold[] = "               VMA       Size Align Out     In      Symbol\n"
				   "          0x20120c         16     1         a b.o:(.text)\n"
				   "          0x20120c          0     0                 a.o:(.x)\n"
				   "          0x20120c          1     1         a.o:(";
	static const char extracted[] = "reference\textracted\tsymbol\n"
					"a.o\t./l.a(b.o)\tg\nx\ncut\t./l.a(c.o)";
	struct linkmap m = {0};

	linkmap_read(&m, lld, strlen(lld));
	linkmap_read(&m, mold, strlen(mold));
	linkmap_read_extracted(&m, extracted, strlen(extracted));
	ck_assert(linkmap_has(&m, "d/libx.a", "f.o"));
	ck_assert(linkmap_has(&m, "a b.o", NULL));
	ck_assert(linkmap_has(&m, "./l.a", "b.o"));
	ck_assert(!linkmap_has(&m, "./l.a", "c.o"));
	ck_assert(!linkmap_has(&m, "n:", NULL));
	ck_assert_uint_eq(m.files.n, 5);
	ck_assert_uint_eq(m.symbol.n, 1);
	ck_assert_str_eq(m.member.v[0], "./l.a(b.o)");
	ck_assert_str_eq(m.by.v[0], "a.o");
	ck_assert_str_eq(m.symbol.v[0], "g");
	linkmap_free(&m);
}
END_TEST

START_TEST(dependency_file)
{
	expect_files("prog: \\\n  crt1.o \\\n  a b.o \\\n  ./libx.a \\\n  crt1.o \\\n  libc.so\n\n"
		     "crt1.o:\n\na b.o:\n",
	    "crt1.o|a b.o|./libx.a|libc.so");
}
END_TEST

START_TEST(dependency_file_odd)
{
	expect_files("", "");
	expect_files("prog:", "");
	expect_files("prog: \\\n  a.o", "a.o");
	expect_files("prog: \\\n  a.o \\", "a.o");
	expect_files("prog: \\\n\n  a.o \\\n", "");
	expect_files("a: b: \\\n  x\\y.o \\\n  z \\ \\\n", "x\\y.o|z \\");
}
END_TEST

static const char map[] =
    "Archive member included to satisfy reference by file (symbol)\n"
    "\n"
    "./libx.a(f.o)                 a.o (f)\n"
    "/usr/lib/gcc/x86_64-linux-gnu/12/../../../x86_64-linux-gnu/libc.a(libc-start.o)\n"
    "                              crt1.o (__libc_start_main)\n"
    "d (1)/lib y.a(m (2).o)        b c.o (symbol from plugin) (g)\n"
    "\n"
    "Discarded input sections\n"
    "\n"
    " .note.GNU-stack\n"
    "                0x0000000000000000        0x0 ./libx.a(only_discarded.o)\n"
    "Linker script and memory map\n"
    "\n"
    "LOAD a.o\n"
    "LOAD never.o\n"
    " .text          0x0000000000001180       0x15 ./libx.a(g.o)\n"
    " .text          0x00000000000011a0        0x4 thin/h.o\n"
    " *fill*         0x0000000000001195        0xb \n"
    "                0x00000000000011a0                h\n"
    " .eh_frame      0x0000000000002118       0x18 s p/a b.o\n"
    "                                         0x2f (size before relaxing)\n"
    " .text 0x1 0x2 lib(3)/z.o";

START_TEST(members)
{
	struct linkmap m = {0};

	linkmap_read(&m, map, strlen(map));
	ck_assert(linkmap_has(&m, "./libx.a", "f.o"));
	ck_assert(linkmap_has(&m, "./libx.a", "g.o"));
	ck_assert(linkmap_has(&m, "./libx.a", "only_discarded.o"));
	ck_assert(!linkmap_has(&m, "./libx.a", "h.o"));
	ck_assert(!linkmap_has(&m, "libx.a", "f.o"));
	ck_assert(linkmap_has(&m,
	    "/usr/lib/gcc/x86_64-linux-gnu/12/../../../x86_64-linux-gnu/libc.a", "libc-start.o"));
	ck_assert(linkmap_has(&m, "thin/h.o", NULL));
	ck_assert(linkmap_has(&m, "s p/a b.o", NULL));
	ck_assert(linkmap_has(&m, "lib(3)/z.o", NULL));
	ck_assert_uint_eq(m.by.n, 3);
	ck_assert_str_eq(m.by.v[0], "a.o");
	ck_assert_str_eq(m.symbol.v[0], "f");
	ck_assert_str_eq(m.by.v[1], "crt1.o");
	ck_assert_str_eq(m.symbol.v[1], "__libc_start_main");
	ck_assert_str_eq(m.by.v[2], "b c.o");
	ck_assert_str_eq(m.symbol.v[2], "g");
	ck_assert_str_eq(m.member.v[0], "./libx.a(f.o)");
	ck_assert_str_eq(m.member.v[1],
	    "/usr/lib/gcc/x86_64-linux-gnu/12/../../../x86_64-linux-gnu/libc.a(libc-start.o)");
	ck_assert_str_eq(m.member.v[2], "d (1)/lib y.a(m (2).o)");
	ck_assert(!linkmap_has(&m, "never.o", NULL));
	ck_assert(!linkmap_has(&m, "h", NULL));
	linkmap_free(&m);
}
END_TEST

START_TEST(cut_off)
{
	struct linkmap m;
	size_t n;
	char *copy;

	for (n = 0; n < sizeof map; n++) {
		copy = xmalloc(n);
		memcpy(copy, map, n);
		m = (struct linkmap){0};
		linkmap_read(&m, copy, n);
		linkmap_free(&m);
		free(copy);
	}
}
END_TEST

UNIT_MAIN("linkmap", 0, NULL, NULL, dependency_file, dependency_file_odd, dependency_file_of_others,
    columns, members, cut_off)
