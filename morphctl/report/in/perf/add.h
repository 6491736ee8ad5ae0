/* Samples to the recording: addresses looked up at their time, chains to stacks, branch records to
 * branches and ranges. */
#ifndef MORPH_REPORT_PERF_ADD_H
#define MORPH_REPORT_PERF_ADD_H

#include "morphctl/report/in/perf/file.h"
#include "morphctl/report/in/perf/stacks.h"
#include "morphctl/report/in/perf/tasks.h"
#include "morphctl/report/recording/recording.h"

enum { ADD_CHAIN_MAX = 8192 }; /* addresses that a record of 64 KiB has room for */

struct add {
	struct recording *r;
	const struct perf *f;
	const struct tasks *tasks;
	struct stacks *stacks;
	struct htab counted; /* the last value of a counter, by what tells it from others */
	struct place *cache;
	/* Of the sample at hand. */
	uint32_t pid, epoch;
	uint64_t time;
	bool in_kernel;
	uint32_t chain[ADD_CHAIN_MAX]; /* locations */
};

/* stacks: of all samples of the file, which are added in its order. */
void add_begin(struct add *a, struct recording *r, const struct perf *f, const struct tasks *t,
    struct stacks *stacks);
/* misc: of its record, whose time is in the order of tasks. */
void add_sample(struct add *a, struct perf_attr *attr, uint16_t misc, uint64_t time,
    const struct perf_sample *s);
void add_end(struct add *a);

#endif
