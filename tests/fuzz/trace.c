/*
 * cov >= 150
 * Traces for a simulation: what is read can be lived through.
 */
#include "managerd/simulate/trace.h"

#include <stdlib.h>
#include <string.h>

static void check_event(const struct trace *t, const struct trace_event *ev)
{
	const struct trace_program *p = &t->program.v[ev->program];
	size_t i;

	if (ev->kind != TRACE_MACHINE && ev->kind != TRACE_END && ev->program >= t->program.n)
		abort();
	if (ev->kind == TRACE_RUN &&
	    (ev->workload >= t->workload.n || t->workload.v[ev->workload].program != ev->program))
		abort();
	for (i = 0; i < ev->ncount; i++)
		if (ev->count[i].func >= p->func.n ||
		    ev->count[i].block >= p->func.v[ev->count[i].func].nblock || !ev->count[i].n)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct trace t;
	struct err e = {{0}};
	size_t i;

	if (trace_parse("fuzz", (const char *)p, n, &t, &e)) {
		if (strncmp(e.text, "fuzz:", 5) || strchr(e.text, '\n'))
			abort();
		return 0;
	}
	for (i = 0; i < t.event.n; i++) {
		if (i && t.event.v[i].at_ms < t.event.v[i - 1].at_ms)
			abort();
		check_event(&t, &t.event.v[i]);
	}
	trace_free(&t);
	return 0;
}
