/* hooks/unitcmd: a command of clang's for one object, in two steps. */
#include "hooks/unitcmd.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static void expect(const char *line, const char *text, const char *output)
{
	struct args a = {0};
	struct unitcmd u;
	char *got;

	args_split(&a, line, strlen(line));
	ck_assert_msg(unitcmd_read(&u, &a), "%s", line);
	got = args_join(&u.text, ' ');
	ck_assert_str_eq(got, text);
	ck_assert_str_eq(u.output, output);
	free(got);
	unitcmd_free(&u);
	args_free(&a);
}

static void expect_none(const char *line)
{
	struct args a = {0};
	struct unitcmd u;

	args_split(&a, line, strlen(line));
	ck_assert_msg(!unitcmd_read(&u, &a), "%s", line);
	args_free(&a);
}

#define TEXT " -S -fno-integrated-as"

START_TEST(object_by_name_or_of_the_source)
{
	expect("-O2 -c a.c -o x/y.o", "-O2 a.c" TEXT " -o -", "x/y.o");
	expect("-oy.o -g -c a.c", "-g a.c" TEXT " -o -", "y.o");
	expect("-c ../s/a.b.cpp", "../s/a.b.cpp" TEXT " -o -", "a.b.o");
	expect("-c -x c++ a.c", "-x c++ a.c" TEXT " -o -", "a.o");
	expect("-c a.c -I -c -include x.h", "a.c -I -c -include x.h" TEXT " -o -", "a.o");
}
END_TEST

START_TEST(dependencies_are_of_the_object)
{
	expect("-MD -c a.c -o x/y.o", "-MD a.c" TEXT " -MF x/y.d -MQ x/y.o -o -", "x/y.o");
	expect("-MMD -MP -c s/a.c", "-MMD -MP s/a.c" TEXT " -MF a.d -MQ a.o -o -", "a.o");
	expect("-MD -MF .d/a -MT z -c a.c", "-MD -MF .d/a -MT z a.c" TEXT " -o -", "a.o");
	expect("-MD -MQz -c a.c -o y", "-MD -MQz a.c" TEXT " -MF y.d -o -", "y");
}
END_TEST

START_TEST(others_stay_one_command)
{
	static const char *const lines[] = {"a.c -o prog", "-c a.c b.c", "-c a.c x.o", "-c a.o",
	    "-c -", "-c a.c -o .y", "-c a.c -Wa,--noexecstack", "-c a.c -flto=thin",
	    "-c a.c -gsplit-dwarf", "-c a.c --coverage", "-c a.c -ftest-coverage",
	    "-c a.c -fprofile-generate", "-c a.c -save-temps", "-c a.c -Xclang -emit-obj",
	    "-c a.c -ftime-trace", "-c a.c -MJ x.json", "-c a.c -v", "-c -x objective-c a.m",
	    "-c a.c -some-new-option", "-c a.c -Wp,-MD,x.d", "-c"};
	size_t i;

	for (i = 0; i < sizeof lines / sizeof *lines; i++)
		expect_none(lines[i]);
}
END_TEST

UNIT_MAIN("unitcmd", 0, NULL, NULL, object_by_name_or_of_the_source, dependencies_are_of_the_object,
    others_stay_one_command)
