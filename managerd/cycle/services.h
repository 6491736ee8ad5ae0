/*
 * Services: trials by a counter of work that the policy names (managerd/trial/windows.h). The
 * counter is read ten times a turn by the policy's command, while processes of the service run;
 * monitors say what CPU time these took. Where the policy has a command that restarts the service,
 * that is run after each switch of builds. One command at a time, beside the work. A command that
 * fails three times in a row ends the trial.
 */
#ifndef MORPH_MANAGERD_SERVICES_H
#define MORPH_MANAGERD_SERVICES_H

#include "managerd/cycle/trials.h"
#include "managerd/job/edit.h"

struct services {
	struct core *core;
	struct trials *trials;
	struct edit *job; /* or NULL */
	enum priv_job_kind kind;
	uint64_t module; /* whose, … */
	int64_t trial;   /* … of the trial that began then */
	uint64_t began_ns;
	void (*over)(void *arg); /* after a job's end */
	void *arg;
};

/* Starts the command that is due, if none runs. */
void services_turn(struct services *s);

#endif
