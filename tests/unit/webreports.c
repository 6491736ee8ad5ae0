/* What the page may have morphctl do: always the same arguments, and the page's words in their
 * place. */
#include "morphctl/web/reports.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct report r;
static const char *why;
static long status;

static void release(void)
{
	report_free(&r);
}

static int ask(const char *path, const struct proxy_param *param)
{
	size_t n = 0;

	while (param && param[n].name)
		n++;
	report_free(&r);
	why = NULL;
	return report_command(&r, path, param, n, "/run/api.sock", &status, &why);
}

#define P(...) \
	(const struct proxy_param[]) \
	{ \
		__VA_ARGS__, \
		{ \
			0 \
		} \
	}

/* The arguments, with '|' between them. */
static void expect(const char *want)
{
	char text[1000] = "";
	int i;

	for (i = 0; r.argv[i]; i++) {
		strcat(text, i ? "|" : "");
		strcat(text, r.argv[i]);
	}
	ck_assert_str_eq(text, want);
}

START_TEST(commands_of_routes)
{
	ck_assert_int_eq(ask("/report/modules", NULL), 0);
	expect("morphctl|report|--json|--by=module|--limit=1000|--socket=/run/api.sock|--");
	ck_assert_int_eq(ask("/report/functions", P({"module", "/usr/bin/x"}, {"since", "7d"})), 0);
	expect(
	    "morphctl|report|--json|--by=function|--limit=1000|--socket=/run/api.sock|--since=7d|"
	    "--|/usr/bin/x");
	ck_assert(!r.text);
	ck_assert_int_eq(ask("/report/lines", P({"function", "f"}, {"module", "m"})), 0);
	expect("morphctl|report|--json|--by=line|--limit=1000|--socket=/run/api.sock|--|m|f");
	ck_assert_int_eq(ask("/report/annotate",
			     P({"module", "m"}, {"function", "f"}, {"until", "2026-03-01 12:30"},
				 {"since", "2026-02-01T00:00:00Z"})),
	    0);
	expect("morphctl|annotate|--json|--socket=/run/api.sock|--since=2026-02-01T00:00:00Z|"
	       "--until=2026-03-01 12:30|--|m|f");
	ck_assert_int_eq(ask("/report/stacks", P({"module", "m"})), 0);
	expect("morphctl|export|--socket=/run/api.sock|--|folded|m");
	ck_assert(r.text);
}
END_TEST

START_TEST(names_are_no_options)
{
	static const char *const odd[] = {"--socket=/tmp/evil", "-o/tmp/x", "--", "list", "$(id)",
	    "a b;c|d\n", "\xc3\xa4\xe2\x80\xae", "operator<<(int)", "\x01"};
	size_t i;
	int k;

	for (i = 0; i < sizeof odd / sizeof *odd; i++) {
		ck_assert_int_eq(
		    ask("/report/annotate", P({"module", odd[i]}, {"function", odd[i]})), 0);
		for (k = 0; strcmp(r.argv[k], "--"); k++)
			ck_assert_str_ne(r.argv[k], odd[i]);
		ck_assert_str_eq(r.argv[k + 1], odd[i]);
		ck_assert_str_eq(r.argv[k + 2], odd[i]);
		ck_assert_ptr_null(r.argv[k + 3]);
	}
}
END_TEST

static void refused(const char *path, const struct proxy_param *param, long want)
{
	ck_assert_int_eq(ask(path, param), -1);
	ck_assert_int_eq(status, want);
	ck_assert_ptr_nonnull(why);
}

START_TEST(the_rest_is_refused)
{
	static const char *const times[] = {"", "now", "7", "-7d", "1h --json", "--since=1d",
	    "2026-13-01", "1d\n", "2026-03-01 12:30 x", "nan", "1e99d",
	    "0000000000000000000000000000000000000000000000000000001d"};
	size_t i;

	refused("/report/", NULL, 404);
	refused("/report/top", NULL, 404);
	refused("/report/modules/", NULL, 404);
	refused("/report/modules", P({"module", "m"}), 400);
	refused("/report/functions", P({"module", "m"}, {"function", "f"}), 400);
	refused("/report/stacks", P({"module", "m"}, {"function", "f"}), 400);
	refused("/report/lines", P({"module", "m"}), 400);
	refused("/report/annotate", P({"function", "f"}), 400);
	refused("/report/functions", P({"module", "m"}, {"module", "m"}), 400);
	refused("/report/functions", P({"module", ""}), 400);
	refused("/report/functions", P({"module", "\xff"}), 400);
	refused("/report/functions", P({"module", "\xed\xa0\x80"}), 400);
	refused("/report/functions", P({"input", "/etc/shadow"}), 400);
	for (i = 0; i < sizeof times / sizeof *times; i++) {
		refused("/report/modules", P({"since", times[i]}), 400);
		refused("/report/modules", P({"until", times[i]}), 400);
	}
}
END_TEST

UNIT_MAIN(
    "webreports", 0, NULL, release, commands_of_routes, names_are_no_options, the_rest_is_refused)
