/*
 * Programs that are built again from changed source: the shapes of each program that may be laid
 * out are made in time, and the profile of the program before is carried over with them, by jobs
 * of the editor (module_carry()). Until then nothing is decided about it.
 */
#ifndef MORPH_MANAGERD_CARRYING_H
#define MORPH_MANAGERD_CARRYING_H

#include "managerd/cycle/core.h"
#include "managerd/job/edit.h"

struct carrying {
	struct core *core;
	struct turns turns;
	struct edit *job; /* beside the work, or NULL */
	enum priv_job_kind kind;
	uint64_t module;         /* whose, … */
	struct build_id origin;  /* … of which program there, … */
	uint32_t uid;            /* … and of which owner */
	void (*over)(void *arg); /* after a job's end */
	void *arg;
};

/* Starts the job that is due, if none runs. They are short, and do not wait for idleness. */
void carrying_turn(struct carrying *c);
void carrying_free(struct carrying *c);

#endif
