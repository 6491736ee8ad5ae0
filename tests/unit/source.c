/* hooks/source: what the hooks' log calls objects that are gone when it is read. */
#include "hooks/source.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect(char *got, const char *want)
{
	ck_assert_pstr_eq(got, want);
	free(got);
}

START_TEST(temporary)
{
	unsetenv("TMPDIR");
	ck_assert(source_is_temporary("/tmp/ccAbCdEf.o"));
	ck_assert(source_is_temporary("/var/tmp/ccAbCdEf.o"));
	ck_assert(!source_is_temporary("/tmp/build/f.o"));
	ck_assert(!source_is_temporary("/src/f.o"));
	ck_assert(!source_is_temporary("/t/cc1.o"));
	setenv("TMPDIR", "/t", 1);
	ck_assert(source_is_temporary("/t/cc1.o"));
	unsetenv("TMPDIR");
}
END_TEST

static void expect_name(const char *text, const char *want)
{
	expect(source_in_text(text, strlen(text)), want);
}

START_TEST(in_text)
{
	expect_name("\t.file\t\"f.c\"\n\t.text\n", "f.c");
	expect_name("\t.text\n\t.file\t\"a b.c\"\n", "a b.c");
	expect_name("\t.file\t\"cut off", NULL);
	expect_name("\t.file 1 \"f.c\"\n", NULL);
	expect_name("", NULL);
}
END_TEST

START_TEST(where_it_is)
{
	char dir[] = "/tmp/morph-source-XXXXXX", *want;

	ck_assert(mkdtemp(dir) && chdir(dir) == 0);
	expect(source_path("gone.c"), "gone.c");
	ck_assert_int_eq(publish_bytes("here.c", "x", 1, 0600, NULL), 0);
	want = xasprintf("%s/here.c", dir);
	expect(source_path("here.c"), want);
	expect(source_path("<artificial>"), "link-time optimisation");
	expect(source_path("<stdin>"), "<stdin>");
	expect(source_or_object("/tmp/cc1.o", "here.c", "", 0), want);
	expect(source_or_object("/tmp/cc1.o", NULL, "no object", 9), "/tmp/cc1.o");
	expect(source_or_object("/src/f.o", "here.c", "", 0), "/src/f.o");
	ck_assert(chdir("/") == 0 && dir_remove(dir, NULL) == 0);
	free(want);
}
END_TEST

UNIT_MAIN("source", 0, NULL, NULL, temporary, in_text, where_it_is)
