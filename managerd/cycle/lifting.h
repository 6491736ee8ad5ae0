/*
 * Programs without an artifact: of which one is made from their machine code, when, and what is to
 * be said of the others. The parent judges such a file first, as it judges others (policy, package,
 * rights), and again where it lifts it. Functions with samples are lifted; once a tenth of the
 * samples is in others the program is lifted again, with these.
 */
#ifndef MORPH_MANAGERD_LIFTING_H
#define MORPH_MANAGERD_LIFTING_H

#include "managerd/cycle/learning.h"
#include "managerd/decide/idlewatch.h"
#include "managerd/job/edit.h"

struct lifting {
	struct core *core;
	struct learning *learning;
	const struct idlewatch *idle; /* NULL = there is none */
	void (*over)(void *arg);      /* a job has ended */
	void *arg;
	struct edit *job;       /* NULL = none runs */
	bool again;             /* of a program that was lifted before */
	uint64_t module;        /* for which, … */
	struct build_id origin; /* … for which program there, … */
	uint32_t uid;           /* … and of which owner */
	struct turns turns;
};

/* Begins with one that is due, if none runs: that may be lifted, or lifted again, has
 * decide.min_samples, and when the machine is idle; or that a person asked for. A file that was not
 * judged yet, or is not what it was then, is judged. What cannot be lifted is not tried again as
 * long as it is the same build. */
void lifting_turn(struct lifting *l);
void lifting_free(struct lifting *l);
/* A person asks for a layout of a program without an artifact, which was judged. False: it must not
 * be lifted. Else schedule.lift_asked says so until that was tried, or must not be any more. */
bool lifting_ask(const struct core *c, struct module *mod);
/* What there is to say of a module without an artifact, but for the job that runs; false: it has
 * one, or is gone. */
bool lifting_explain(const struct core *c, const struct module *mod, struct manager_legacy *out);

#endif
