/*
 * What morph-report is to do: options, and the steps that its verbs share. Each returns an exit
 * code of morphctl/text/complain.h, and has said why where it is not EXIT_DONE.
 */
#ifndef MORPH_REPORT_JOB_H
#define MORPH_REPORT_JOB_H

#include "morphctl/report/in/in.h"
#include "morphctl/report/out/out.h"
#include "morphctl/report/show/show.h"
#include "morphctl/report/symbols/symbols.h"
#include "morphctl/text/complain.h"

struct job {
	struct in_options in;
	struct out_options out;
	struct symbols_options symbols;
	struct breakdown_query query;
	struct show_options show;
	const char *event, *level, *output, *socket;
	bool callers;
	char **arg;
	int narg;
	struct recording r;
};

/* The verbs, with their arguments in arg. */
int job_report(struct job *j);
int job_annotate(struct job *j);
int job_export(struct job *j);
int job_top(struct job *j);

/*
 * Reads a profile. Root reads what a user wrote as that user, for good: what comes of it can do no
 * more than the user.
 */
int job_read(struct job *j, const char *path);
/* The event that was asked for, or that with most samples. */
int job_choose_event(struct job *j);
/* Complains. */
int job_failed(const char *text);

#endif
