/* hooks/cccmd: how the hooks get into a compiler's command. */
#include "hooks/cccmd.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static enum cccmd_how how(const char *line, bool clang)
{
	struct args a = {0};
	const char *why;
	enum cccmd_how h;

	args_split(&a, line, strlen(line));
	h = cccmd_read(&a, clang, &why);
	args_free(&a);
	return h;
}

static void expect_why(const char *line, const char *want)
{
	struct args a = {0};
	const char *why;

	args_split(&a, line, strlen(line));
	cccmd_read(&a, true, &why);
	ck_assert_pstr_eq(why, want);
	args_free(&a);
}

static void expect_linker(const char *line, bool clang, const char *want, const char *want_option)
{
	struct args a = {0};
	const char *option;
	char *name;

	args_split(&a, line, strlen(line));
	name = cccmd_linker(&a, clang, &option);
	ck_assert_str_eq(name, want);
	ck_assert_pstr_eq(option, want_option);
	free(name);
	args_free(&a);
}

static int compiler(const char *line)
{
	struct args a = {0};
	int at;

	args_split(&a, line, strlen(line));
	at = cccmd_compiler((int)a.n, args_end(&a));
	args_free(&a);
	return at;
}

static bool probes(const char *line)
{
	struct args a = {0};
	bool is;

	args_split(&a, line, strlen(line));
	is = cccmd_probes(&a, "/b");
	args_free(&a);
	return is;
}

START_TEST(questions_of_configure_scripts)
{
	ck_assert(probes("-c -O2 conftest.c"));
	ck_assert(probes("-O2 conftest.cpp -lm"));
	ck_assert(probes("-o conftest -O2 x.c conftest2.o"));
	ck_assert(probes("-oconftest.o -c main.c"));
	ck_assert(probes("-o CMakeFiles/CMakeScratch/x/y.o -c main.c"));
	ck_assert(probes("-I conftest.d CMakeCCompilerId.c"));
	ck_assert(!probes("conftest.c f.c"));
	ck_assert(!probes("-O2"));
	ck_assert(!probes("-c conftest.c -o main.o"));
	ck_assert(!probes("-include conftest.h -c main.c"));
	ck_assert(!probes("-c main.c -o"));
}
END_TEST

START_TEST(the_compiler_after_launchers)
{
	ck_assert_int_eq(compiler("gcc -c a.c"), 0);
	ck_assert_int_eq(compiler("/usr/bin/x86_64-linux-gnu-gcc-12 -c a.c"), 0);
	ck_assert_int_eq(compiler("ccache gcc -c a.c"), 1);
	ck_assert_int_eq(compiler("/usr/bin/sccache /usr/bin/clang++-19 -c a.c"), 1);
	ck_assert_int_eq(compiler("env A=b nice -n 5 gcc -c a.c"), 5);
	ck_assert_int_eq(compiler("mywrap other gcc -c a.c"), 2);
	ck_assert_int_eq(compiler("mycc -o gcc a.c"), -1);
	ck_assert_int_eq(compiler("tcc -c a.c"), -1);
	ck_assert_int_eq(compiler("ccache"), -1);
}
END_TEST

START_TEST(why_clang_assembles_by_itself)
{
	expect_why("-gsplit-dwarf -g -c a.c", "-gsplit-dwarf");
	expect_why("-m32 -c a.c", "-m32");
	expect_why("-fno-integrated-as -c a.c", NULL);
	expect_why("-m32 a.o", NULL);
	expect_why("-c a.c", NULL);
}
END_TEST

START_TEST(gcc_is_hooked)
{
	ck_assert_int_eq(how("-O2 -c a.c -o a.o", false), CCCMD_HOOK);
	ck_assert_int_eq(how("a.o -o prog", false), CCCMD_HOOK);
	ck_assert_int_eq(how("-x c -", false), CCCMD_HOOK);
	ck_assert_int_eq(how("-c f.S", false), CCCMD_HOOK);
	ck_assert_int_eq(how("-MD -MF x.d -c a.c", false), CCCMD_HOOK);
	ck_assert_int_eq(how("-v", false), CCCMD_HOOK);
}
END_TEST

START_TEST(nothing_to_hook)
{
	static const char *const line[] = {"-E a.c", "-S a.c", "-M a.c", "-MM a.c", "--version",
	    "-dumpmachine", "-print-prog-name=as", "--print-file-name=x", "-fsyntax-only a.c",
	    "-### a.c", "--help", "--help=target"};
	size_t i;

	for (i = 0; i < sizeof line / sizeof *line; i++) {
		ck_assert_int_eq(how(line[i], false), CCCMD_ALONE);
		ck_assert_int_eq(how(line[i], true), CCCMD_ALONE);
	}
}
END_TEST

START_TEST(values_are_no_stops)
{
	ck_assert_int_eq(how("-c a.c -o -E", false), CCCMD_HOOK);
	ck_assert_int_eq(how("-c a.c -MT -S", false), CCCMD_HOOK);
	ck_assert_int_eq(how("a.o -Xlinker -M", false), CCCMD_HOOK);
}
END_TEST

START_TEST(clang_assembles_with_as)
{
	ck_assert_int_eq(how("-O2 -c a.c", true), CCCMD_HOOK_AS);
	ck_assert_int_eq(how("a.cpp b.o -o prog", true), CCCMD_HOOK_AS);
	ck_assert_int_eq(how("-x c - -c -o a.o", true), CCCMD_HOOK_AS);
	ck_assert_int_eq(how("a.o -o prog", true), CCCMD_HOOK);
	ck_assert_int_eq(how("-c a.o -o x.c", true), CCCMD_HOOK);
}
END_TEST

START_TEST(clang_keeps_its_assembler)
{
	ck_assert_int_eq(how("-c f.S", true), CCCMD_HOOK);
	ck_assert_int_eq(how("-x assembler-with-cpp -c f", true), CCCMD_HOOK);
	ck_assert_int_eq(how("-xassembler -c f", true), CCCMD_HOOK);
	ck_assert_int_eq(how("-fintegrated-as -c a.c", true), CCCMD_HOOK);
	ck_assert_int_eq(how("-gsplit-dwarf -g -c a.c", true), CCCMD_HOOK);
	ck_assert_int_eq(how("-m32 -c a.c", true), CCCMD_HOOK);
	ck_assert_int_eq(how("--target=aarch64-linux-gnu -c a.c", true), CCCMD_ALONE);
	ck_assert_int_eq(how("-target armv7-none -c a.c", true), CCCMD_ALONE);
	ck_assert_int_eq(how("--target=x86_64-linux-gnu -c a.c", true), CCCMD_HOOK_AS);
}
END_TEST

START_TEST(which_linker)
{
	expect_linker("a.o -o prog", true, "ld", NULL);
	expect_linker("a.o -fuse-ld=gold -fuse-ld=lld", false, "ld.lld", NULL);
	expect_linker("a.o -fuse-ld=lld-19", true, "ld.lld-19", NULL);
	expect_linker("a.o -fuse-ld= -fuse-ld=ld", true, "ld", NULL);
	expect_linker("a.o -fuse-ld=/x/ld.lld", true, "/x/ld.lld", "-fuse-ld=/x/ld.lld");
	expect_linker("--ld-path=/x/mold -fuse-ld=lld", true, "/x/mold", "--ld-path=/x/mold");
	expect_linker("--ld-path=ld.lld-16 a.o", true, "ld.lld-16", NULL);
	expect_linker("--ld-path=/x/mold a.o", false, "ld", NULL);
	expect_linker("a.o -o -fuse-ld=gold", true, "ld", NULL);
}
END_TEST

START_TEST(names)
{
	ck_assert(cccmd_is_clang("/usr/lib/llvm-14/bin/clang"));
	ck_assert(cccmd_is_clang("clang++-14"));
	ck_assert(!cccmd_is_clang("/usr/lib/clang/gcc"));
}
END_TEST

UNIT_MAIN("cccmd", 0, NULL, NULL, gcc_is_hooked, nothing_to_hook, values_are_no_stops,
    clang_assembles_with_as, clang_keeps_its_assembler, which_linker, names,
    questions_of_configure_scripts, the_compiler_after_launchers, why_clang_assembles_by_itself)
