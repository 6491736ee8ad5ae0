#include "managerd/conf/conf.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define KEY "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"

static struct conf c;
static struct err e;

static int parse(const char *text)
{
	return conf_parse("p.yaml", text, strlen(text), &c, &e);
}

static char *printed(const struct conf *conf)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	conf_print(conf, f);
	fclose(f);
	return text;
}

/* The printed policy without its comments. */
static char *effective(const struct conf *conf)
{
	char *text = printed(conf), *in, *out;

	for (in = out = text; *in;) {
		if (in[0] == ' ' && in[1] == '#') {
			in += strcspn(in, "\n");
		} else {
			*out++ = *in++;
		}
	}
	*out = '\0';
	return text;
}

START_TEST(file_states_the_defaults)
{
	struct buf text = {0};
	struct conf d;
	char *a, *b;
	unsigned i;

	conf_defaults(&d);
	ck_assert_msg(conf_read("config/morph.yaml", &text, &c, &e) == 0, "%s", e.text);
	buf_free(&text);
	a = effective(&c);
	b = effective(&d);
	ck_assert_str_eq(a, b);
	for (i = 0; i <= CONF_FETCH_SERVERS; i++)
		ck_assert_msg(c.line[i] > 0, "key %u is not in config/morph.yaml", i);
	free(a);
	free(b);
	conf_free(&c);
	conf_free(&d);
}
END_TEST

START_TEST(every_unit)
{
	ck_assert_int_eq(
	    parse("profile: {half_life: 12h}\n"
		  "decide:\n  every: 500ms\n  min_samples: 1e4\n  min_coverage: 25%\n"
		  "  min_change: 0.25\n  cool_down: 2 d\n  hold: 0\n"
		  "idle: {after: 5min, battery: yes, cpu: 33.5 %}\n"
		  "edit: {memory: 512M, deadline: 90s}\nkeep_builds: 3\nperf_links: yes\n"
		  "legacy: off\n"),
	    0);
	ck_assert_double_eq(c.profile.half_life_s, 12 * 3600);
	ck_assert_double_eq(c.decide.every_s, 0.5);
	ck_assert_double_eq(c.decide.min_samples, 10000);
	ck_assert_double_eq(c.decide.min_coverage, 0.25);
	ck_assert_double_eq(c.decide.min_change, 0.25);
	ck_assert_double_eq(c.decide.cool_down_s, 2 * 86400);
	ck_assert_double_eq(c.decide.hold_s, 0);
	ck_assert_double_eq(c.idle.after_s, 300);
	ck_assert_double_eq(c.idle.cpu, 0.335);
	ck_assert(c.idle.battery);
	ck_assert_uint_eq(c.edit.memory, 512 << 20);
	ck_assert_uint_eq(c.keep_builds, 3);
	ck_assert(c.perf_links);
	ck_assert_int_eq(c.legacy, LEGACY_OFF);
	ck_assert_uint_eq(c.line[CONF_EVERY], 3);
	ck_assert_uint_eq(c.line[CONF_IDLE_PSI], 0);
	conf_free(&c);
}
END_TEST

START_TEST(print_reads_back)
{
	struct conf again;
	char *a, *b, *text;

	ck_assert_int_eq(
	    parse("decide: {every: 1500ms, min_gain: 0.3%, min_samples: 1234.5}\n"
		  "idle: {cpu: 0.1234567}\nedit: {memory: 1000}\n"
		  "verify: {command: \"/bin/test-it  {new}\"}\n"
		  "modules:\n  - {path: '/opt/**', action: observe}\n"
		  "  - {path: \"/x\\ty\\\"*\", verify: [a b, '{old}'], measure: ['{build}']}\n"
		  "  - {path: /srv/d, restart: [r, '{module}'], counter: c, order: '/l \"1'}\n"
		  "  - {path: /l, legacy: off}\n"
		  "packages: [lua5.4, {name: 'perl*', legacy: optimize}, {name: xz-utils}]\n"
		  "legacy: optimize\n"
		  "measure: {pairs: 9, command: 'bench -n {build}', counter: [c, '{module}'],"
		  " restart: r, service_turn: 90s}\n"
		  "notify: {command: [tell, '{module} {text}']}\n"
		  "fetch:\n  servers: ['http://a.b:80/x', https://c]\n  per_day: 3\n"
		  "  key: " KEY "\n"),
	    0);
	text = printed(&c);
	ck_assert_ptr_nonnull(strstr(text, "every: 1500ms # p.yaml:1\n"));
	ck_assert_ptr_nonnull(strstr(text, "half_life: 7d # default\n"));
	ck_assert_msg(conf_parse("again", text, strlen(text), &again, &e) == 0, "%s", e.text);
	a = effective(&c);
	b = effective(&again);
	ck_assert_str_eq(a, b);
	ck_assert_uint_eq(again.fetch.servers.n, 2);
	ck_assert_str_eq(again.fetch.servers.v[0], "http://a.b:80/x");
	ck_assert_str_eq(again.fetch.key, KEY);
	ck_assert_uint_eq(again.fetch.per_day, 3);
	ck_assert_str_eq(again.verify[0], "/bin/test-it");
	ck_assert_str_eq(again.verify[1], "{new}");
	ck_assert_ptr_null(again.verify[2]);
	ck_assert_str_eq(again.modules.v[1].verify[0], "a b");
	ck_assert_str_eq(again.measure.command[2], "{build}");
	ck_assert_str_eq(again.measure.counter[1], "{module}");
	ck_assert_str_eq(again.measure.restart[0], "r");
	ck_assert_double_eq(again.measure.service_turn_s, 90);
	ck_assert_str_eq(again.modules.v[2].restart[1], "{module}");
	ck_assert_str_eq(again.modules.v[2].counter[0], "c");
	ck_assert_str_eq(again.modules.v[2].order, "/l \"1");
	ck_assert_str_eq(again.notify[1], "{module} {text}");
	ck_assert_uint_eq(again.measure.pairs, 9);
	ck_assert_str_eq(again.modules.v[1].measure[0], "{build}");
	ck_assert_str_eq(again.modules.v[1].path, "/x\ty\"*");
	ck_assert_int_eq(again.modules.v[1].legacy, LEGACY_UNSET);
	ck_assert_int_eq(again.modules.v[3].legacy, LEGACY_OFF);
	ck_assert_int_eq(again.packages.v[0].legacy, LEGACY_UNSET);
	ck_assert_str_eq(again.packages.v[1].name, "perl*");
	ck_assert_int_eq(again.packages.v[1].legacy, LEGACY_OPTIMIZE);
	ck_assert_str_eq(again.packages.v[2].name, "xz-utils");
	free(a);
	free(b);
	free(text);
	conf_free(&again);
	conf_free(&c);
}
END_TEST

static const struct {
	const char *text, *error;
} bad[] = {
    {"measure: {restart: x}\n",
	"p.yaml:1:10: restart: expected a counter beside it, to compare by"},
    {"modules:\n  - {path: /a, restart: x}\nmeasure: {counter: y}\n",
	"p.yaml:2:5: restart: expected a counter beside it, to compare by"},
    {"measure: {counter: {}}\n",
	"p.yaml:1:20: counter: expected a command, such as [/usr/bin/test-it, \"{new}\"]"},
    {"measure: {service_turn: 10ms}\n", "p.yaml:1:25: service_turn: expected 1s to 1d, not '10ms'"},
    {"measure: {countr: x}\n",
	"p.yaml:1:11: unknown key 'countr' in measure; did you mean 'counter'?"},
    {"decide:\n  min_sample: 5\n", "p.yaml:2:3: unknown key 'min_sample' in decide; did you mean "
				   "'min_samples'?"},
    {"decid: {}\n", "p.yaml:1:1: unknown key 'decid'; did you mean 'decide'?"},
    {"zebra: 1\n", "p.yaml:1:1: unknown key 'zebra'"},
    {"profile:\n  half_life: soon\n",
	"p.yaml:2:14: half_life: expected a duration such as 10s, 5min, 12h or 7d, not 'soon'"},
    {"profile: {half_life: 7}\n",
	"p.yaml:1:22: half_life: expected a duration such as 10s, 5min, 12h or 7d, not '7'"},
    {"profile: {half_life: [1]}\n",
	"p.yaml:1:22: half_life: expected a duration such as 10s, 5min, 12h or 7d"},
    {"profile: {half_life: 0s}\n", "p.yaml:1:22: half_life: expected 1s to 3650d, not '0s'"},
    {"decide: {min_gain: 101%}\n", "p.yaml:1:20: min_gain: expected 0% to 100%, not '101%'"},
    {"decide: {min_gain: -1}\n",
	"p.yaml:1:20: min_gain: expected a share such as 0.1 or 10%, not '-1'"},
    {"decide: {min_gain: nan}\n",
	"p.yaml:1:20: min_gain: expected a share such as 0.1 or 10%, not 'nan'"},
    {"decide: {edits_per_day: 1.5}\n",
	"p.yaml:1:25: edits_per_day: expected a whole number, not '1.5'"},
    {"edit: {memory: 5X}\n",
	"p.yaml:1:16: memory: expected a size such as 512M or 2G, or 0 for no limit, not '5X'"},
    {"idle: {battery: perhaps}\n", "p.yaml:1:17: battery: expected yes or no, not 'perhaps'"},
    {"perf_links: all\n", "p.yaml:1:13: perf_links: expected yes or no, not 'all'"},
    {"keep_builds: 0\n", "p.yaml:1:14: keep_builds: expected 1 to 100, not '0'"},
    {"decide:\n", "p.yaml:1:8: decide: expected a mapping (key: value)"},
    {"- a\n", "p.yaml:1:1: policy: expected a mapping (key: value)"},
    {"idle: {cpu: 1, cpu: 1}\n", "p.yaml:1:16: key 'cpu' is here twice, first in line 1"},
    {"modules: {}\n", "p.yaml:1:10: modules: expected a list of {path: …, action: …}"},
    {"modules:\n  - {action: observe}\n", "p.yaml:2:5: modules: this entry has no path"},
    {"modules:\n  - {path: bin/x}\n",
	"p.yaml:2:12: path: expected an absolute path or a pattern of paths"},
    {"modules:\n  - {path: /x, action: eat}\n",
	"p.yaml:2:24: action: expected optimize, observe or ignore"},
    {"modules:\n  - {path: /x, acton: observe}\n",
	"p.yaml:2:16: unknown key 'acton' in modules; did you mean 'action'?"},
    {"modules: [{path: /x, verify: []}]\n",
	"p.yaml:1:30: verify: expected a command, such as [/usr/bin/test-it, \"{new}\"]"},
    {"modules: [{path: /x, order: [/l]}]\n",
	"p.yaml:1:29: order: expected the absolute path of a list of functions"},
    {"modules: [{path: /x, order: l}]\n",
	"p.yaml:1:29: order: expected the absolute path of a list of functions"},
    {"modules: [{path: /x, order: /a/../l}]\n",
	"p.yaml:1:29: order: expected the absolute path of a list of functions"},
    {"modules: [{path: /x, order: /l, order: /m}]\n",
	"p.yaml:1:33: key 'order' is here twice, first in line 1"},
    {"quota: {dsk: 1G}\n", "p.yaml:1:9: unknown key 'dsk' in quota; did you mean "
			   "'disk'?"},
    {"fetch: {servers: https://a}\n", "p.yaml:1:18: servers: expected a list of URLs"},
    {"fetch: {servers: [ftp://a]}\n", "p.yaml:1:19: servers: expected a URL such as "},
    {"fetch: {servers: [https:///a]}\n", "p.yaml:1:19: servers: expected a URL such as "},
    {"fetch: {servers: ['https://a b']}\n", "p.yaml:1:19: servers: expected a URL such as "},
    {"fetch: {servers: ['https://me@a']}\n", "p.yaml:1:19: servers: expected a URL such as "},
    {"fetch: {servers: [https://a, https://a, https://a, https://a, https://a, https://a,"
     " https://a, https://a, https://a]}\n",
	"p.yaml:1:107: servers: expected at most 8"},
    {"fetch: {servers: [https://a, http://b]}\n",
	"p.yaml:1:8: fetch: without a key only https is believed, not http://b"},
    {"fetch: {key: RWQ}\n", "p.yaml:1:14: key: expected a public key of minisign(1)"},
    {"fetch: {key: x, per_day: 1}\n", "p.yaml:1:14: key: expected a public key of minisign(1)"},
    {"fetch: {per_day: many}\n", "p.yaml:1:18: per_day: expected a whole number"},
    {"fetch: {severs: []}\n", "p.yaml:1:9: unknown key 'severs' in fetch; did you mean 'servers'?"},
    {"verify: {command: ' '}\n",
	"p.yaml:1:19: command: expected a command, such as [/usr/bin/test-it, \"{new}\"]"},
    {"measure: {command: [bench, '{new}']}\n",
	"p.yaml:1:20: command: expected {build} in the command: the build that is to be run"},
    {"measure: {turns: 1s}\n", "p.yaml:1:11: unknown key 'turns' in measure; did you mean 'turn'?"},
    {"notify: {comand: x}\n",
	"p.yaml:1:10: unknown key 'comand' in notify; did you mean 'command'?"},
    {"verify: {comand: x}\n",
	"p.yaml:1:10: unknown key 'comand' in verify; did you mean 'command'?"},
    {"packages: [\"Lua 5\"]\n", "p.yaml:1:12: packages: expected the name of a Debian package"},
    {"packages: [{legacy: off}]\n", "p.yaml:1:12: packages: this entry has no name"},
    {"packages: [{name: x, legacy: yes}]\n",
	"p.yaml:1:30: legacy: expected off, observe or optimize"},
    {"packages: [{name: x, action: observe}]\n", "p.yaml:1:22: unknown key 'action' in packages"},
    {"modules: [{path: /x, legacy: [off]}]\n",
	"p.yaml:1:30: legacy: expected off, observe or optimize"},
    {"legacy: no\n", "p.yaml:1:9: legacy: expected off, observe or optimize, not 'no'"},
    {"packages: lua\n", "p.yaml:1:11: packages: expected a list of package names"},
    {"a: [1\n", "p.yaml:2:1: "},
    {"idle: {}\n---\nidle: {}\n", "p.yaml:3:1: expected one document, this is a second one"},
    {"idle: *nowhere\n", "p.yaml:1:7: "},
    {"&a idle: {cpu: *a}\n", "p.yaml:1:1: cpu: expected a share such as 0.1 or 10%, not 'idle'"},
    {"{[1]: 2}\n", "p.yaml:1:2: policy: expected a key"},
    {"\"id\\0le\": {}\n", "p.yaml:1:1: policy: expected a key"},
    {"idle: \xff\n", "p.yaml: byte "},
};

START_TEST(one_error_with_its_place)
{
	ck_assert_int_eq(parse(bad[_i].text), -1);
	ck_assert_msg(strncmp(e.text, bad[_i].error, strlen(bad[_i].error)) == 0,
	    "expected: %s\ngot:      %s", bad[_i].error, e.text);
	ck_assert_ptr_null(c.path);
	ck_assert_ptr_null(c.modules.v);
}
END_TEST

START_TEST(empty_is_all_defaults)
{
	struct buf text = {0};
	struct conf d;

	conf_defaults(&d);
	ck_assert_int_eq(parse("# nothing\n"), 0);
	ck_assert_double_eq(c.decide.min_samples, d.decide.min_samples);
	conf_free(&c);
	ck_assert_int_eq(conf_read(NULL, NULL, &c, &e), 0);
	ck_assert_ptr_null(c.path);
	conf_free(&c);
	ck_assert_int_eq(conf_read("/nonexistent/p.yaml", &text, &c, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "/nonexistent/p.yaml"));
}
END_TEST

START_TEST(first_matching_module_holds)
{
	const struct conf_module *m;

	ck_assert_int_eq(
	    parse("modules:\n  - {path: /usr/bin/lua*, action: ignore}\n"
		  "  - {path: /usr/*, action: observe}\n"
		  "  - {path: /usr/**, verify: [special], measure: ['{build}', s], order: /l}\n"
		  "verify: {command: [general]}\nmeasure: {command: ['{build}', g]}\n"),
	    0);
	m = conf_module_for(&c, "/usr/bin/lua5.4");
	ck_assert_ptr_nonnull(m);
	ck_assert_int_eq(m->action, CONF_IGNORE);
	m = conf_module_for(&c, "/usr/x");
	ck_assert_int_eq(m->action, CONF_OBSERVE);
	m = conf_module_for(&c, "/usr/bin/perl");
	ck_assert_int_eq(m->action, CONF_OPTIMIZE);
	ck_assert_uint_eq(m->line, 4);
	ck_assert_ptr_null(conf_module_for(&c, "/home/ann/x"));
	ck_assert_str_eq(conf_verify_for(&c, "/usr/bin/perl")[0], "special");
	ck_assert_str_eq(conf_verify_for(&c, "/home/ann/x")[0], "general");
	ck_assert_str_eq(conf_measure_for(&c, "/usr/bin/perl")[1], "s");
	ck_assert_str_eq(conf_measure_for(&c, "/home/ann/x")[1], "g");
	ck_assert_str_eq(conf_order_for(&c, "/usr/bin/perl"), "/l");
	ck_assert_ptr_null(conf_order_for(&c, "/usr/x"));
	ck_assert_ptr_null(conf_order_for(&c, "/home/ann/x"));
	conf_free(&c);
}
END_TEST

/* A service's counter and its restart go together. */
START_TEST(restart_is_the_counters)
{
	ck_assert_int_eq(
	    parse("modules:\n  - {path: /a, counter: own}\n"
		  "  - {path: /b, counter: own, restart: again}\n"
		  "  - {path: /d, counter: cycles}\n  - {path: /e, counter: [cycles, x]}\n"
		  "measure: {counter: any, restart: all}\n"),
	    0);
	ck_assert(conf_counts_cycles(&c, "/d") && !conf_counts_cycles(&c, "/e"));
	ck_assert_str_eq(conf_counter_for(&c, "/a")[0], "own");
	ck_assert_ptr_null(conf_restart_for(&c, "/a"));
	ck_assert_str_eq(conf_restart_for(&c, "/b")[0], "again");
	ck_assert_str_eq(conf_counter_for(&c, "/c")[0], "any");
	ck_assert(!conf_counts_cycles(&c, "/a"));
	ck_assert_str_eq(conf_restart_for(&c, "/c")[0], "all");
	conf_free(&c);
}
END_TEST

/* What an entry of the path's says, then the package's, then the general key. */
START_TEST(programs_without_an_artifact)
{
	ck_assert_int_eq(parse("modules:\n  - {path: /usr/bin/perl, legacy: off}\n"
			       "  - {path: /usr/bin/*, verify: x}\n"
			       "packages:\n  - perl-doc\n  - {name: 'perl*', legacy: optimize}\n"
			       "  - {name: 'perl-base', legacy: off}\n"),
	    0);
	ck_assert_int_eq(conf_legacy_for(&c, "/usr/bin/perl", "perl-base"), LEGACY_OFF);
	ck_assert_int_eq(conf_legacy_for(&c, "/usr/bin/x", "perl-base"), LEGACY_OPTIMIZE);
	ck_assert_int_eq(conf_legacy_for(&c, "/usr/bin/x", "perl-doc"), LEGACY_OBSERVE);
	ck_assert_int_eq(conf_legacy_for(&c, "/usr/bin/x", "xz-utils"), LEGACY_OBSERVE);
	ck_assert_int_eq(conf_legacy_for(&c, "/usr/bin/x", NULL), LEGACY_OBSERVE);
	ck_assert_int_eq(conf_legacy_most(&c, "/usr/bin/perl"), LEGACY_OFF);
	ck_assert_int_eq(conf_legacy_most(&c, "/usr/bin/x"), LEGACY_OPTIMIZE);
	ck_assert_ptr_null(conf_package_for(&c, "xz-utils"));
	ck_assert_str_eq(conf_package_for(&c, "perl-base")->name, "perl*");
	conf_free(&c);
	ck_assert_int_eq(parse("legacy: off\npackages: [x]\n"), 0);
	ck_assert_int_eq(conf_legacy_most(&c, "/y"), LEGACY_OFF);
	conf_free(&c);
}
END_TEST

UNIT_MAIN("conf", 0, NULL, NULL, file_states_the_defaults, every_unit, print_reads_back,
    UNIT_LOOP(one_error_with_its_place, sizeof bad / sizeof *bad), empty_is_all_defaults,
    first_matching_module_holds, restart_is_the_counters, programs_without_an_artifact)
