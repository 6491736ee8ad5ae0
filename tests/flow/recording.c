/*
 * Prints what a file of a profiler is as a recording, for tests:
 *	recording [--from FORMAT] [--module FILE] FILE
 * A line each, fields separated by tabs:
 *	sample EVENT UNIT PID TID COMM TIME N PERIOD STACK    STACK: places, innermost first, by ';'
 *	branch FROM TO N MISPREDICTED
 *	range FROM TO N
 *	file KIND PATH BUILD-ID PID
 *	lost N
 * A place is PATH+HEX, and of resolved ones the names of what is inlined there: PATH+HEX(a,b).
 */
#include "morphctl/report/in/in.h"

#include <getopt.h>
#include <stdio.h>

static void place(const struct recording *r, uint32_t i)
{
	const struct recording_location *l = &r->location.v[i];
	uint32_t k;

	if (i == RECORDING_NONE) {
		printf("-");
		return;
	}
	printf("%s+%llx", r->file.v[l->file].path, (unsigned long long)l->offset);
	for (k = 0; k < l->nframe; k++)
		printf("%c%s:%u", k ? ',' : '(',
		    r->function.v[r->frame.v[l->frame + k].function].name,
		    r->frame.v[l->frame + k].line);
	printf("%s", l->nframe ? ")" : "");
}

static void sample(const struct recording *r, const struct recording_sample *s)
{
	static const struct recording_task none = {.comm = ""};
	const struct recording_task *t = s->task == RECORDING_NONE ? &none : &r->task.v[s->task];
	const struct recording_event *e = &r->event.v[s->event];
	uint32_t i;

	printf("sample\t%s\t%s\t%u\t%u\t%s\t%llu\t%llu\t%llu\t", e->name, e->unit, t->pid, t->tid,
	    t->comm, (unsigned long long)s->time_ns, (unsigned long long)s->n,
	    (unsigned long long)s->period);
	for (i = s->stack; i != RECORDING_NONE; i = r->stack.v[i].caller) {
		printf("%s", i == s->stack ? "" : ";");
		place(r, r->stack.v[i].location);
	}
	printf("\n");
}

static void print(const struct recording *r)
{
	char hex[BUILD_ID_HEX];
	size_t i;

	for (i = 0; i < r->file.n; i++)
		printf("file\t%d\t%s\t%s\t%u\n", r->file.v[i].kind, r->file.v[i].path,
		    build_id_hex(&r->file.v[i].id, hex), r->file.v[i].pid);
	for (i = 0; i < r->sample.n; i++)
		sample(r, &r->sample.v[i]);
	for (i = 0; i < r->branch.n; i++) {
		printf("branch\t");
		place(r, r->branch.v[i].from);
		printf("\t");
		place(r, r->branch.v[i].to);
		printf("\t%llu\t%llu\n", (unsigned long long)r->branch.v[i].n,
		    (unsigned long long)r->branch.v[i].mispredicted);
	}
	for (i = 0; i < r->range.n; i++) {
		printf("range\t");
		place(r, r->range.v[i].from);
		printf("\t");
		place(r, r->range.v[i].to);
		printf("\t%llu\n", (unsigned long long)r->range.v[i].n);
	}
	printf("lost\t%llu\n", (unsigned long long)r->lost);
}

int main(int argc, char **argv)
{
	static const struct option option[] = {
	    {"from", required_argument, NULL, 'f'}, {"module", required_argument, NULL, 'm'}, {0}};
	struct in_options o = {0};
	struct recording r = {0};
	struct err e;
	int c, failed;

	while ((c = getopt_long(argc, argv, "", option, NULL)) != -1) {
		if (c == 'f')
			o.format = optarg;
		else if (c == 'm')
			o.module = optarg;
		else
			return 2;
	}
	if (argc - optind != 1)
		return 2;
	failed = in_read(&r, argv[optind], &o, &e);
	if (failed)
		fprintf(stderr, "%s\n", e.text);
	else
		print(&r);
	recording_free(&r);
	return failed ? 1 : 0;
}
