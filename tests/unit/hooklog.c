/* common/hooklog: one JSON line each, bounded, and never an error. */
#include "common/hooklog.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/morph-hooklog-XXXXXX";

static void expect_path(const char *want)
{
	char *got = hooklog_path();

	ck_assert_pstr_eq(got, want);
	free(got);
}

START_TEST(where_it_lies)
{
	unsetenv("MORPH_HOOKS_LOG");
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", "/h", 1);
	expect_path("/h/.local/state/morph/hooks.log");
	setenv("XDG_STATE_HOME", "/s", 1);
	expect_path("/s/morph/hooks.log");
	setenv("MORPH_HOOKS_LOG", "/l", 1);
	expect_path("/l");
	unsetenv("MORPH_HOOKS_LOG");
	setenv("XDG_STATE_HOME", "relative", 1);
	unsetenv("HOME");
	expect_path(NULL);
}
END_TEST

static char *begin(void)
{
	char *path;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = xasprintf("%s/new/folder/log", dir);
	setenv("MORPH_HOOKS_LOG", path, 1);
	return path;
}

START_TEST(any_bytes_make_json)
{
	char *path = begin(), odd[256];
	struct buf b = {0};
	json_t *o;
	int i;

	for (i = 1; i < 256; i++)
		odd[i - 1] = (char)i;
	odd[255] = '\0';
	hooklog("as", odd, "%s and a \"quoted\" \\ umlaut \xc3\xbc", odd);
	hooklog("ld", NULL, "plain");
	ck_assert(file_read(path, 0, &b, NULL) == 0);
	buf_cstr(&b);
	o = json_loads(b.p, JSON_DISABLE_EOF_CHECK, NULL);
	ck_assert_ptr_nonnull(o);
	ck_assert_str_eq(json_string_value(json_object_get(o, "tool")), "as");
	ck_assert(
	    strstr(json_string_value(json_object_get(o, "reason")), "umlaut \xc3\xbc") != NULL);
	json_decref(o);
	o = json_loads(strchr(b.p, '\n') + 1, 0, NULL);
	ck_assert_str_eq(json_string_value(json_object_get(o, "output")), "");
	json_decref(o);
	buf_free(&b);
	ck_assert(dir_remove(dir, NULL) == 0);
	free(path);
}
END_TEST

START_TEST(bounded)
{
	char *path = begin(), *old = xasprintf("%s.1", path), reason[1000];
	struct stat st;
	int i;

	memset(reason, 'r', sizeof reason);
	for (i = 0; i < 3000; i++)
		hooklog("as", "x", "%.999s", reason);
	ck_assert(stat(path, &st) == 0 && st.st_size <= HOOKLOG_MAX + 2000);
	ck_assert(stat(old, &st) == 0 && st.st_size <= HOOKLOG_MAX + 2000);
	ck_assert((st.st_mode & 0777) == 0600);
	ck_assert(dir_remove(dir, NULL) == 0);
	free(path);
	free(old);
}
END_TEST

START_TEST(nowhere)
{
	setenv("MORPH_HOOKS_LOG", "/dev/null/no/log", 1);
	hooklog("as", "x", "lost");
	setenv("MORPH_HOOKS_LOG", "/dev/full", 1);
	hooklog("as", "x", "lost");
}
END_TEST

START_TEST(a_run_hears_all_of_it)
{
	char *path = begin(), *run = xasprintf("%s/run", dir), *events, *objects;
	struct buf b = {0};

	ck_assert_int_eq(dir_make(run, 0700, NULL), 0);
	ck_assert(hooklog_first("key"));
	ck_assert(hooklog_first("key")); /* no run: always */
	setenv(HOOKLOG_RUN, run, 1);
	ck_assert(hooklog_first("key"));
	ck_assert(!hooklog_first("key"));
	hooklog("as", "/o", "why");
	hooklog_artifact("/prog", false);
	hooklog_artifact("/lib.so", true);
	hooklog_object();
	hooklog_object();
	unsetenv(HOOKLOG_RUN);
	events = xasprintf("%s/events", run);
	objects = xasprintf("%s/objects", run);
	ck_assert_int_eq(file_read(events, 0, &b, NULL), 0);
	ck_assert_ptr_nonnull(strstr(buf_cstr(&b), "\"output\":\"/o\",\"reason\":\"why\"}\n"));
	ck_assert_ptr_nonnull(
	    strstr(b.p, "\"output\":\"/prog\",\"reason\":\"\",\"library\":false}\n"));
	ck_assert_ptr_nonnull(
	    strstr(b.p, "\"output\":\"/lib.so\",\"reason\":\"\",\"library\":true}\n"));
	b.n = 0;
	ck_assert_int_eq(file_read(objects, 0, &b, NULL), 0);
	ck_assert_uint_eq(b.n, 2);
	b.n = 0;
	ck_assert_int_eq(file_read(path, 0, &b, NULL), 0); /* artifacts are no doubts */
	ck_assert_ptr_null(strstr(buf_cstr(&b), "/prog"));
	buf_free(&b);
	free(path);
	free(run);
	free(events);
	free(objects);
}
END_TEST

UNIT_MAIN("hooklog", 0, NULL, NULL, where_it_lies, any_bytes_make_json, bounded, nowhere,
    a_run_hears_all_of_it)
