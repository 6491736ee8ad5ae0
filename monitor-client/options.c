#include "monitor-client/options.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/places.h"
#include "monitor-client/kernel/clock.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A prime, so as not to run in step with timers of the programs. */
enum { RATE = 251, RATE_MAX = 10000, FLUSH_S = 10, SPOOL_MIB = 64 };

static const char usage[] =
    "usage: morph-monitor [--source auto|tick|cpu-clock] [--rate HZ] [--socket PATH]\n"
    "                     [--spool DIR] [--spool-max MIB] [--flush SECONDS]\n"
    "                     [--record FILE] [--no-registers] [-v]\n"
    "                     [--pid PID[,PID…] | -- CMD [ARG…]]\n"
    "       morph-monitor --replay FILE [--socket PATH] [-v]\n";

static const char help[] =
    "\n"
    "Samples where programs spend their time and tells the manager: of the whole\n"
    "machine, which needs rights; of CMD and its children; or of processes that run\n"
    "already and the children they make from then on. Ends with what it saw of these.\n"
    "\n"
    "      --source S       auto, tick or cpu-clock: where samples come from\n"
    "      --rate HZ        samples per second and CPU of cpu-clock (default: 251)\n"
    "      --socket PATH    the manager's socket\n"
    "      --spool DIR      where batches wait while the manager is away\n"
    "      --spool-max MIB  at most so many of them (default: 64)\n"
    "      --flush SECONDS  time between two batches (default: 10)\n"
    "      --record FILE    write the batches there and tell the manager nothing\n"
    "      --replay FILE    send what --record wrote\n"
    "      --pid PID[,PID…] of these processes, until they end or Ctrl-C\n"
    "      --no-registers   send no program's registers, even where the manager\n"
    "                       wants them for the register replay\n"
    "  -v, --verbose        say more on standard error\n"
    "  -h, --help           -V, --version\n"
    "\n"
    "Exit status: that of CMD; 0 ended by a signal, 1 failed, 2 usage, 77 the kernel\n"
    "refuses perf events.\n";

enum {
	OPT_SOURCE = 256,
	OPT_RATE,
	OPT_SOCKET,
	OPT_SPOOL,
	OPT_SPOOL_MAX,
	OPT_FLUSH,
	OPT_RECORD,
	OPT_REPLAY,
	OPT_NO_REGISTERS,
	OPT_PID
};

static const struct option longs[] = {
    {"source", required_argument, NULL, OPT_SOURCE},
    {"rate", required_argument, NULL, OPT_RATE},
    {"socket", required_argument, NULL, OPT_SOCKET},
    {"spool", required_argument, NULL, OPT_SPOOL},
    {"spool-max", required_argument, NULL, OPT_SPOOL_MAX},
    {"flush", required_argument, NULL, OPT_FLUSH},
    {"record", required_argument, NULL, OPT_RECORD},
    {"replay", required_argument, NULL, OPT_REPLAY},
    {"pid", required_argument, NULL, OPT_PID},
    {"no-registers", no_argument, NULL, OPT_NO_REGISTERS},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {0},
};

static double number(const char *name, const char *text, double min, double max)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (errno || end == text || *end || !(v >= min && v <= max))
		die(EXIT_USAGE, "--%s: \"%s\" is no number from %g to %g", name, text, min, max);
	return v;
}

static enum source_want source_named(const char *name)
{
	if (!strcmp(name, "auto"))
		return SOURCE_AUTO;
	if (!strcmp(name, "tick"))
		return SOURCE_TICK;
	if (!strcmp(name, "cpu-clock"))
		return SOURCE_CPU_CLOCK;
	die(EXIT_USAGE, "--source: \"%s\" is none of auto, tick, cpu-clock", name);
}

static void add_pids(struct options *o, const char *list)
{
	const char *p = list;
	char *end;
	long v;

	for (;; p = end + 1) {
		errno = 0;
		v = strtol(p, &end, 10);
		if (errno || *p < '0' || *p > '9' || v < 1 || v > INT32_MAX ||
		    (*end && *end != ','))
			die(EXIT_USAGE, "--pid: \"%s\" is no list of process ids, PID[,PID...]",
			    list);
		vec_push(&o->pid, (pid_t)v);
		if (!*end)
			return;
	}
}

static char *default_spool(void)
{
	char *state, *spool;

	if (geteuid() == 0 && !env_value("MORPH_STATE"))
		return xstrdup("/var/lib/morph-monitor");
	state = places_state();
	if (!state)
		die(EXIT_USAGE,
		    "neither XDG_STATE_HOME nor HOME is an absolute path; name --spool");
	spool = xasprintf("%s/spool", state);
	free(state);
	return spool;
}

static void set_default_paths(struct options *o)
{
	if (!o->socket)
		o->socket = places_socket("monitor.sock");
	if (!o->spool)
		o->spool = default_spool();
}

static void check_together(const struct options *o)
{
	if (o->replay && (o->record || o->command))
		die(EXIT_USAGE, "--replay goes with neither --record nor a command");
	if (o->pid.n && (o->replay || o->command))
		die(EXIT_USAGE, "--pid goes with neither --replay nor a command");
}

void options_read(struct options *o, int argc, char **argv)
{
	int c;

	*o = (struct options){.source = {.want = SOURCE_AUTO, .rate = RATE},
	    .spool_max = (uint64_t)SPOOL_MIB << 20,
	    .flush = FLUSH_S * SECOND};
	while ((c = getopt_long(argc, argv, "+vhV", longs, NULL)) != -1)
		switch (c) {
		case OPT_SOURCE:
			o->source.want = source_named(optarg);
			break;
		case OPT_RATE:
			o->source.rate = (unsigned)number("rate", optarg, 1, RATE_MAX);
			break;
		case OPT_SOCKET:
			free(o->socket);
			o->socket = xstrdup(optarg);
			break;
		case OPT_SPOOL:
			free(o->spool);
			o->spool = xstrdup(optarg);
			break;
		case OPT_SPOOL_MAX:
			o->spool_max =
			    (uint64_t)(number("spool-max", optarg, 0, 1 << 20) * (1 << 20));
			break;
		case OPT_FLUSH:
			o->flush = (uint64_t)(number("flush", optarg, 0.1, 86400) * SECOND);
			break;
		case OPT_RECORD:
			o->record = optarg;
			break;
		case OPT_REPLAY:
			o->replay = optarg;
			break;
		case OPT_PID:
			add_pids(o, optarg);
			break;
		case OPT_NO_REGISTERS:
			o->no_registers = true;
			break;
		case 'v':
			o->verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			fputs(help, stdout);
			exit(0);
		case 'V':
			puts("morph-monitor " MORPH_VERSION);
			exit(0);
		default:
			fputs(usage, stderr);
			exit(EXIT_USAGE);
		}
	if (optind < argc)
		o->command = argv + optind;
	check_together(o);
	set_default_paths(o);
}

void options_free(struct options *o)
{
	free(o->socket);
	free(o->spool);
	vec_free(&o->pid);
}
