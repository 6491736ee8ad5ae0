/*
 * Writes a recording that is described on standard input in one of the formats of
 * morphctl/report/out. Lines of fields with tabs between them; things are numbered from 0 in the
 * order of their lines, - is none:
 *
 *	file KIND PATH BUILD-ID PID
 *	function NAME LINKAGE SOURCE FILE START SIZE LINE
 *	location FILE OFFSET [FUNCTION LINE DISCRIMINATOR]…    what was inlined first
 *	stack CALLER LOCATION
 *	task PID TID COMM
 *	event NAME UNIT
 *	sample EVENT TASK STACK TIME N PERIOD
 *	branch FROM TO N MISPREDICTED
 *	range FROM TO N
 *
 *	reportwriter FORMAT [MODULE] <DESCRIPTION >OUTPUT
 */
#include "morphctl/report/out/out.h"

#include <stdio.h>
#include <string.h>

enum { FIELDS = 400 };

static char *field[FIELDS];
static int nfield;

static uint64_t number(int i)
{
	if (i >= nfield) {
		fprintf(stderr, "%s: too few fields\n", field[0]);
		exit(2);
	}
	return strcmp(field[i], "-") == 0 ? RECORDING_NONE : strtoull(field[i], NULL, 0);
}

static void read_function(struct recording *r)
{
	struct recording_function f = {field[1], field[2], strcmp(field[3], "-") ? field[3] : NULL,
	    (uint32_t)number(4), number(5), number(6), (uint32_t)number(7)};

	recording_function(r, &f);
}

static void read_location(struct recording *r)
{
	uint32_t at = recording_location(r, (uint32_t)number(1), number(2)), n = 0;
	struct recording_frame frame[FIELDS];
	int i;

	for (i = 3; i + 2 < nfield; i += 3)
		frame[n++] = (struct recording_frame){
		    (uint32_t)number(i), (uint32_t)number(i + 1), (uint32_t)number(i + 2)};
	recording_resolve(r, at, frame, n);
}

static void read_line(struct recording *r)
{
	const char *what = field[0];
	struct build_id id = {0};

	if (strcmp(what, "file") == 0) {
		build_id_parse(field[3], &id);
		recording_file(
		    r, (enum recording_kind)number(1), field[2], &id, (uint32_t)number(4));
	} else if (strcmp(what, "function") == 0) {
		read_function(r);
	} else if (strcmp(what, "location") == 0) {
		read_location(r);
	} else if (strcmp(what, "stack") == 0) {
		recording_stack(r, (uint32_t)number(1), (uint32_t)number(2));
	} else if (strcmp(what, "task") == 0) {
		recording_task(r, (uint32_t)number(1), (uint32_t)number(2), field[3]);
	} else if (strcmp(what, "event") == 0) {
		recording_event(r, field[1], field[2]);
	} else if (strcmp(what, "sample") == 0) {
		recording_sample(
		    r, &(struct recording_sample){(uint32_t)number(1), (uint32_t)number(2),
			   (uint32_t)number(3), number(4), number(5), number(6)});
	} else if (strcmp(what, "branch") == 0) {
		recording_branch(r, (uint32_t)number(1), (uint32_t)number(2), number(3), number(4));
	} else if (strcmp(what, "range") == 0) {
		recording_range(r, (uint32_t)number(1), (uint32_t)number(2), number(3));
	}
}

int main(int argc, char **argv)
{
	struct out_options o = {.title = "a title", .module = argc > 2 ? argv[2] : NULL};
	struct recording r = {0};
	struct buf out = {0};
	char *line = NULL, *rest;
	size_t size = 0;
	struct err e;
	int status;

	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		rest = line;
		for (nfield = 0; nfield < FIELDS && rest;)
			field[nfield++] = strsep(&rest, "\t");
		read_line(&r);
	}
	status = out_write(&r, argv[1], &o, &out, &e);
	if (status)
		fprintf(stderr, "%s\n", e.text);
	else
		status = fwrite(out.p, 1, out.n, stdout) != out.n || fclose(stdout);
	recording_free(&r);
	buf_free(&out);
	free(line);
	return status ? 1 : 0;
}
