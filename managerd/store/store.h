/*
 * What the manager knows, in STATE/morph.db: SQLite, write-ahead log, one
 * transaction per batch, so that a crash neither counts a sample twice nor
 * loses one that was acknowledged, which is done when the log is synced. Times are milliseconds of
 * CLOCK_REALTIME. Strings and arrays of the readers come from the caller's arena.
 *
 * A store that is damaged or of another version is moved aside to
 * morph.db.bad-TIME with a warning, and a new one is begun.
 */
#ifndef MORPH_MANAGERD_STORE_H
#define MORPH_MANAGERD_STORE_H

#include "common/elf/buildid.h"
#include "common/err.h"
#include "managerd/decide/decide.h"
#include "managerd/samples/profile.h"
#include "managerd/trial/trial.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

struct store *store_open(const char *path, struct err *e);
void store_close(struct store *s);
int store_begin(struct store *s, struct err *e);
int store_commit(struct store *s, struct err *e);
void store_rollback(struct store *s);
/*
 * A commit is in the write-ahead log when store_commit() returns, and a crash of the
 * program loses none; a crash of the machine loses those that were not synced since:
 * by store_sync(), or by fdatasync() of store_log(), which may be called in the pool.
 */
int store_sync(struct store *s, struct err *e);
/* The log's descriptor, which the store owns; -1. */
int store_log(struct store *s);
/*
 * The log is moved into the database by a checkpoint, which waits for the disk. Whoever
 * commits asks whether one is due (true once for each stretch of log) and has it made in
 * the pool, by a connection of its own. A log that grows faster is checkpointed at a commit.
 */
bool store_checkpoint_due(struct store *s);
int store_checkpoint(const char *path, struct err *e);

/* ---- accounting (DESIGN.md invariant 6) ---- */
struct accounting {
	uint64_t batches;
	uint64_t taken, mapped, stale, dropped;
	/* outside, by reason */
	uint64_t kernel, no_build_id, no_artifact, no_block;
};
static inline uint64_t accounting_outside(const struct accounting *a)
{
	return a->kernel + a->no_build_id + a->no_artifact + a->no_block;
}
/* 1 when (session, seq) was merged already, 0 when not, -1 on error. */
int store_seen(struct store *s, uint64_t session, uint64_t seq, struct err *e);
/* Adds a batch's sums and marks (session, seq) as merged; within a transaction. */
int store_account(struct store *s, uint64_t session, uint64_t seq, int64_t at_ms,
    const struct accounting *add, struct err *e);
int store_accounting(struct store *s, struct accounting *out, struct err *e);

/* ---- modules ---- */
/* The id of a path, in the API as 16 hex digits: the first 8 bytes of its BLAKE2b (16 bytes), since
 * a user who could construct a path with another one's id would have that one's rows. */
uint64_t module_id(const char *path);

enum module_state { /* as the API names them */
	MODULE_ORIGINAL,
	MODULE_LAID_OUT,
	MODULE_HELD,
	MODULE_NO_ARTIFACT,
	MODULE_GONE
};
const char *module_state_name(enum module_state s);

struct store_module {
	uint64_t id;
	const char *path;
	uint32_t uid;            /* owner of the file */
	int state;               /* enum module_state */
	const char *text;        /* one line on the state */
	const char *artifact;    /* path, NULL = none */
	struct build_id current; /* of the file at path */
	struct build_id
	    origin; /* of the build current was laid out from; current for an original */
	int64_t first_ms, last_ms;       /* first known, last sampled */
	int64_t layout_ms;               /* last swap, 0 = never */
	int64_t held_until_ms;           /* 0 = not held, -1 = until a person asks */
	const char *held_why;            /* NULL = not held */
	uint64_t mapped, stale, outside; /* since it is known */
	double outside_aged;             /* as of outside_ms */
	int64_t outside_ms;
	double samples; /* of the aged profile: the sum of their weights, as of samples_ms … */
	double squares; /* … and that of the squares of these (samples/profile.h); … */
	int64_t samples_ms; /* … 0 = not summed yet */
	bool predicted;     /* the next two lines hold */
	struct decide_estimate estimate;
	double taken_before, taken_after;
	int64_t predicted_ms;
	uint64_t list; /* hash of the list of functions that its last layout was made with, 0 = of
			  none; PROFILE_LAYOUT's companion */
	/* no artifact: */
	int64_t fetch_ms;      /* none is fetched before; 0 = none was tried */
	int64_t fetch_tries;   /* in vain, one after another */
	const char *fetch_why; /* why the last one was, NULL = none was */
	const char *lift_why; /* why this build cannot be lifted, NULL = not known that it cannot */
};

/* Whether its present build was laid out. */
static inline bool store_laid_out(const struct store_module *m)
{
	return !build_id_equal(&m->current, &m->origin);
}

/* Samples of the profile for each of weight 1: 1, or more where they were taken more densely. */
static inline double store_density(const struct store_module *m)
{
	return m->squares > 0 && m->samples > m->squares ? m->samples / m->squares : 1;
}

/* Inserts or replaces the row of m->id. */
int store_put_module(struct store *s, const struct store_module *m, struct err *e);
/* All, or the one with this id (0 = all), by samples ever mapped. */
int store_modules(struct store *s, uint64_t id, struct arena *a, struct store_module **out,
    size_t *n, struct err *e);

/* And all there is of it: builds, profile, decisions, events. */
int store_drop_module(struct store *s, uint64_t id, struct err *e);

/* ---- trials: the last one of each module ---- */
struct store_trial {
	uint64_t module;
	struct build_id build[TRIAL_ARMS];
	int64_t began_ms, ended_ms; /* 0 = it goes on */
	int verdict;                /* enum trial_verdict */
	double promised;            /* the gain that was predicted; NAN = none was */
	double model;               /* by the model alone */
	const void *data;           /* trial_encode() */
	size_t ndata;
};
int store_put_trial(struct store *s, const struct store_trial *t, struct err *e);
int store_trials(
    struct store *s, struct arena *a, struct store_trial **out, size_t *n, struct err *e);
int store_drop_trial(struct store *s, uint64_t module, struct err *e);

/* ---- gains: what trials that are over have measured ---- */
struct store_gain {
	int64_t at_ms;
	uint64_t cpu;               /* kind of processor, as in struct trial */
	struct posterior_edit edit; /* of the program: module */
};
/* Of a module the newest `keep` stay. */
int store_put_gain(struct store *s, const struct store_gain *g, unsigned keep, struct err *e);
/* All, oldest first. */
int store_gains(
    struct store *s, struct arena *a, struct store_gain **out, size_t *n, struct err *e);

/* ---- builds of a module ---- */
enum build_kind { BUILD_ORIGINAL, BUILD_LAID_OUT };
enum build_state {
	BUILD_CURRENT, /* lies at the module's path */
	BUILD_KEPT,    /* file kept under STATE/builds: rollback is possible */
	BUILD_PAST     /* no file, but the map is here: running processes still count */
};

struct store_build {
	uint64_t module;
	struct build_id id, origin; /* origin = id for an original */
	int kind, state;
	int64_t made_ms;
	uint64_t bytes;
	const void *map; /* block map blob (common/elf/blockmap.h) */
	size_t nmap;
};
int store_put_build(struct store *s, const struct store_build *b, struct err *e);
int store_set_build_state(
    struct store *s, uint64_t module, const struct build_id *id, int state, struct err *e);
/* With map only when id is given (id = NULL: all of the module, newest first). */
int store_builds(struct store *s, uint64_t module, const struct build_id *id, struct arena *a,
    struct store_build **out, size_t *n, struct err *e);
/* Keeps the newest `keep` past builds of a module; forgets the others, and function
 * tables that no build has any more. */
int store_prune_builds(struct store *s, uint64_t module, unsigned keep, struct err *e);

/* Function table of an original build of a module, encoded (managerd/samples/map.h). Each
 * module has its own: another user's file may carry the same build-id. */
int store_put_table(struct store *s, uint64_t module, const struct build_id *origin, const void *p,
    size_t n, struct err *e);
/* 1 found and appended to out, 0 absent, -1 error. */
int store_table(struct store *s, uint64_t module, const struct build_id *origin, struct buf *out,
    struct err *e);
/* 1 it is these n bytes, 0 another or none, -1 error. */
int store_same_table(struct store *s, uint64_t module, const struct build_id *origin, const void *p,
    size_t n, struct err *e);

/* ---- profiles ---- */
enum profile_kind {
	PROFILE_NOW,    /* the aged sums */
	PROFILE_LAYOUT, /* those the present layout was made from */
	PROFILE_BEFORE  /* of the program before, until it is carried over to the present one */
};
int store_load_profile(
    struct store *s, uint64_t module, enum profile_kind kind, struct profile *p, struct err *e);
/* Writes the dirty functions and clears their mark. */
int store_save_profile(
    struct store *s, uint64_t module, enum profile_kind kind, struct profile *p, struct err *e);
int store_clear_profile(struct store *s, uint64_t module, enum profile_kind kind, struct err *e);

/* ---- decisions ---- */
struct store_decision {
	uint64_t module;
	const char *path;
	int64_t first_ms, last_ms; /* an unchanged decision is one row */
	uint64_t times;
	int verdict, rung;
	const char *text;
	struct rung_step *step; /* RUNG_COUNT of them; NULL in lists */
};
int store_put_decision(
    struct store *s, uint64_t module, int64_t at_ms, const struct decision *d, struct err *e);
/* Newest first; module 0 = all. uid: only modules of this owner, -1 = all. */
int store_decisions(struct store *s, uint64_t module, int64_t uid, size_t limit, struct arena *a,
    struct store_decision **out, size_t *n, struct err *e);
/* The last one with its steps: 1, 0 none, -1 error. */
int store_last_decision(
    struct store *s, uint64_t module, struct arena *a, struct store_decision *out, struct err *e);

/* ---- history ---- */
enum event_kind {
	EVENT_LEARNED,
	EVENT_SWAPPED,
	EVENT_ROLLED_BACK,
	EVENT_FAILED,
	EVENT_RECOVERED,
	EVENT_REPLACED,
	EVENT_MEASURED,
	EVENT_KINDS
};
const char *event_name(enum event_kind k); /* as the API names them */

struct store_event {
	uint64_t module;
	const char *path;
	int64_t at_ms;
	int kind;
	struct build_id from, to; /* n = 0: none */
	uint64_t change;          /* id, 0 = the manager's own doing */
	const char *text;
	/* NAN (sizes: 0) where they mean nothing */
	double samples, gain, seconds;
	uint64_t size_before, size_after;
	uint32_t uid; /* read: the module's present owner */
};
/* Of a module the newest 5000 are kept; what counts them knows no others. */
int store_put_event(struct store *s, const struct store_event *ev, struct err *e);
int store_events(struct store *s, uint64_t module, int64_t uid, size_t limit, struct arena *a,
    struct store_event **out, size_t *n, struct err *e);
/* How many of a kind there were since a time, of one module or all (0), of one
 * owner's modules or all (-1). */
int store_count_events(struct store *s, uint64_t module, int64_t uid, enum event_kind kind,
    int64_t since_ms, uint64_t *n, struct err *e);

#endif
