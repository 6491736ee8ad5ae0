/*
 * Tasks: what the manager asked for and what takes its time. Each is a row of
 * stages, most of them a process of its own; when that ends the next stage
 * begins, and the last one reports to the manager. The stages of
 *
 *	inspect   open, judge -> inspect module -> inspect artifact -> inspect the policy's list of
 *	          functions that come first -> may it be swapped?
 *	fetch     open, judge -> inspect module -> may it be swapped? -> morph-fetch
 *	          -> inspect what came -> copy of it among our artifacts
 *	build     as inspect -> editor -> snapshot of its output -> inspect that
 *	lift      as inspect, of what has no artifact -> editor -> snapshot of its output
 *	          -> inspect that with the module -> copy of it among our artifacts
 *	score     open, judge -> inspect module, artifact, list -> editor
 *	table     the same without a list -> inspect the table
 *	command   one of the policy's over a build, or about a service
 *	swap      of a build that ended well and was verified: copy -> rename
 *	rollback  open, judge -> inspect module, kept build -> copy of that -> rename
 *	notify    the policy's command for the operator
 *	sweep     removes a job's folder, as its user
 *
 * Functions that begin one return its number, or 0 with why.
 */
#ifndef MORPH_PARENT_TASK_H
#define MORPH_PARENT_TASK_H

#include "managerd/parent/child.h"
#include "managerd/parent/parent.h"
#include "managerd/parent/trust/trust.h"

enum {
	TASKS_MAX = 128,    /* at once */
	TASKS_PER_UID = 2,  /* jobs of one user's modules at once, and edits that are kept */
	SWEEPS_PER_UID = 8, /* sweeps of one user's folders at once; of all TASKS_MAX too */
	TASK_JOBS = 16      /* jobs at once, and edits that are kept */
};

enum task_kind {
	TASK_INSPECT,
	TASK_FETCH,
	TASK_BUILD,
	TASK_SCORE,
	TASK_TABLE,
	TASK_SHAPES,
	TASK_CARRY,
	TASK_LIFT,
	TASK_COMMAND,
	TASK_SWAP,
	TASK_ROLLBACK,
	TASK_NOTIFY,
	TASK_SWEEP
};

typedef void task_stage_fn(struct parent *p, struct task *t, int status);

struct task {
	uint64_t id;
	enum task_kind kind;
	char *path;      /* of the module */
	unsigned policy; /* under which it began: policy.reads */
	struct trusted mod, art;
	struct trusted order; /* the list of functions that come first; fd -1: there is none */
	uint64_t list;        /* hash of its names, 0 = of none */
	struct build_id is, origin; /* of the module, by the inspector */
	struct folder_user owner;   /* whom its processes run as */

	/* the process of the present stage, and what comes after it */
	struct child child;
	task_stage_fn *then;
	bool paused;       /* stopped by the manager */
	const char *ended; /* why we killed it, NULL = we did not */

	/* what was asked for */
	struct build_id want, want_origin, hint[2];
	bool shallow, judge;
	bool again;                    /* LIFT: even where that was done */
	bool left;                     /* SWEEP: by an earlier morphd */
	int out, err, samples, shapes; /* descriptors, ours */

	/* finding the artifact */
	VEC(char *) place;
	size_t at, lifted_from; /* those of artifacts that were lifted come last */
	struct err why;         /* why the last one is not it */
	struct err refused;     /* why the module must not be swapped, or lifted */
	bool legacy;            /* it has no artifact, or one that was lifted … */
	bool observed;          /* … and that alone is why */
	int blob;               /* the inspector's answer for the manager, -1 = none */

	/* of jobs */
	char folder[FOLDER_NAME]; /* "" = none */
	int dir;                  /* it, open */
	int group;                /* control group of its processes, -1 = none */
	int status;               /* of the editor */
	int snapshot;             /* of its output, ours alone */
	struct build_id made, made_origin;
	bool built, verified;
	struct task *edit; /* COMMAND, SWAP: the build; NULL: about a service */
	bool reported, dropped;
};

uint64_t task_inspect_path(
    struct parent *p, const char *path, const struct build_id hint[2], unsigned how, struct err *e);
/* An artifact for the module, from the policy's servers. */
uint64_t task_fetch(struct parent *p, const char *path, struct err *e);
/* Takes the descriptors over where it succeeds. */
uint64_t task_job(struct parent *p, const struct priv_job *j, struct err *e);
uint64_t task_swap(struct parent *p, uint64_t edit, struct err *e);
uint64_t task_rollback(
    struct parent *p, const char *path, const struct build_id *to, struct err *e);

/* Begins one that nothing is reported of. */
int task_notify(
    struct parent *p, const char *path, enum priv_event event, const char *text, struct err *e);

/* ---- sweep.c: both wait for their turn until tasks_sweep() ---- */

/* owner: of the module that the folder was made for. */
void task_sweep(struct parent *p, const char *folder, uid_t owner);
/* One that an earlier morphd left; its processes are killed first. */
void task_sweep_left(struct parent *p, const char *folder);

/* Is a swap or rollback of the module under way? */
bool task_swaps(const struct parent *p, const char *path);
/* One that was asked for and not dropped. */
struct task *task_find(struct parent *p, uint64_t id);
int task_signal(struct task *t, int sig, struct err *e);
struct priv_stamp task_stamp(const struct stat *st);
/* CPU time of its processes, of a job that runs. */
uint64_t task_cpu_us(const struct task *t);
void task_drop(struct parent *p, struct task *t);

/* ---- for the loop ---- */

/* The process of a task has ended: reaps it and goes on. t may be gone then. */
void task_step(struct parent *p, struct task *t);
/* Once a second: bounds that nobody else watches. */
void task_watch(struct parent *p, struct task *t);
/* Frees tasks that are over, and begins sweeps that wait. */
void tasks_sweep(struct parent *p);
/* Kills and reaps all. */
void tasks_end(struct parent *p);

#endif
