/*
 * Trials: after a swap, old and new build of a module take turns at its path until it is known
 * which takes less CPU time (managerd/trial/trial.h). The ends of processes come with the
 * monitors' batches.
 *
 * A module whose processes are few keeps its new build in place all the while; only once enough of
 * them have ended do the turns begin. A trial is given up when the file is another one than it
 * should be, when a person rolls back, and when another layout goes in.
 */
#ifndef MORPH_MANAGERD_TRIALS_H
#define MORPH_MANAGERD_TRIALS_H

#include "managerd/cycle/promises.h"
#include "managerd/samples/ingest.h"
#include "managerd/trial/outlook.h"
#include "managerd/trial/windows.h"

enum { TRIALS_MAX = WIRE_RUN_BUILDS_MAX / TRIAL_ARMS, TRIAL_DAYS = 7, TRIALS_TEXT = 256 };

struct trial_service { /* what is not stored of the trial of a service */
	struct windows windows;
	uint32_t processes; /* of it that run, by the last report */
	int64_t next_ms;    /* when its next command is due */
	unsigned failed;    /* commands in a row */
	unsigned uncounted; /* reports of CPU time in a row without cycles */
	uint64_t cpu_ns;    /* as of the last of these */
	bool restart;       /* it is to run what is in place */
	char why[160];      /* what its command said, of a trouble */
};

struct module_trial { /* the last one of a module */
	uint64_t module;
	struct build_id build[TRIAL_ARMS];
	int64_t began_ms, ended_ms; /* 0 = it goes on */
	enum trial_verdict verdict; /* TRIAL_OPEN with an end: too few processes */
	double promised,
	    model; /* gain, by promises_gain() and by the fitted constants; NAN = none */
	struct trial t;
	struct trial_service service;
	bool unsaved; /* runs, until the batch is committed */
	bool news;    /* it has ended with a loss, and the operator does not know */
};

struct trials {
	struct core *core;
	struct ingest *ingest; /* NULL = monitors cannot be told yet, or any more */
	VEC(struct module_trial *) of;
	struct promises promises;
	struct wire_want watched, counted; /* what monitors were told; id is owned */
};

/* From the store. */
int trials_open(struct trials *ts, struct err *e);
void trials_free(struct trials *ts);
/* Drops those of modules that were rolled back while there was no manager: morphd --restore. */
void trials_drop_held(struct trials *ts);
/* The last trial of a module, or NULL. */
const struct module_trial *trials_of(const struct trials *ts, uint64_t module);
/* The same, for who has something to do with it. */
struct module_trial *trials_find(const struct trials *ts, uint64_t module);
/* The one that goes on. */
struct module_trial *trials_open_of(const struct trials *ts, uint64_t module);
/* The module's new build has gone in, in place of `from`. asked_ms: when the swap was requested;
 * only processes that started since then count. before, after: what the editor says of either.
 * Within a transaction, as all below; the one before it is forgotten. */
int trials_begin(struct trials *ts, const struct module *mod, const struct build_id *from,
    int64_t asked_ms, const struct editanswer_score *before, const struct editanswer_score *after,
    struct err *e);
/*
 * Before the swap the policy's command has compared the module's build with `new`: it takes over
 * what is in *t, and text says what came of it. In place of the module's last trial; a comparison
 * in use that follows takes its place in turn.
 */
int trials_by_command(struct trials *ts, struct module *mod, const struct build_id *new,
    const struct trial *t, enum trial_verdict v, const struct editanswer_score *before,
    const struct editanswer_score *after, char text[TRIALS_TEXT], struct err *e);
/* It comes to nothing, and is forgotten. */
int trials_drop(struct trials *ts, uint64_t module, struct err *e);
/* What is to be in place now. False: it is. */
bool trials_wants(const struct trials *ts, const struct module_trial *x, struct build_id *to);
/* What trials_wants() wanted is in place: another turn, or the end. */
int trials_placed(struct trials *ts, struct module_trial *x, struct module *mod, struct err *e);
/* After the transaction: has the operator told, once, of a layout that was taken back. */
void trials_notify(struct trials *ts, const struct module *mod);
/* Adds the runs of a batch, and what it says of services. */
void trials_take(struct trials *ts, const struct wire_batch *b);
/* Writes what trials_take() added. */
int trials_save(struct trials *ts, struct err *e);
/* A module whose trial has a step to do; NULL = none. Drops those that are of another file by
 * now. */
struct module *trials_due(struct trials *ts);
/* Tells the monitors whose processes are watched, and whose cycles count, when it is others than
 * before. */
void trials_watch(struct trials *ts);
/* Whether the module's present build is the one to which a loss in use brought it back. */
bool trials_lost(const struct trials *ts, const struct store_module *row);
/* "gain 4.1 % (2.9 … 5.3) over 1,240 runs". */
void trials_text(const struct module_trial *x, char *out, size_t n);
/* Of a service, at least. */
double trials_window_s(const struct trials *ts);
/* How far one that goes on is; its end is no later than TRIAL_DAYS after its begin. */
struct outlook trials_outlook(const struct trials *ts, const struct module_trial *x);
/* The same behind its text, "; 12 of about 23 pairs of turns, about 12 min more". */
void trials_progress(const struct trials *ts, const struct module_trial *x, char *out, size_t n);

#endif
