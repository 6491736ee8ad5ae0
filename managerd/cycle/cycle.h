/*
 * The manager: one state, one cycle
 *	ingest -> map -> merge -> decide -> edit -> verify -> measure -> swap -> remap -> store
 * in one event loop. The API (managerd/api/api.h) runs in the same loop and calls
 * what is below; it reads lists from the store (managerd/store/store.h) by
 * manager_store() directly. Nothing here blocks for long, and all of it is
 * called from the loop's thread only.
 */
#ifndef MORPH_MANAGERD_CYCLE_H
#define MORPH_MANAGERD_CYCLE_H

#include "common/editanswer/editanswer.h"
#include "managerd/conf/conf.h"
#include "managerd/decide/decide.h"
#include "managerd/samples/codemap.h"
#include "managerd/samples/ingest.h"
#include "managerd/samples/observe.h"
#include "managerd/store/store.h"
#include "managerd/trial/outlook.h"

#include <uv.h>

struct manager;

struct manager_options {
	struct conf *conf;     /* all of these outlive the manager; the policy, which it replaces */
	struct priv *priv;     /* connected, managerd/priv/priv.h */
	const char *state_dir; /* for people */
	const char *home;      /* the manager's own folder: store, replay tables */
	int monitors;          /* listening socket for monitors, taken over */
	bool user;             /* --user: own programs only */
	int64_t monitor_uid;   /* may send samples besides root and ourselves; -1 = nobody */
};

/*
 * Opens the store, records how interrupted swaps ended, listens for
 * monitors, starts the timers. Does not run the loop.
 */
struct manager *manager_start(uv_loop_t *loop, const struct manager_options *o, struct err *e);
/* Cancels the work under way and closes all handles; call before the last
 * uv_run(). */
void manager_stop(struct manager *m);
/* After the loop has run out. */
void manager_free(struct manager *m);

/* Has the policy read again, and goes by it from now on; what is under way for a program that it
 * does not let be optimized any more is cancelled. On an error all is as it was. Either is logged.
 */
int manager_reload(struct manager *m, struct err *e);

/* ---- for the API ---- */

struct store *manager_store(struct manager *m);
/* By what profiles age, as of now. */
struct decay manager_decay(const struct manager *m);

struct manager_status {
	const char *mode;               /* "user" or "system" */
	const char *state_dir, *policy; /* policy: path or NULL = defaults */
	int64_t started_ms;
	struct ingest_status monitor;
	struct accounting samples;
	size_t wanted;                 /* builds whose registers are wanted */
	struct observe_count observed; /* of registers, since the manager started */
	bool idle;
	char idle_text[128];
	/* what is being done right now; step NULL = nothing */
	uint64_t working_module, working_change;
	/* step: "score", "edit", "verify", "measure", "swap", "turn" */
	const char *working_path, *working_step;
	int64_t working_since_ms;
	double working_left_s; /* estimated; NAN = not known */
	size_t modules;
	uint64_t swaps, rollbacks, failures; /* of the events that are kept */
};
/* Strings live until the loop goes on. */
int manager_status(struct manager *m, struct manager_status *out, struct err *e);

/* The aged profile sum of a module as of now; loads nothing. */
double manager_samples(struct manager *m, uint64_t module);
/* A module's aged profile as of now (all functions at one as_of_ms), without those of all its
 * functions that have nothing; the caller frees it with profile_free(). */
int manager_profile(
    struct manager *m, uint64_t module, struct profile *out, size_t *functions, struct err *e);
/* Appends it as morph-edit --samples reads it (managerd/job/edit.h). */
int manager_print_profile(struct manager *m, uint64_t module, struct buf *out, struct err *e);
struct manager_trial {
	enum trial_kind kind;
	enum trial_trouble trouble;
	bool cycles;                /* of a service, by the CPU's counters */
	int64_t began_ms, ended_ms; /* 0 = it goes on */
	enum trial_verdict verdict;
	double promised; /* gain; NAN = none was predicted */
	double model;    /* … by the model as it was fitted */
	struct trial_estimate estimate;
	struct outlook outlook; /* while it goes on */
	struct trial_runs runs[TRIAL_ARMS];
	char text[256]; /* "gain 4.1 % (2.9 … 5.3) over 1,240 runs" */
};
/* The last comparison of the module's layout with the build before it; false: there is none. */
bool manager_trial(struct manager *m, uint64_t module, struct manager_trial *out);
/* Of a module without an artifact: what keeps it from being lifted, or does not. */
enum lift_state {
	LIFT_OFF,         /* the policy: nothing is done for it */
	LIFT_REFUSED,     /* policy, package or the file's rights */
	LIFT_OBSERVED,    /* nothing but `legacy: observe` */
	LIFT_FEW_SAMPLES, /* … */
	LIFT_UNJUDGED,    /* it has enough, and it is not known yet whether it may be */
	LIFT_WAITING,     /* for the machine to be idle */
	LIFT_RUNNING,
	LIFT_FAILED, /* this build cannot be */
	LIFT_STATES
};
struct manager_legacy {
	enum lift_state state;
	double samples, needed; /* aged */
	char text[1024];        /* "would be lifted; policy says observe: …" */
};
/* false: the module has an artifact, or is gone. */
bool manager_legacy(struct manager *m, uint64_t module, struct manager_legacy *out);
struct manager_order {
	const char *path;                   /* of the policy's list of functions that come first */
	const struct editanswer_list *said; /* of it, by the editor; no names: nothing yet */
};
/* The list of a module; false: there is none. Strings live until the loop goes on. */
bool manager_order(struct manager *m, uint64_t module, struct manager_order *out);
/* Where the blocks of a module's build lie, and the functions they are of; false: that is not
 * known, or not in memory yet. Valid until the loop goes on. */
bool manager_map(struct manager *m, uint64_t module, const struct build_id *build,
    const struct map **map, const struct map_table **table);
/* A part of the code map of one of a module's builds. */
struct code_order {
	uint64_t module;
	bool original; /* of the build its artifact is of, else of the one at its path */
	struct code_query query;
};
struct code_view {
	struct build_id build;
	const struct code *code;
	struct code_view_name { /* cut where long */
		const char *name, *tu;
		struct hash128 key;
	} * name; /* of the code's functions */
	size_t nname;
};
/* 1: *view, valid until the loop goes on, is made, or NULL: there is no map of that build.
 * 0: it is being made: the listener of manager_on_change() is called, with id 0, when to ask again.
 */
int manager_code(
    struct manager *m, const struct code_order *o, const struct code_view **view, struct err *e);
/* Whether there is a kept build to go back to. */
bool manager_can_rollback(struct manager *m, uint64_t module);

enum change_kind { CHANGE_REOPTIMIZE, CHANGE_ROLLBACK };
enum change_status { CHANGE_WAITING, CHANGE_DOING, CHANGE_DONE, CHANGE_REFUSED, CHANGE_FAILED };
const char *change_status_name(enum change_status s);

struct change {
	uint64_t id; /* from 1 */
	int kind;
	uint64_t module;              /* 0 = all of the peer's modules */
	const char *path;             /* "" for all */
	uint32_t uid;                 /* who asked */
	int status;                   /* ready: >= CHANGE_DONE */
	const char *step, *text;      /* never NULL */
	int64_t step_ms;              /* since when it is that step; 0 = none */
	int64_t started_ms, ended_ms; /* ended 0 = not yet */
};

enum manager_error {
	MANAGER_OK = 0,
	MANAGER_NOT_FOUND = -1,
	MANAGER_CONFLICT = -2, /* *change is the one under way */
	MANAGER_REFUSED = -3,
	MANAGER_INTERNAL = -4
};
/*
 * Both check nothing about who asks (the API did) but note uid. module 0 in
 * reoptimize: all modules of that uid (uid 0: all). MANAGER_OK: *change is
 * the new change's id. Otherwise e says why.
 */
int manager_reoptimize(
    struct manager *m, uint64_t module, uint32_t uid, bool force, uint64_t *change, struct err *e);
int manager_rollback(
    struct manager *m, uint64_t module, uint32_t uid, uint64_t *change, struct err *e);
/* The change of an id, or NULL: beyond 200 the oldest that is ready is forgotten, of the user who
 * has most. Valid until the loop goes on. */
const struct change *manager_change(struct manager *m, uint64_t id);
/* Seconds that the step of a change still takes, estimated; NAN = not known. */
double manager_change_left(struct manager *m, uint64_t id);
/* How many changes that were asked for before it are not ready. */
unsigned manager_change_ahead(struct manager *m, uint64_t id);
/* fn is called, from the loop, after any change became ready, and as manager_code() says; one
 * listener. */
void manager_on_change(struct manager *m, void (*fn)(void *arg, uint64_t id), void *arg);

#endif
