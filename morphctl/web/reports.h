/*
 * Reports of all code for the page: a route below /report/ is a command of morphctl, with a list of
 * arguments that is always the same; what comes from the page is a value of --since and --until,
 * or stands after "--".
 *
 *	modules                            report --by=module
 *	functions [module]                 report --by=function
 *	lines module function              report --by=line
 *	annotate module function           annotate
 *	stacks [module]                    export folded
 *
 * All of them know since and until, as morphctl does.
 */
#ifndef MORPH_WEB_REPORTS_H
#define MORPH_WEB_REPORTS_H

#include "common/err.h"
#include "common/mem.h"
#include "morphctl/web/proxy.h"

struct report {
	const char *argv[16];
	bool text; /* it answers in text, not in JSON */
	struct arena mem;
};

/* What of the page's "/report/…" is to be run; the parameters must stay. -1: *status and *why.
 * The report is the caller's to free either way. */
int report_command(struct report *r, const char *path, const struct proxy_param *param, size_t n,
    const char *socket, long *status, const char **why);
void report_free(struct report *r);

/* At most REPORTS_AT_ONCE run. */
struct reports;
enum { REPORTS_AT_ONCE = 2, REPORT_S = 20 };
struct reports *reports_new(struct err *e);
/*
 * Runs one to its end, for a client on a socket; thread safe. What fails is an envelope, of what
 * morphctl said. It is killed after REPORT_S, beyond what struct spawn captures, and when the
 * client has gone.
 */
void reports_run(struct reports *all, const struct report *r, int client, struct proxy_answer *a);
void reports_free(struct reports *all);

#endif
