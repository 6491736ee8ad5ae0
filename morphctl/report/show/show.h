/*
 * Recordings as tables for people, and as JSON for programs.
 */
#ifndef MORPH_REPORT_SHOW_H
#define MORPH_REPORT_SHOW_H

#include "common/err.h"
#include "morphctl/report/recording/recording.h"
#include "morphctl/report/show/annotate.h"
#include "morphctl/report/show/callgraph.h"
#include "morphctl/report/show/breakdown.h"

#include <stdio.h>

struct show_options {
	bool json;
	bool whole;   /* nothing is cut: it does not go to a terminal */
	size_t limit; /* rows, of a call graph functions */
};

/* The samples added up; r is resolved as far as q's level needs it. */
void show_breakdown(FILE *out, const struct recording *r, const struct breakdown_query *q,
    const struct show_options *o);
/* The functions with most in total, each between its callers and its callees. unit: of times,
 * "ns" or an event's. */
void show_callgraph(FILE *out, const struct recording *r, const struct callgraph *g,
    const char *unit, const struct show_options *o);

/* A function's parts, each n lines of one function of the recording; source lines are read as
 * symbols_source() does. */
struct show_part {
	uint32_t function;
	struct annotate_line *line;
	size_t n;
};
void show_annotated(FILE *out, const struct recording *r, uint32_t event,
    const struct show_part *part, size_t n, const struct show_options *o);

#endif
