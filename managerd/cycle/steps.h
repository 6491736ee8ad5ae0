/*
 * The steps of a module's round, and the slot of the one module that is worked on.
 * cycle_round() says which step follows which; a step does its one thing.
 */
#ifndef MORPH_MANAGERD_STEPS_H
#define MORPH_MANAGERD_STEPS_H

#include "managerd/cycle/durations.h"
#include "managerd/cycle/learning.h"
#include "managerd/cycle/record.h"
#include "managerd/cycle/recording.h"
#include "managerd/cycle/trials.h"
#include "managerd/decide/idlewatch.h"

enum step {
	STEP_NONE,
	STEP_INSPECT,
	STEP_DECIDE,
	STEP_SCORE,
	STEP_TAKE_SCORE,
	STEP_EDIT,
	STEP_TAKE_BUILD,
	STEP_VERIFY,
	STEP_MEASURE,
	STEP_TAKE_MEASURED,
	STEP_SWAP,
	STEP_RECORD,
	STEP_NOTE_PUT_BACK,
	STEP_ROLL_BACK,
	STEP_RECORD_ROLLBACK,
	STEP_TURN,
	STEP_RECORD_TURN
};

/* What a step has come to. */
enum progress {
	DONE,  /* it is done, the next one follows at once */
	BEGUN, /* the parent is at it, the next one follows at its end */
	OVER   /* the round is over, and work.now.end says how */
};

struct work {
	struct core *core;
	struct learning *learning;
	struct trials *trials;
	struct recording *recording;
	struct durations durations;
	struct idlewatch *idle;  /* leaves our job out of account; NULL = there is none */
	void (*over)(void *arg); /* whenever nothing more can be done at once */
	void *arg;
	struct doing {          /* right now */
		enum step step; /* to be done, or to follow on what is under way */
		const char *name;
		uint64_t module;
		struct change_entry *change; /* NULL = the manager's own doing */
		int64_t since_ms;
		struct edit *job;
		enum priv_job_kind kind; /* of the last job */
		bool cancelled;
		uint64_t build; /* the task of the build that is ready */
		struct made made;
		struct trial bench; /* of the policy's command; zeros = not begun */
		/* while the end of a job, or of a swap, is reported */
		const struct edit_result *ran;
		const struct priv_swapped *swapped;
		struct end {      /* of the round, for whoever asked */
			bool set; /* false: the change goes on with another round */
			enum change_status status;
			char text[1100];
		} end;
	} now;
};

/* The step as people see it; NULL = nothing is done. */
const char *work_step(const struct work *w);
/* Seconds that it still takes, as far as past ones tell; NAN = they do not, it takes longer than
 * they did, or it is stopped since others want the machine. */
double work_left(const struct work *w);
/* What the steps took that the store remembers. */
int work_remember(struct work *w, struct err *e);
/* Cancels what is under way; its end follows from the loop. */
void work_cancel(struct work *w);
/* Others want the machine, or do not any more; somebody who waits goes on. */
void work_pause(struct work *w, bool pause);
/* The module that is worked on; NULL = its row is gone, or another owner's by now. */
struct module *work_module(const struct work *w);
/* The slot is free again, and whoever asked is answered. */
void work_end(struct work *w);

/* ---- cycle.c ---- */

/* Goes on with the round of the module in the slot: at its turn, and at each end of what a
 * step has begun. */
void cycle_round(struct work *w);

/* ---- the steps, in the order of the round; mod: work_module() ---- */

/* Whether the job that has ended, if any, came to something. */
enum progress step_ended(struct work *w, struct module *mod);
/* Whether it need not be inspected before it is decided about. */
bool step_is_known(const struct work *w, struct module *mod);
/* Its end is another turn of the module's: others have theirs until then. */
enum progress step_inspect(struct work *w, struct module *mod);
/* The ladder. DONE: there is something to do, and d says what. */
enum progress step_decide(struct work *w, struct module *mod, struct decision *d);
/* A score, an edit or a verification. */
enum progress step_job(struct work *w, struct module *mod, enum priv_job_kind kind);
/* The gain is known now. */
enum progress step_take_score(struct work *w, struct module *mod);
/* DONE: a new build is there, and it is another one than the present. */
enum progress step_take_build(struct work *w, struct module *mod);
/* A run of the policy's benchmark, of the build whose turn it is. */
enum progress step_measure(struct work *w, struct module *mod);
/* *more: it is not known yet which build is faster. OVER: the new one is slower. */
enum progress step_take_measured(struct work *w, struct module *mod, bool *more);
enum progress step_swap(struct work *w, struct module *mod);
/* BEGUN: it cannot be recorded, and is being put back. */
enum progress step_record(struct work *w, struct module *mod);
enum progress step_note_put_back(struct work *w, struct module *mod);
enum progress step_roll_back(struct work *w, struct module *mod);
enum progress step_record_rollback(struct work *w, struct module *mod);
/* The other build of a trial, or the one that has won. OVER: it is in place. */
enum progress step_turn(struct work *w, struct module *mod);
enum progress step_record_turn(struct work *w, struct module *mod);

#endif
