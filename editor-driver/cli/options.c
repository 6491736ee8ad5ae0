#include "editor-driver/cli/cli.h"
#include "common/log.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char HELP[] =
    "usage: morph-edit --artifact NAME.morph JOB [OPTION]...\n"
    "       morph-edit --lift FILE [--addresses LIST] -o NAME.morph\n"
    "Changes the code layout of a program and links it again, from its artifact.\n"
    "\n"
    "Jobs, with PROFILE either --samples FILE or --counts FILE; see morph-edit(1):\n"
    "  PROFILE -o OUT               a new build, laid out by the profile\n"
    "  --random SEED -o OUT         a random layout: any layout must be correct\n"
    "  --identity -o OUT            the layout of the original\n"
    "  PROFILE --score [--interval] print scores of the present and the best layout, and\n"
    "                               how far the number of samples lets them be trusted\n"
    "  --report [PROFILE]           print what the artifact contains\n"
    "  --compare A B [--top N]      print how well A agrees with B; both are\n"
    "                               samples:FILE or counts:FILE\n"
    "  --instrument=blocks|edges [--counters=plain|thread|atomic] [PROFILE] -o OUT\n"
    "                               a build that counts what it executes\n"
    "  --read-counts -o OUT FILE... a profile for --counts of what such builds wrote\n"
    "  --replay-table [PROFILE] -o OUT  micro-operations, for samples with registers\n"
    "  --shapes -o OUT              what is kept of blocks when sources change\n"
    "  --carry SHAPES --samples FILE -o OUT\n"
    "                               a profile of the build with these shapes, for this one\n"
    "  PROFILE --branches -o OUT    inferred counts by address, for create_gcov of AutoFDO\n"
    "  PROFILE --annotate FUNCTION[#KEY]  print a function's blocks and instructions\n"
    "  --lift FILE -o NAME.morph    an artifact of a program that has none, from its\n"
    "                               machine code; --addresses LIST: of the functions at\n"
    "                               these file offsets alone, in hexadecimal, a line each\n"
    "Options:\n"
    "  --program ID     of an artifact of several programs, which: its build-id, if the\n"
    "                   artifact's name does not say it\n"
    "  --original FILE  what is to be replaced: refused if changed after its link\n"
    "  --layout BUILD   the present layout (default: the original's)\n"
    "  --module BUILD   with --branches and --annotate: where code lies (default: the\n"
    "                   original)\n"
    "  --order FILE     functions that come first, a name a line, as linkers' order files\n"
    "  --omit LIST      leave out passes, to judge them: all, or cpu,got,tails\n"
    "  --cache DIR      of objects (default: ${XDG_CACHE_HOME:-~/.cache}/morph)\n"
    "  --jobs N threads, --keep DIR to work in, --need-sandbox, --json, -o (--output)\n"
    "  -v, --verbose    -h, --help    -V, --version\n"
    "Exit status: 0 done, 1 failed, 2 usage error, 75 temporary failure: try again.\n";

enum {
	O_SAMPLES = 256,
	O_COUNTS,
	O_RANDOM,
	O_IDENTITY,
	O_JOBS,
	O_OMIT,
	O_INSTRUMENT,
	O_COUNTERS,
	O_READ,
	O_TOP,
	O_PROGRAM
};
/* Options that only store their text, or that they are there: in which member. */
enum { TEXTS = 1 << 10, FLAGS = 1 << 11 };
#define TEXT(member) required_argument, NULL, TEXTS + offsetof(struct options, member)
#define FLAG(member) no_argument, NULL, FLAGS + offsetof(struct options, member)

enum { TOP_DEFAULT = 20, JOBS_MAX = 64 };

static const struct option LONG[] = {{"artifact", TEXT(artifact)},
    {"program", required_argument, NULL, O_PROGRAM},
    {"samples", required_argument, NULL, O_SAMPLES}, {"counts", required_argument, NULL, O_COUNTS},
    {"random", required_argument, NULL, O_RANDOM}, {"identity", no_argument, NULL, O_IDENTITY},
    {"output", TEXT(out)}, {"original", TEXT(original)}, {"score", FLAG(score)},
    {"interval", FLAG(interval)}, {"layout", TEXT(layout)}, {"order", TEXT(order)},
    {"omit", required_argument, NULL, O_OMIT}, {"report", FLAG(report)}, {"compare", FLAG(compare)},
    {"top", required_argument, NULL, O_TOP}, {"json", FLAG(json)}, {"cache", TEXT(cache)},
    {"jobs", required_argument, NULL, O_JOBS}, {"keep", TEXT(keep)},
    {"replay-table", FLAG(replay_table)}, {"branches", FLAG(branches)}, {"module", TEXT(module)},
    {"lift", TEXT(lift)}, {"addresses", TEXT(addresses)}, {"annotate", TEXT(annotate)},
    {"shapes", FLAG(shapes)}, {"carry", TEXT(carry)},
    {"instrument", required_argument, NULL, O_INSTRUMENT},
    {"counters", required_argument, NULL, O_COUNTERS}, {"read-counts", no_argument, NULL, O_READ},
    {"need-sandbox", FLAG(need_sandbox)}, {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {NULL, 0, NULL, 0}};

static _Noreturn void usage(const char *why)
{
	log_error("%s; see morph-edit --help", why);
	exit(EXIT_USAGE);
}

static uint64_t number(const char *s, uint64_t max, const char *why)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (*s < '0' || *s > '9' || *end || errno || v > max)
		usage(why);
	return v;
}

static bool named(const char *list, size_t n, const char *name)
{
	return n == strlen(name) && !memcmp(list, name, n);
}

/* Names separated by commas. */
static void omit(struct plan_omit *o, const char *list)
{
	size_t n;
	bool all;

	for (;; list += n + 1) {
		n = strcspn(list, ",");
		all = named(list, n, "all");
		if (!all && !named(list, n, "tails") && !named(list, n, "got") &&
		    !named(list, n, "cpu"))
			usage("--omit takes tails, got, cpu, or all");
		o->tails |= all || named(list, n, "tails");
		o->got |= all || named(list, n, "got");
		o->cpu |= all || named(list, n, "cpu");
		if (!list[n])
			return;
	}
}

/* Which of the words, which blanks separate, it is. */
static unsigned word(const char *s, const char *words, const char *why)
{
	unsigned k;
	size_t n;

	for (k = 0; *words; k++, words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (named(words, n, s))
			return k;
	}
	usage(why);
}

static _Noreturn void print_and_exit(const char *text)
{
	fputs(text, stdout);
	exit(fflush(stdout) ? EXIT_CANNOT : 0);
}

/* What selects the job. */
struct wanted {
	int sources; /* of a layout */
	bool instrument, counters, read;
};

static void check_options(const struct options *o, const struct wanted *w, int files)
{
	bool other = w->sources && !o->profile; /* --random, --identity */
	bool made = w->instrument || w->read || o->replay_table || o->shapes;
	bool listed = o->branches || o->annotate;
	const struct {
		bool wrong;
		const char *why;
	} rule[] = {{o->compare && files != 2, "--compare takes two profiles"},
	    {files && !w->read && !o->compare, "too many arguments"},
	    {!o->artifact && !o->lift, "--artifact is missing"},
	    {o->program.n && !o->artifact, "--program needs --artifact"},
	    {o->lift && (!o->out || o->artifact || w->sources || made || listed || o->carry ||
			    o->original || o->layout),
		"--lift needs -o NAME.morph, and takes --addresses and --jobs alone"},
	    {o->addresses && !o->lift, "--addresses needs --lift"},
	    {w->sources > 1, "--samples, --counts, --random and --identity exclude each other"},
	    {o->score + o->report + o->compare + !!o->annotate + !!o->out != 1,
		"one of -o OUT, --score, --report, --annotate and --compare is needed"},
	    {w->instrument + w->read + o->replay_table + o->shapes + !!o->carry + o->branches > 1,
		"--instrument, --read-counts, --replay-table, --shapes, --carry and --branches "
		"exclude each other"},
	    {w->instrument && !o->out, "--instrument needs -o OUT"},
	    {w->instrument && other,
		"--instrument can only be combined with --samples or --counts"},
	    {w->instrument && (o->original || o->layout),
		"--instrument cannot be combined with --original or --layout"},
	    {w->counters && !w->instrument, "--counters needs --instrument"},
	    {w->read && (!o->out || !files), "--read-counts needs -o PROFILE and files"},
	    {w->read && w->sources, "--read-counts cannot be combined with --samples, --counts, "
				    "--random or --identity"},
	    {o->out && !w->sources && !made && !o->lift,
		"--samples, --counts, --random or --identity is needed"},
	    {o->score && !o->profile, "--score needs --samples or --counts"},
	    {o->interval && (!o->score || o->form != COUNTS_SAMPLES),
		"--interval needs --score and --samples"},
	    {o->compare && w->sources, "--compare takes its profiles as arguments"},
	    {o->report && other, "--report can only be combined with --samples or --counts"},
	    {o->replay_table && (!o->out || other),
		"--replay-table needs -o OUT, and can only be combined with --samples or --counts"},
	    {(o->original || o->layout) && o->replay_table,
		"--replay-table cannot be combined with --original or --layout"},
	    {o->shapes && (!o->out || w->sources), "--shapes needs -o OUT and no profile"},
	    {o->carry && (!o->out || !o->profile || o->form != COUNTS_SAMPLES),
		"--carry needs --samples and -o OUT"},
	    {(o->original || o->layout) && (o->shapes || o->carry),
		"--shapes and --carry cannot be combined with --original or --layout"},
	    {listed && !o->profile, "--branches and --annotate need --samples or --counts"},
	    {o->branches && !o->out, "--branches needs -o OUT"},
	    {listed && (o->original || o->layout),
		"--branches and --annotate cannot be combined with --original or --layout"},
	    {o->module && !listed, "--module needs --branches or --annotate"},
	    {o->order &&
		    (!w->sources || made || o->branches || o->carry || o->annotate || o->report),
		"--order is for jobs that lay out: --samples, --counts, --random or --identity, "
		"with "
		"-o OUT or --score"},
	    {o->original && !o->out, "--original needs -o OUT"},
	    {o->layout && !o->profile, "--layout needs --samples or --counts"},
	    {o->layout && o->report, "--layout needs --score or -o OUT"}};
	size_t i;

	for (i = 0; i < sizeof rule / sizeof *rule; i++)
		if (rule[i].wrong)
			usage(rule[i].why);
}

/* "samples:FILE" or "counts:FILE". */
static struct compare_input read_profile(const char *arg)
{
	struct compare_input in = {strchr(arg, ':'), COUNTS_SAMPLES};

	if (in.path && !strncmp(arg, "counts:", 7))
		in.form = COUNTS_EXECUTIONS;
	else if (!in.path || strncmp(arg, "samples:", 8))
		usage("a profile to compare is samples:FILE or counts:FILE");
	in.path++;
	return in;
}

static void read_option(struct options *o, struct wanted *w, int c, const char *arg)
{
	switch (c) {
	case 'o':
		o->out = optarg;
		break;
	case O_PROGRAM:
		if (build_id_parse(optarg, &o->program))
			usage("--program takes a build-id");
		break;
	case O_SAMPLES:
	case O_COUNTS:
		o->mode = PLAN_PROFILE;
		o->form = c == O_SAMPLES ? COUNTS_SAMPLES : COUNTS_EXECUTIONS;
		o->profile = optarg;
		break;
	case O_RANDOM:
		o->mode = PLAN_RANDOM;
		o->seed = number(optarg, UINT64_MAX, "--random takes a whole number");
		break;
	case O_IDENTITY:
		o->mode = PLAN_IDENTITY;
		break;
	case O_OMIT:
		omit(&o->omit, optarg);
		break;
	case O_TOP:
		o->top = (unsigned)number(optarg, UINT32_MAX, "--top takes a whole number");
		break;
	case O_JOBS:
		o->jobs = (unsigned)number(optarg, JOBS_MAX, "--jobs takes a number up to 64");
		break;
	case O_INSTRUMENT:
		w->instrument = true;
		o->counting.edges =
		    word(optarg, "blocks edges", "--instrument takes blocks or edges");
		break;
	case O_COUNTERS:
		w->counters = true;
		o->counting.kind = (enum counter_kind)word(
		    optarg, "plain atomic thread", "--counters takes plain, atomic or thread");
		break;
	case O_READ:
		w->read = true;
		break;
	case 'v':
		log_init("morph-edit", LOG_LVL_DEBUG);
		break;
	case 'h':
		print_and_exit(HELP);
	case 'V':
		print_and_exit("morph-edit " MORPH_VERSION "\n");
	default:
		log_error("%s: no such option, or its value is missing", arg);
		exit(EXIT_USAGE);
	}
}

void options_parse(struct options *o, int argc, char **argv)
{
	struct wanted w = {0};
	int c;

	*o = (struct options){.jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN), .top = TOP_DEFAULT};
	opterr = 0;
	while ((c = getopt_long(argc, argv, "o:vhV", LONG, NULL)) != -1) {
		w.sources += c == O_SAMPLES || c == O_COUNTS || c == O_RANDOM || c == O_IDENTITY;
		if (c >= FLAGS)
			*(bool *)((char *)o + c - FLAGS) = true;
		else if (c >= TEXTS)
			*(const char **)((char *)o + c - TEXTS) = optarg;
		else
			read_option(o, &w, c, argv[optind - 1]);
	}
	o->mode = w.instrument ? PLAN_COUNT : o->mode;
	if (w.read)
		o->raw = argv + optind;
	check_options(o, &w, argc - optind);
	for (c = 0; o->compare && c < 2; c++)
		o->compared[c] = read_profile(argv[optind + c]);
}
