#include "editor-driver/cli/cli.h"

#include <stdio.h>

enum { REASONS_SHOWN = 12 };

static json_t *reasons_json(const struct lift_result *r)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < r->reason.n; i++)
		json_array_append_new(
		    list, json_pack("{s:s, s:I, s:I}", "text", r->reason.v[i].text, "functions",
			      (json_int_t)r->reason.v[i].functions, "bytes",
			      (json_int_t)r->reason.v[i].bytes));
	return list;
}

json_t *lift_json(const struct job *j)
{
	const struct lift_result *r = &j->lifted;

	return json_pack("{s:b, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "ok", 1, "out", j->o->out,
	    "functions", (json_int_t)r->functions, "stay", (json_int_t)r->stay, "bytes",
	    (json_int_t)r->bytes, "stay_bytes", (json_int_t)r->stay_bytes, "indirect_jumps",
	    (json_int_t)r->indirect, "known_tables", (json_int_t)r->known, "reasons",
	    reasons_json(r));
}

void lift_text(const struct job *j)
{
	const struct lift_result *r = &j->lifted;
	size_t i;

	printf("%-12s %u functions, %llu bytes of code\n", "lifted", r->functions - r->stay,
	    (unsigned long long)(r->bytes - r->stay_bytes));
	printf("%-12s %u, of which %u go by known jump tables\n", "indirect jumps", r->indirect,
	    r->known);
	printf(
	    "%-12s %u functions, %llu bytes\n", "stay", r->stay, (unsigned long long)r->stay_bytes);
	for (i = 0; i < r->reason.n && i < REASONS_SHOWN; i++)
		printf("%-12s %6u  %s\n", "", r->reason.v[i].functions, r->reason.v[i].text);
	printf("%-12s %s\n", "written", j->o->out);
}
