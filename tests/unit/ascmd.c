/* hooks/ascmd: which commands of as may be hooked. */
#include "hooks/ascmd.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct args arg;

static struct ascmd command(const char *line)
{
	struct ascmd c;

	args_free(&arg);
	args_split(&arg, line, strlen(line));
	ascmd_read(&c, &arg);
	return c;
}

static void expect_kept(struct ascmd *c, const char *kept, const char *search)
{
	char *k = args_join(&c->kept, ' '), *s = args_join(&c->search, ' ');

	ck_assert_ptr_null(c->why);
	ck_assert_str_eq(k, kept);
	ck_assert_str_eq(s, search);
	free(k);
	free(s);
	ascmd_free(c);
}

static void expect_doubt(const char *line, const char *why)
{
	struct ascmd c = command(line);

	ck_assert_ptr_nonnull(c.why);
	ck_assert_str_eq(c.why, why);
	ck_assert(!c.silent);
	ascmd_free(&c);
}

START_TEST(what_gcc_passes)
{
	struct ascmd c = command("-v -I . -Iinc --gdwarf-5 --64 -o f.o /tmp/cc.s");

	ck_assert_str_eq(c.input, "/tmp/cc.s");
	ck_assert_str_eq(c.output, "f.o");
	ck_assert(c.debug && c.verbose);
	expect_kept(&c, "--gdwarf-5 --64", "-I . -I inc");
}
END_TEST

START_TEST(standard_input)
{
	struct ascmd c = command("--64 -of.o");

	ck_assert_ptr_null(c.input);
	ck_assert_str_eq(c.output, "f.o");
	expect_kept(&c, "--64", "");
	c = command("--64 -o f.o -");
	ck_assert_ptr_null(c.input);
	expect_kept(&c, "--64", "");
	c = command("-o f.o --");
	ck_assert_ptr_null(c.input);
	expect_kept(&c, "", "");
}
END_TEST

START_TEST(harmless)
{
	struct ascmd c =
	    command("--noexecstack -march=generic64+sse2 --compress-debug-sections=zlib "
		    "-mrelax-relocations=no -W -o a.o a.s");

	expect_kept(&c,
	    "--noexecstack -march=generic64+sse2 --compress-debug-sections=zlib "
	    "-mrelax-relocations=no -W",
	    "");
}
END_TEST

START_TEST(doubts)
{
	expect_doubt("--32 -o a.o a.s", "--32");
	expect_doubt("-adhln=x -o a.o a.s", "-adhln=x");
	expect_doubt("--defsym x=1 -o a.o a.s", "--defsym");
	expect_doubt("-o a.o a.s b.s", "several inputs");
	expect_doubt("a.s", "no output named");
	expect_doubt("a.s -o", "no output named");
	expect_doubt("-mmnemonic=intel -o a.o a.s", "-mmnemonic=intel");
	expect_doubt("-L -o a.o a.s", "-L");
	expect_doubt("--MD d -o a.o a.s", "--MD");
}
END_TEST

START_TEST(inquiries)
{
	struct ascmd c = command("--version");

	ck_assert(c.why && c.silent);
	ascmd_free(&c);
}
END_TEST

UNIT_MAIN("ascmd", 0, NULL, NULL, what_gcc_passes, standard_input, harmless, doubts, inquiries)
