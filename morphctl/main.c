#include "common/ascii.h"
#include "common/log.h"
#include "common/places.h"
#include "morphctl/client/client.h"
#include "morphctl/command.h"
#include "morphctl/hooks.h"
#include "morphctl/text/table.h"

#include <curl/curl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE_HELP \
	"MODULE is a path, the file name of one module, or an id from `status --json`.\n"

#define ARTIFACT_HELP \
	"FILE is a program, its NAME.morph or its build-id. The manager need not run.\n"

enum { REPORTED = OPT_INPUT | OPT_FROM | OPT_PROGRAM | OPT_SINCE | OPT_UNTIL };

static const struct command commands[] = {
    {"status", "[MODULE]", "what is known of programs, what is being done and why",
	"Without MODULE: the manager, where the samples went, and a table of modules.\n"
	"With MODULE: all about that one.\n" MODULE_HELP,
	OPT_LIMIT | OPT_ALL, 0, 1, cmd_status},
    {"reoptimize now", "[MODULE]", "decide at once, make a new layout if it pays",
	"Asks for a decision now instead of at the next cycle. Idleness, cool-down, budget and\n"
	"a hold do not count; the other rungs of the ladder do.\n"
	"Without MODULE: all of yours.\n" MODULE_HELP,
	OPT_WAIT | OPT_FORCE, 0, 1, cmd_reoptimize},
    {"rollback", "MODULE | --all", "put the build before the last swap back",
	"The module is then held, until a `reoptimize now` asks for it.\n" MODULE_HELP,
	OPT_WAIT | OPT_ALL, 0, 1, cmd_rollback},
    {"history", "[MODULE]", "past swaps and failures, newest first", MODULE_HELP, OPT_LIMIT, 0, 1,
	cmd_history},
    {"explain", "MODULE", "the last decision, rung by rung",
	"Every rung of the ladder with its numbers, and the one that stopped it.\n" MODULE_HELP, 0,
	1, 1, cmd_explain},
    {"profile", "MODULE", "hot functions and blocks",
	"With --text all of it, as a file of samples for morph-edit(1) and `morphctl "
	"compare`.\n" MODULE_HELP,
	OPT_BLOCKS | OPT_LIMIT | OPT_TEXT, 1, 1, cmd_profile},
    {"reload", "", "have the policy read again",
	"What is wrong in it is said as at the start of morphd, and then all stays as it was. Of\n"
	"the system's manager root alone may ask for it.\n",
	0, 0, 0, cmd_reload},
    {"artifact show", "FILE", "what a program's artifact holds", ARTIFACT_HELP, OPT_FUNCTIONS, 1, 1,
	cmd_artifact},
    {"artifact find", "FILE", "where a program's artifact is", ARTIFACT_HELP, 0, 1, 1,
	cmd_artifact_find},
    {"artifact list", "", "the artifacts that programs find by their build-id",
	"In ~/.local/share/morph and /usr/lib/morph, or the folders of $MORPH_ARTIFACTS.\n", 0, 0,
	0, cmd_artifact_list},
    {"artifact install", "[DESTDIR [INTO]]", "put artifacts of installed programs by build-id",
	"Finds the artifacts of all programs and libraries below DESTDIR (of the whole system\n"
	"without it) by their build-ids, where they were built or in the folders of\n"
	"`artifact list`, and copies them to usr/lib/morph below DESTDIR, or below INTO.\n",
	0, 0, 2, cmd_artifact_install},
    {"artifact fetch", "FILE", "get an artifact by its build-id from a server",
	"Asks the servers of $MORPH_ARTIFACT_URLS for /buildid/ID/morph, and with a public key of\n"
	"minisign(1) in $MORPH_ARTIFACT_KEY for its signature .minisig. Without a key only https\n"
	"is believed. Root's goes to /usr/lib/morph, another user's to ~/.local/share/morph.\n",
	0, 1, 1, cmd_artifact_fetch},
    {"artifact remove", "FILE", "remove an artifact from the folders of `artifact list`",
	ARTIFACT_HELP, 0, 1, 1, cmd_artifact_remove},
    {"compare", "FILE A B", "how far profile A of a program agrees with profile B",
	"FILE is the program or its NAME.morph; A and B are samples:FILE or counts:FILE, as\n"
	"morph-edit(1) reads them. The manager need not run.\n",
	OPT_LIMIT, 3, 3, cmd_compare},
    {"merge", "FILE[:WEIGHT]…", "add profiles up, by weight",
	"Each FILE is a profile as text: samples, as of `morphctl profile --text`, or executions, "
	"as\n"
	"of counting builds. All counts of a FILE are taken times WEIGHT, 1 without it; with "
	"--equal\n"
	"each is first scaled to the sum of the greatest one. The manager need not run.\n",
	OPT_EQUAL | OPT_OUTPUT, 1, 1000, cmd_merge},
    {"report", "[MODULE [FUNCTION]]", "where the time goes: modules, functions, lines",
	"Of all code that ran for you (root: for all): modules; of MODULE its functions; of\n"
	"FUNCTION its lines. --by WHAT has other rows. The manager's samples, or with --input "
	"FILE\n"
	"those of another profiler: `morphctl export --help` lists the formats.\n",
	OPT_LIMIT | REPORTED | OPT_BY | OPT_CALLERS | OPT_CHARGED | OPT_EVENT, 0, 2, cmd_report},
    {"annotate", "MODULE FUNCTION", "instructions of a function, with what was sampled at each",
	"Below their source lines, where these are known. STALL: how many times as long as one "
	"that\n"
	"does not wait, among the instructions of its basic block. With --blocks, of a module with "
	"an\n"
	"artifact: basic blocks with inferred executions and branch outcomes, where they lie and "
	"lay.\n",
	REPORTED | OPT_EVENT | OPT_BLOCKS, 2, 2, cmd_annotate},
    {"top", "", "what runs now: modules, functions, lines, by keys",
	"Enter goes into a module or function, Left comes back, s sorts, t takes another time, p "
	"shows\n"
	"processes, q quits. The manager gets new samples every ten seconds.\n",
	0, 0, 0, cmd_top},
    {"export", "FORMAT [MODULE]", "the samples in the format of another tool",
	"FORMAT is one of those that `morphctl export list` names. --input FILE takes another\n"
	"profiler's, so that each known format becomes any other. With MODULE what ran in it, or\n"
	"was called from there or called it. With --blocks, of a module with an artifact, how "
	"often\n"
	"its code ran, as inferred of its profile: autofdo, autofdo-direct, fdata, llvm or\n"
	"preaggregated.\n",
	REPORTED | OPT_OUTPUT | OPT_BLOCKS, 1, 2, cmd_export},
    {"optimize", "PROGRAM -o COPY [-- ARG…]", "a faster copy of any program, for yourself",
	"Lifts PROGRAM, if it has no artifact, watches one run of it with these ARGs, lays out a "
	"copy\n"
	"for that, and changes nothing else. With --input FILE it is not run: FILE is what "
	"another\n"
	"profiler recorded of it. The manager need not run. PROGRAM may be a library: then the "
	"ARGs are\n"
	"a program that uses it, and its own. Some 2,000 samples are the least: three seconds of "
	"CPU\n"
	"time; ten times as many are better.\n",
	OPT_OUTPUT | OPT_INPUT | OPT_FROM, 1, 1000, cmd_optimize},
    {"simulate", "TRACE…", "what the manager would do on traces of usage, beside other strategies",
	"Weeks in seconds: the manager's own decisions, with injected time, on what was recorded "
	"by\n"
	"the policy's `record.disk`, or generated (docs/FORMATS.md, \"Traces\"). Changes nothing; "
	"the\n"
	"manager need not run.\n",
	OPT_POLICY | OPT_DECISIONS, 1, 1000, cmd_simulate},
    {"web", "", "all of that as a page in the browser",
	"Prints a link that is good for one visit, from this machine, and serves its page until\n"
	"Ctrl-C, or when nobody has asked for an hour. The page changes nothing. With --listen a\n"
	"reverse proxy finds it at a Unix socket that only you may connect to, and says who may "
	"see it.\n",
	OPT_LISTEN, 0, 0, cmd_web},
};
enum { NCOMMANDS = sizeof commands / sizeof *commands };

static const struct option_help {
	int code; /* OPT_…, or a letter for those that all commands know, as COMMON has them */
	const char *name, *arg, *text;
} options[] = {
    {OPT_WAIT, "wait", NULL, "return when it is done; the exit code says how it ended"},
    {OPT_FORCE, "force", NULL, "also where the gain is small or not certain"},
    {OPT_ALL, "all", NULL, "all modules; of status: also those without artifact"},
    {OPT_BLOCKS, "blocks", NULL, "with the hottest blocks of each function"},
    {OPT_TEXT, "text", NULL, "print the profile as morph-edit(1) reads it"},
    {OPT_FUNCTIONS, "functions", NULL, "list the functions too"},
    {OPT_LIMIT, "limit", "N", "at most N lines"},
    {OPT_POLICY, "policy", "FILE", "by this policy instead of the defaults"},
    {OPT_DECISIONS, "decisions", NULL, "with the manager's decisions, one by one"},
    {OPT_EQUAL, "equal", NULL, "scale all to the same sum before they are weighed"},
    {OPT_OUTPUT, "output", "FILE", "write FILE, not to standard output; also -o FILE"},
    {OPT_INPUT, "input", "FILE", "a profile of any known format, not the manager's; also -i FILE"},
    {OPT_FROM, "from", "FORMAT", "the format of FILE, where its content does not tell"},
    {OPT_PROGRAM, "program", "FILE", "the program that FILE is of, where it does not name it"},
    {OPT_BY, "by", "WHAT", "rows: module, function, line, address or process"},
    {OPT_EVENT, "event", "NAME", "the event to count, where there are several"},
    {OPT_CALLERS, "callers", NULL, "functions between their callers and what they call"},
    {OPT_CHARGED, "charged", NULL, "with the time of other modules' code that MODULE's called"},
    {OPT_SINCE, "since", "TIME", "from a time, or so long ago: 2026-03-01, 90min, 7d"},
    {OPT_UNTIL, "until", "TIME", "up to a time, likewise"},
    {OPT_LISTEN, "listen", "PATH", "serve at a Unix socket, without a link"},
    {'j', "json", NULL, "the result as JSON, docs/API.md"},
    {'s', "socket", "PATH", "ask the manager at PATH"},
    {'S', "system", NULL, "ask the system's manager, where your own runs too"},
    {'h', "help", NULL, "this text"},
    {'V', "version", NULL, "print the version"},
};
enum { NOPTIONS = sizeof options / sizeof *options };
static const char short_options[] = "hVo:i:", COMMON[] = "jsShV";

static bool is_common(int code)
{
	return code < 128 && strchr(COMMON, code);
}

/* ---- help ---- */

static void help_options(const struct command *c)
{
	char left[64];
	int i;

	fputs("\nOptions:\n", stdout);
	for (i = 0; i < NOPTIONS; i++) {
		if (!is_common(options[i].code) && !(c && (c->options & (unsigned)options[i].code)))
			continue;
		snprintf(left, sizeof left, "--%s%s%s", options[i].name, options[i].arg ? " " : "",
		    options[i].arg ? options[i].arg : "");
		if (is_common(options[i].code) && strchr(short_options, options[i].code))
			printf("  -%c, %-16s %s\n", options[i].code, left, options[i].text);
		else
			printf("      %-16s %s\n", left, options[i].text);
	}
}

/* In columns, not bytes. */
static void help_line(const char *left, const char *summary)
{
	enum { WIDTH = 33 };
	unsigned n = text_width(left);

	printf("  %s%*s %s\n", left, n < WIDTH ? (int)(WIDTH - n) : 0, "", summary);
}

static int help_all(void)
{
	char left[64];
	int i;

	fputs("Usage: morphctl COMMAND [OPTION]… [ARGUMENT]\n\n"
	      "Shows and steers what Morph does with the programs of this machine.\n\nCommands:\n",
	    stdout);
	for (i = 0; i < NCOMMANDS; i++) {
		snprintf(left, sizeof left, "%s %s", commands[i].name, commands[i].args);
		help_line(left, commands[i].summary);
	}
	help_line("hooks run|doctor|log|…", "build programs with an artifact");
	help_options(NULL);
	fputs("\nmorphctl COMMAND --help says more. Exit codes: 0 done, 1 failed, 2 usage,\n"
	      "3 manager not running, 4 not found, 5 refused. Manual: morphctl(1).\n",
	    stdout);
	return EXIT_DONE;
}

static int help_command(const struct command *c)
{
	printf("Usage: morphctl %s [OPTION]… %s\n\n%c%s.\n\n%s", c->name, c->args,
	    c->summary[0] - 'a' + 'A', c->summary + 1, c->help);
	help_options(c);
	return EXIT_DONE;
}

/* ---- reading the command line ---- */

static int usage_error(const struct command *c)
{
	if (c)
		fprintf(stderr, "usage: morphctl %s [OPTION]… %s\n", c->name, c->args);
	else
		fprintf(stderr, "usage: morphctl COMMAND …; morphctl --help lists them\n");
	return EXIT_USAGE;
}

/* The command that the words name, or the first that begins so, and how many of them do. */
static const struct command *find_command(char **word, int n, int *used)
{
	const struct command *first = NULL;
	const char *space;
	size_t len;
	int i;

	for (i = 0; i < NCOMMANDS; i++) {
		space = strchr(commands[i].name, ' ');
		len = space ? (size_t)(space - commands[i].name) : strlen(commands[i].name);
		if (strlen(word[0]) != len || strncmp(commands[i].name, word[0], len) != 0)
			continue;
		if (!space || (n > 1 && !strcmp(space + 1, word[1]))) {
			*used = space ? 2 : 1;
			return &commands[i];
		}
		if (!first)
			first = &commands[i];
	}
	*used = first != NULL;
	return first;
}

/* The Damerau-Levenshtein distance of two words, at most `max` + 1. */
static int distance(const char *a, const char *b, int max)
{
	int best, d;

	while (*a && *a == *b)
		a++, b++;
	if (!*a && !*b)
		return 0;
	if (max == 0)
		return 1;
	best = max;
	if (*a && *b && (d = distance(a + 1, b + 1, max - 1)) < best)
		best = d;
	if (*a && (d = distance(a + 1, b, max - 1)) < best)
		best = d;
	if (*b && (d = distance(a, b + 1, max - 1)) < best)
		best = d;
	if (*a && *b && a[1] == *b && b[1] == *a && (d = distance(a + 2, b + 2, max - 1)) < best)
		best = d;
	return best + 1;
}

/* The first word of the command that was meant, or NULL. */
static const char *nearest(const char *word)
{
	static char name[32];
	const char *best = NULL, *full;
	int least = strlen(word) > 3 ? 3 : 2, i, d;

	for (i = 0; i <= NCOMMANDS; i++) {
		full = i < NCOMMANDS ? commands[i].name : "hooks";
		snprintf(name, sizeof name, "%.*s", (int)strcspn(full, " "), full);
		d = distance(word, name, least - 1);
		if (d < least) {
			least = d;
			best = full;
		}
	}
	if (best)
		snprintf(name, sizeof name, "%.*s", (int)strcspn(best, " "), best);
	return best ? name : NULL;
}

static bool whole_name(const struct command *c, int used)
{
	return used == (strchr(c->name, ' ') ? 2 : 1);
}

/* Calls show for all commands that begin with the same word. */
static int each_of_family(const struct command *c, int (*show)(const struct command *))
{
	size_t word = strcspn(c->name, " ");
	int i, code = 0;

	for (i = 0; i < NCOMMANDS; i++)
		if (strcspn(commands[i].name, " ") == word &&
		    !strncmp(commands[i].name, c->name, word))
			code = show(&commands[i]);
	return code;
}

static int long_options(struct option *out)
{
	int i;

	for (i = 0; i < NOPTIONS; i++)
		out[i] = (struct option){options[i].name,
		    options[i].arg ? required_argument : no_argument, NULL, options[i].code};
	out[NOPTIONS] = (struct option){0};
	return NOPTIONS;
}

static int take_limit(struct invocation *in, const char *s)
{
	char *end;

	in->limit = strtol(s, &end, 10);
	if (end == s || *end || in->limit < 1 || in->limit > 1000)
		return complain(EXIT_USAGE, "--limit %s: expected a number from 1 to 1000", s);
	return 0;
}

struct wanted {
	bool help, version;
};

/* Reads options anywhere among the words; what is left moves to the end. */
static int read_options(int argc, char **argv, struct invocation *in, struct wanted *w)
{
	struct option table[NOPTIONS + 1];
	int o;

	long_options(table);
	while ((o = getopt_long(argc, argv, short_options, table, NULL)) != -1) {
		if (o == '?')
			return EXIT_USAGE;
		if (o == 'o' || o == 'i')
			o = o == 'o' ? OPT_OUTPUT : OPT_INPUT;
		if (!is_common(o)) {
			in->given |= (unsigned)o;
			in->value[__builtin_ctz((unsigned)o)] = optarg;
		}
		if (o == OPT_LIMIT && take_limit(in, optarg))
			return EXIT_USAGE;
		in->system |= o == 'S';
		in->json |= o == 'j';
		w->help |= o == 'h';
		w->version |= o == 'V';
		if (o == 's')
			in->socket = optarg;
	}
	if (in->system && !in->socket)
		in->socket = places_machine_socket("api.sock");
	return 0;
}

static int check_options(const struct command *c, const struct invocation *in)
{
	unsigned odd = in->given & ~c->options;
	int i;

	for (i = 0; odd && i < NOPTIONS; i++) {
		if (!is_common(options[i].code) && (odd & (unsigned)options[i].code)) {
			complain(EXIT_USAGE, "%s knows no --%s", c->name, options[i].name);
			return usage_error(c);
		}
	}
	return 0;
}

static int run_command(int nword, char **word, struct invocation *in, bool help)
{
	const struct command *c;
	const char *meant;
	int used, code;

	if (nword == 0)
		return help ? help_all() : usage_error(NULL);
	c = find_command(word, nword, &used);
	if (!c) {
		meant = nearest(word[0]);
		return meant
			   ? complain(EXIT_USAGE, "no command %s; did you mean %s?", word[0], meant)
			   : complain(
				 EXIT_USAGE, "no command %s; morphctl --help lists them", word[0]);
	}
	if (!whole_name(c, used))
		return each_of_family(c, help ? help_command : usage_error);
	if (help)
		return help_command(c);
	in->arg = word + used;
	in->narg = nword - used;
	if (in->narg < c->min || in->narg > c->max)
		return usage_error(c);
	code = check_options(c, in);
	return code ? code : c->run(in);
}

int main(int argc, char **argv)
{
	struct arena mem = {0};
	struct invocation in = {.mem = &mem};
	struct wanted want = {0};
	int code, used;

	ascii_begin();
	log_init("morphctl", LOG_LVL_INFO);
	if (argc > 1 && strcmp(argv[1], "hooks") == 0)
		return cmd_hooks(argc - 1, argv + 1);
	if (argc > 2 && strcmp(argv[1], "help") == 0 && strcmp(argv[2], "hooks") == 0)
		return cmd_hooks(2, (char *[]){"hooks", "--help", NULL});
	code = read_options(argc, argv, &in, &want);
	if (code)
		return usage_error(argc > 1 ? find_command(argv + 1, argc - 1, &used) : NULL);
	if (optind < argc && !strcmp(argv[optind], "help")) {
		want.help = true;
		optind++;
	}
	if (want.version || (optind < argc && !strcmp(argv[optind], "version"))) {
		puts("morphctl " MORPH_VERSION);
		return EXIT_DONE;
	}
	curl_global_init(CURL_GLOBAL_DEFAULT);
	code = run_command(argc - optind, argv + optind, &in, want.help);
	curl_global_cleanup();
	arena_free(&mem);
	if (fflush(stdout) != 0 || ferror(stdout))
		return complain(EXIT_FAILED, "standard output: cannot write");
	return code;
}
