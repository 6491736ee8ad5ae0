#include "morphctl/report/job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT = 30, LIMIT_CALLERS = 15 };

/* Without a level one below what is asked for. */
static int choose_level(struct job *j)
{
	static const char *const name[] = {"module", "function", "line", "address", "process"};
	size_t i;

	j->query.module = j->narg > 1 ? j->arg[1] : NULL;
	j->query.function = j->narg > 2 ? j->arg[2] : NULL;
	j->query.level = j->query.function ? BREAKDOWN_LINE
			 : j->query.module ? BREAKDOWN_FUNCTION
					   : BREAKDOWN_MODULE;
	for (i = 0; j->level && i < sizeof name / sizeof *name; i++) {
		if (strcmp(j->level, name[i]) == 0) {
			j->query.level = (enum breakdown_level)i;
			return EXIT_DONE;
		}
	}
	if (!j->level)
		return EXIT_DONE;
	return complain(
	    EXIT_USAGE, "--by %s: expected module, function, line, address or process", j->level);
}

static int check_charged(const struct job *j)
{
	if (!j->query.charged ||
	    (j->query.module && !j->callers && j->query.level != BREAKDOWN_PROCESS))
		return EXIT_DONE;
	return complain(EXIT_USAGE, "--charged is of a MODULE's functions, lines or addresses");
}

static bool has_chains(const struct recording *r)
{
	size_t i;

	for (i = 0; i < r->stack.n; i++)
		if (r->stack.v[i].caller != RECORDING_NONE)
			return true;
	return false;
}

static void show_callers(struct job *j)
{
	struct callgraph g = {0};

	if (j->r.partial)
		callgraph_of_callers(&g, &j->r, j->query.event);
	else if (has_chains(&j->r))
		callgraph_of_chains(&g, &j->r, j->query.event);
	else
		callgraph_of_calls(&g, &j->r, j->query.event);
	callgraph_end(&g);
	j->show.limit = j->show.limit ? j->show.limit : LIMIT_CALLERS;
	show_callgraph(stdout, &j->r, &g, j->r.event.v[j->query.event].unit, &j->show);
	callgraph_free(&g);
}

int job_report(struct job *j)
{
	int rc;

	if (j->narg < 1 || j->narg > 3)
		return EXIT_USAGE;
	rc = choose_level(j) ?: check_charged(j);
	if (rc)
		return rc;
	rc = job_read(j, j->arg[0]) ?: job_choose_event(j);
	if (rc)
		return rc;
	j->symbols.lines = j->query.level == BREAKDOWN_LINE;
	if (j->query.level != BREAKDOWN_MODULE || j->query.function || j->callers)
		symbols_resolve(&j->r, &j->symbols);
	j->show.whole = !isatty(STDOUT_FILENO);
	if (j->callers) {
		show_callers(j);
		return EXIT_DONE;
	}
	j->show.limit = j->show.limit ? j->show.limit : LIMIT;
	show_breakdown(stdout, &j->r, &j->query, &j->show);
	return EXIT_DONE;
}
