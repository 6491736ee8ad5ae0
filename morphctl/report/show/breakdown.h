/*
 * Samples added up by what they have in common: "where have the cycles gone" (Anderson et al.,
 * SOSP'97) by module, function, source line or instruction. Builds of one path are one module
 * (builds.h), but for addresses. Pure.
 */
#ifndef MORPH_REPORT_BREAKDOWN_H
#define MORPH_REPORT_BREAKDOWN_H

#include "morphctl/report/recording/recording.h"

enum breakdown_level {
	BREAKDOWN_MODULE,
	BREAKDOWN_FUNCTION,
	BREAKDOWN_LINE,
	BREAKDOWN_ADDRESS,
	BREAKDOWN_PROCESS
};

struct breakdown_query {
	enum breakdown_level level;
	uint32_t event;     /* of the recording */
	const char *module; /* a path or a file name: only code of it; NULL = all */
	const char
	    *function; /* a name as people or linkers write it: only code of it; NULL = all */
	bool charged;  /* rows have the time of other modules' code that they called, too */
};

struct breakdown_row {
	uint32_t file;      /* of the recording; RECORDING_NONE = samples without code */
	uint32_t function;  /* by function and line: the function that has the code, inlined ones
			       in it too; RECORDING_NONE = unknown */
	const char *source; /* by line: its file, NULL = unknown */
	uint32_t line;
	uint64_t offset; /* by address */
	uint32_t task;   /* by process: one of its tasks */
	uint64_t n;      /* samples in it */
	double self;     /* their periods, in the event's unit */
	double total;    /* … and those in what it called, each sample once. Without call
			    chains, and with partial ones, the same */
	double charged;  /* those in other modules' code, of which it is the innermost frame in
			    the module */
};

struct breakdown {
	VEC(struct breakdown_row)
	row;         /* most in it first; of equal ones as the recording has them */
	uint64_t n;  /* samples of the event in all, those of other modules too */
	double sum;  /* their periods */
	bool chains; /* some sample has all its callers */
};

void breakdown_make(
    struct breakdown *t, const struct recording *r, const struct breakdown_query *q);
void breakdown_free(struct breakdown *t);

/* The event with most samples; RECORDING_NONE where there are no samples. */
uint32_t breakdown_event(const struct recording *r);
/* The function that has the code at a location, or RECORDING_NONE. */
uint32_t breakdown_function(const struct recording *r, uint32_t location);
/* Whether a file is meant by a path or by its name alone. */
bool breakdown_is_module(const struct recording_file *f, const char *name);

#endif
