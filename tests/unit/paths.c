/* hooks/paths, hooks/probe: names of files. */
#include "hooks/paths.h"
#include "common/mem.h"
#include "common/publish.h"
#include "hooks/probe.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect(char *got, const char *want)
{
	ck_assert_str_eq(got, want);
	free(got);
}

static void expect_below(char *got, const char *top, const char *rest)
{
	char *want = xasprintf("%s%s", top, rest);

	expect(got, want);
	free(want);
}

START_TEST(lexical)
{
	expect(path_lexical("/cwd", "a.o"), "/cwd/a.o");
	expect(path_lexical("/cwd", "./x/../a.o"), "/cwd/a.o");
	expect(path_lexical("/cwd/", "../../../a.o"), "/a.o");
	expect(path_lexical("/cwd", "/usr/lib/gcc/12/../../../x/crt1.o"), "/usr/x/crt1.o");
	expect(path_lexical("/cwd", "//a//b/"), "/a/b");
	expect(path_lexical("/cwd", ".."), "/");
	expect(path_lexical("/cwd", ""), "/cwd");
	expect(path_lexical("/cwd", "..."), "/cwd/...");
}
END_TEST

/* real/sub, and link -> real/sub: link/../f is real/f, not f. */
START_TEST(behind_links)
{
	char dir[] = "/tmp/morph-paths-XXXXXX", *top;

	ck_assert(mkdtemp(dir) && chdir(dir) == 0);
	top = realpath(dir, NULL);
	ck_assert(dir_make("real/sub", 0700, NULL) == 0 && symlink("real/sub", "link") == 0);
	expect_below(path_of_file("link/../f"), top, "/real/f");
	expect_below(path_of_file("link/f"), top, "/link/f");
	expect_below(path_of_file("real/./sub/../f"), top, "/real/f");
	expect_below(path_of_folder("link/.."), top, "/real");
	expect_below(path_of_folder("no/such/../folder"), top, "/no/folder");
	expect_below(path_of_file("f"), top, "/f");
	ck_assert(chdir("/") == 0 && dir_remove(top, NULL) == 0);
	free(top);
}
END_TEST

START_TEST(probes)
{
	ck_assert(probe_output("/b/conftest"));
	ck_assert(probe_output("/b/conftest.o"));
	ck_assert(probe_output("/b/CMakeFiles/CMakeScratch/TryCompile-x/cmTC_1"));
	ck_assert(probe_output("/b/CMakeFiles/CMakeTmp/cmTC_1"));
	ck_assert(probe_output("/b/CMakeFiles/3.25.1/CompilerIdC/a.out"));
	ck_assert(probe_output("/b/meson-private/tmp1/output.exe"));
	ck_assert(!probe_output("/b/conftesting"));
	ck_assert(!probe_output("/b/prog"));
	ck_assert(!probe_output("/b/CMakeFiles/prog.dir/main.c.o"));
	ck_assert(!probe_output("/conftest.d/prog"));
}
END_TEST

UNIT_MAIN("paths", 0, NULL, NULL, lexical, behind_links, probes)
