/*
 * morph-simulate: what the manager would do on a trace, beside other strategies. `morphctl
 * simulate` runs it. Works on nothing but what it makes itself, in a folder of its own.
 */
#include "common/ascii.h"
#include "common/log.h"
#include "common/places.h"
#include "managerd/simulate/report.h"
#include "managerd/simulate/simtime.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_CANNOT = 1, EXIT_USAGE = 2 };
enum { O_POLICY = 256, O_DECISIONS };

static const struct option options[] = {{"json", no_argument, NULL, 'j'},
    {"policy", required_argument, NULL, O_POLICY}, {"decisions", no_argument, NULL, O_DECISIONS},
    {"verbose", no_argument, NULL, 'v'}, {NULL, 0, NULL, 0}};

/* In place of the C library's: all clocks that the manager and its loop go by. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	int64_t ns;

	if (!simtime.on || id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID)
		return (int)syscall(SYS_clock_gettime, id, t);
	ns =
	    id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE ? simtime.real_ns : simtime.mono_ns;
	*t = (struct timespec){ns / 1000000000, ns % 1000000000};
	return 0;
}

struct settings {
	const char *policy;
	bool json, decisions;
};

static void read_options(struct settings *s, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "v", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			s->json = true;
			break;
		case 'v':
			log_init("morph-simulate", LOG_LVL_INFO);
			break;
		case O_POLICY:
			s->policy = optarg;
			break;
		case O_DECISIONS:
			s->decisions = true;
			break;
		default:
			exit(EXIT_USAGE);
		}
	}
	if (optind == argc)
		die(EXIT_USAGE, "no trace is named; see morphctl(1)");
}

/* A policy of its own for each: the manager takes it over. */
static int run(const struct settings *s, const char *path, const char *editor, json_t *all)
{
	struct simulated out = {0};
	struct buf text = {0};
	struct trace t;
	struct conf conf;
	struct err e;
	int rc;

	rc = conf_read(s->policy, &text, &conf, &e);
	buf_free(&text);
	if (rc == 0 && (rc = trace_read(path, &t, &e)) != 0)
		conf_free(&conf);
	if (rc) {
		log_error("%s", e.text);
		return EXIT_CANNOT;
	}
	rc = simulate(&t, &conf, editor, &out, &e);
	if (rc)
		log_error("%s: %s", path, e.text);
	else if (all)
		json_array_append_new(all, report_json(&t, &out));
	else
		report_text(&t, &out, s->decisions);
	simulated_free(&out);
	trace_free(&t);
	conf_free(&conf);
	return rc ? EXIT_CANNOT : 0;
}

int main(int argc, char **argv)
{
	struct settings s = {0};
	json_t *all;
	char *editor;
	int i, rc = 0;

	ascii_begin();
	log_init("morph-simulate", LOG_LVL_ERROR);
	read_options(&s, argc, argv);
	if (s.json)
		ascii_keep_stdout();
	signal(SIGPIPE, SIG_IGN);
	setenv("UV_THREADPOOL_SIZE", "1", 1); /* in order */
	editor = places_own("../../bin/morph-edit");
	if (!editor)
		die(EXIT_CANNOT, "morph-edit is not beside this program");
	all = s.json ? json_array() : NULL;
	for (i = optind; rc == 0 && i < argc; i++) {
		if (i > optind && !all)
			printf("\n");
		rc = run(&s, argv[i], editor, all);
	}
	if (all && rc == 0)
		json_dumpf(all, stdout, JSON_INDENT(2));
	json_decref(all);
	free(editor);
	if (fflush(stdout) || ferror(stdout))
		die(EXIT_CANNOT, "standard output: cannot write");
	return rc;
}
