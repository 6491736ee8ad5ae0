/*
 * A trace: what programs did on a machine, by the time. One JSON object a line
 * (docs/FORMATS.md "Traces"). Read strictly: what is wrong is one error with file and line.
 */
#ifndef MORPH_MANAGERD_TRACE_H
#define MORPH_MANAGERD_TRACE_H

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	TRACE_FUNCTIONS_MAX = 1 << 16,
	TRACE_BRANCHES_MAX = 64,
	TRACE_BLOCKS_MAX = 1 << 20, /* of a function */
	TRACE_PROGRAMS_MAX = 64
};

struct trace_func {                     /* of a recorded program */
	const char *name, *tu, *opaque; /* opaque: NULL = it can be laid out */
	struct hash128 key;
	uint32_t nblock;
};

struct trace_program {
	const char *name;
	double edit_s, score_s; /* CPU time of a job; of a recorded one the mean */
	unsigned edits, scores; /* that were recorded */
	const char *artifact;   /* of a recorded one: the real editor scores; NULL = a model … */
	uint32_t functions, branches; /* … of so many, and branches in each */
	uint64_t seed;
	double insns;                /* for each branch */
	double frontend;             /* what taken branches cost, by what the editor believes */
	VEC(struct trace_func) func; /* recorded */
};

struct trace_workload {
	const char *name;
	uint32_t program;
	double uses;    /* share of the functions */
	double differs; /* share of these that are used otherwise than by the program's seed */
};

enum trace_kind {
	TRACE_RUN,     /* workload, cpu: from now on */
	TRACE_MACHINE, /* from now on */
	TRACE_REBUILD, /* program, changed */
	TRACE_HAND,    /* program: a person would ask for a new layout now */
	TRACE_SAMPLES, /* program, count */
	TRACE_JOB,     /* program: how long it took is in the program's times by now */
	TRACE_END
};

struct trace_count {
	uint32_t func, block;
	uint64_t n;
};

struct trace_event {
	int64_t at_ms; /* since the trace began; never less than that of the one before */
	enum trace_kind kind;
	uint32_t program, workload;
	double cpu;     /* processors that it takes */
	double changed; /* share of the functions */
	struct {
		double busy; /* share of all processors that others than Morph use */
		double psi;
		bool battery, asleep;
	} machine;
	uint64_t outside; /* SAMPLES: in the program, but in no block */
	const struct trace_count *count;
	size_t ncount;
};

struct trace {
	const char *name;
	uint64_t seed;
	int64_t start_ms; /* Unix time */
	int64_t every_ms; /* between two batches of a modelled program's samples */
	int64_t step_ms;  /* between two looks of the manager at the clock, at most */
	double processors;
	VEC(struct trace_program) program;
	VEC(struct trace_workload) workload;
	VEC(struct trace_event) event; /* the last one is TRACE_END */
	struct arena mem;              /* owns strings and counts */
};

/* name: of the file, for errors. On an error nothing is left to free. */
int trace_parse(const char *name, const char *text, size_t n, struct trace *t, struct err *e);
int trace_read(const char *path, struct trace *t, struct err *e);
void trace_free(struct trace *t);

#endif
