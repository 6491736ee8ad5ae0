/* What is done for one module at a time, from one step to the next: steps.c has the round. */
#ifndef MORPH_MANAGERD_STEPS_H
#define MORPH_MANAGERD_STEPS_H

#include "managerd/cycle/learning.h"
#include "managerd/cycle/record.h"
#include "managerd/decide/idlewatch.h"

enum step { STEP_NONE, STEP_SCORE, STEP_EDIT, STEP_VERIFY, STEP_SWAP };

struct work {
	struct core *core;
	struct learning *learning;
	struct idlewatch *idle;  /* leaves our job out of account; NULL = there is none */
	void (*over)(void *arg); /* after the end of each step */
	void *arg;
	struct doing { /* right now */
		enum step step;
		uint64_t module;
		struct change_entry *change; /* NULL = the manager's own doing */
		int64_t since_ms;
		struct edit *job;
		bool cancelled;
		uint64_t build; /* the task of the build that is ready */
		struct made made;
	} now;
};

/* NULL = nothing is done. */
const char *work_step(const struct work *w);
/* Begins a score, or an edit with all that follows, of a module that is loaded. */
void work_begin(struct work *w, struct module *mod, struct change_entry *c, enum step step);
/* Begins to put the build before back; the change ends with it. */
void work_roll_back(struct work *w, struct module *mod, struct change_entry *c);
/* Cancels what is under way; its end follows from the loop. */
void work_cancel(struct work *w);
/* Others want the machine, or do not any more; somebody who waits goes on. */
void work_pause(struct work *w, bool pause);

#endif
