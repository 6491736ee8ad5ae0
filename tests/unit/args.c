/* hooks/args: argument lists and response files. */
#include "hooks/args.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_split(const char *text, const char *joined)
{
	struct args a = {0};
	char *s;

	args_split(&a, text, strlen(text));
	s = args_join(&a, '|');
	ck_assert_str_eq(s, joined);
	free(s);
	args_free(&a);
}

START_TEST(splitting)
{
	expect_split("", "");
	expect_split(" \t\n", "");
	expect_split("a b\nc\t d ", "a|b|c|d");
	expect_split("'a b' \"c d\" e'f 'g", "a b|c d|ef g");
	expect_split("a\\ b \\' \"x\\\"y\"", "a b|'|x\"y");
	expect_split("'' \"\" x", "||x");
	expect_split("'it\"s' \"it's\"", "it\"s|it's");
	expect_split("'unclosed x", "unclosed x");
	expect_split("end\\", "end\\");
}
END_TEST

static char dir[] = "/tmp/morph-args-XXXXXX";

static void put(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);

	ck_assert(publish_bytes(path, text, strlen(text), 0600, NULL) == 0);
	free(path);
}

static int expand(const char *text, struct args *out, struct err *e)
{
	struct args in = {0};
	char *line;
	int r;

	args_add(&in, "tool");
	line = xstrdup(text);
	args_split(&in, line, strlen(line));
	r = args_expand(out, (int)in.n, in.v, e);
	free(line);
	args_free(&in);
	return r;
}

START_TEST(expanding)
{
	struct args out = {0};
	struct err e;
	char *s;

	ck_assert(mkdtemp(dir) && chdir(dir) == 0);
	put("one", "-o 'my prog' @two");
	put("two", "x @missing y");
	put("loop", "@loop @loop");
	ck_assert(expand("a @one b @nothing @", &out, &e) == 0);
	s = args_join(&out, '|');
	ck_assert_str_eq(s, "a|-o|my prog|x|@missing|y|b|@nothing|@");
	free(s);
	args_free(&out);
	ck_assert(expand("@loop", &out, &e) == -1);
	ck_assert(strstr(e.text, "too many response files") != NULL);
	args_free(&out);
	ck_assert(chdir("/") == 0 && dir_remove(dir, NULL) == 0);
}
END_TEST

START_TEST(ending)
{
	struct args a = {0};

	ck_assert_ptr_null(args_end(&a)[0]);
	args_add(&a, "x");
	ck_assert_ptr_null(args_end(&a)[1]);
	ck_assert_uint_eq(a.n, 1);
	args_free(&a);
}
END_TEST

UNIT_MAIN("args", 0, NULL, NULL, splitting, expanding, ending)
