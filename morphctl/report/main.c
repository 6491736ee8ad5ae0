/*
 * morph-report: profiles of Morph and of other tools as tables, and in other tools' formats.
 * morphctl becomes it; options and arguments are documented in morphctl(1).
 *
 *	morph-report report [OPTION]… INPUT [MODULE [FUNCTION]]
 *	morph-report annotate [OPTION]… INPUT MODULE FUNCTION
 *	morph-report export [OPTION]… FORMAT INPUT [MODULE]
 *	morph-report top [--socket PATH]
 *	morph-report formats
 */
#include "common/ascii.h"
#include "common/log.h"
#include "morphctl/report/job.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_options(struct job *j, int argc, char **argv)
{
	enum {
		BY = 1,
		EVENT,
		CALLERS,
		CHARGED,
		LIMIT_ROWS,
		JSON,
		FROM,
		MODULE,
		OUTPUT,
		ARTIFACT,
		DEBUG,
		SOCKET
	};
	static const struct option option[] = {{"by", 1, NULL, BY}, {"event", 1, NULL, EVENT},
	    {"callers", 0, NULL, CALLERS}, {"charged", 0, NULL, CHARGED},
	    {"limit", 1, NULL, LIMIT_ROWS}, {"json", 0, NULL, JSON}, {"from", 1, NULL, FROM},
	    {"module", 1, NULL, MODULE}, {"output", 1, NULL, OUTPUT}, {"debug", 1, NULL, DEBUG},
	    {"artifact", 1, NULL, ARTIFACT}, {"socket", 1, NULL, SOCKET}, {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", option, NULL)) != -1) {
		switch (c) {
		case BY:
			j->level = optarg;
			break;
		case EVENT:
			j->event = optarg;
			break;
		case CALLERS:
			j->callers = true;
			break;
		case CHARGED:
			j->query.charged = true;
			break;
		case LIMIT_ROWS:
			j->show.limit = strtoul(optarg, NULL, 10);
			break;
		case JSON:
			j->show.json = true;
			ascii_keep_stdout();
			break;
		case FROM:
			j->in.format = optarg;
			break;
		case MODULE:
			j->in.module = j->out.module = optarg;
			break;
		case OUTPUT:
			j->output = optarg;
			break;
		case ARTIFACT:
			j->out.artifact = optarg;
			break;
		case DEBUG:
			j->symbols.debug = optarg;
			break;
		case SOCKET:
			j->socket = optarg;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	j->arg = argv + optind;
	j->narg = argc - optind;
	return EXIT_DONE;
}

static void list(const char *title, const char *(*name)(unsigned, const char **))
{
	const char *summary, *s;
	unsigned i;

	printf("%s:\n", title);
	for (i = 0; (s = name(i, &summary)); i++)
		printf("  %-15s %s\n", s, summary);
}

static int formats(struct job *j)
{
	list("Read (--input, --from)", in_format_name);
	list("Written (export FORMAT)", out_format_name);
	return EXIT_DONE;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct job *);
	} verb[] = {{"report", job_report}, {"annotate", job_annotate}, {"export", job_export},
	    {"top", job_top}, {"formats", formats}};
	struct job j = {0};
	int rc = EXIT_USAGE;
	size_t i;

	ascii_begin();
	log_init("morphctl", LOG_LVL_INFO);
	for (i = 0; argc > 1 && i < sizeof verb / sizeof *verb; i++)
		if (strcmp(argv[1], verb[i].name) == 0)
			rc = read_options(&j, argc - 1, argv + 1) ?: verb[i].run(&j);
	recording_free(&j.r);
	if (fflush(stdout) || ferror(stdout))
		return job_failed("standard output: cannot write");
	return rc;
}
