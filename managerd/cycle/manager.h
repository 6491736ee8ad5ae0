/*
 * The manager's state, shared by the files that make up its cycle:
 *	batch.c    a batch of samples: map -> merge -> store
 *	cycle.c    whose turn it is: inspect -> decide
 *	steps.c     a module's way round: score, or edit -> verify -> swap -> remap
 *	tablejob.c replay tables, beside it
 *	judge.c    what the ladder needs to know
 *	record.c   what became of a file, into the store
 *	registers.c  samples' registers: whose are wanted, what they come to
 *	changes.c  what people asked for
 *	manager.c  start, stop, and what the API sees
 */
#ifndef MORPH_MANAGERD_MANAGER_H
#define MORPH_MANAGERD_MANAGER_H

#include "managerd/cycle/cycle.h"
#include "managerd/decide/idlewatch.h"
#include "managerd/decide/turns.h"
#include "managerd/job/edit.h"
#include "managerd/modules/modules.h"
#include "managerd/os/clock.h"
#include "managerd/priv/inspections.h"
#include "managerd/priv/priv.h"
#include "managerd/samples/observe.h"

struct change_entry {
	struct change c; /* path and text on the heap */
	bool force;
	VEC(uint64_t) todo;             /* modules still to come */
	unsigned done, refused, failed; /* of those that were many */
};

enum step { STEP_NONE, STEP_SCORE, STEP_EDIT, STEP_VERIFY, STEP_SWAP };

struct work { /* what is done for one module right now */
	enum step step;
	uint64_t module;
	struct change_entry *change; /* NULL = the manager's own doing */
	int64_t since_ms;
	struct edit *job;
	bool cancelled;
	struct profile used; /* what the editor works from */
	double samples;
	/* of the build that is ready */
	uint64_t build; /* its task */
	struct buf map; /* its block map */
	struct build_id to;
	struct edit_score before, after;
	double seconds;
	uint64_t size_before, size_after;
	uint32_t edited;
};

struct manager {
	struct manager_options o;
	uv_loop_t *loop;
	uv_timer_t tick, soon; /* soon: the next turn, after what has arrived */
	uv_poll_t parent;      /* ends of tasks */
	uv_prepare_t turn;     /* watches how long the loop works at a time */
	uint64_t turn_ns, turn_idle_ns, turn_cpu_ns, longest_ns, longest_cpu_ns;
	uid_t uid; /* it works as, and in user mode for */
	int64_t started_ms, trouble_until_ms; /* trouble: the store failed */
	struct store *store;
	struct modules modules;
	struct inspections *inspections;
	VEC(struct learn *) learn; /* inspections whose tables the pool decodes, cycle.c */
	struct ingest *ingest;
	struct idlewatch *idle;
	struct turns due_turns, change_turns, table_turns;
	struct work work;
	VEC(struct change_entry *) change;
	uint64_t next_change;
	void (*on_change)(void *arg, uint64_t id);
	void *on_change_arg;
	struct edit *table;    /* the job that makes a replay table, beside the work, or NULL */
	uint64_t table_module; /* whose, … */
	struct build_id table_origin; /* … of which program there, … */
	uint32_t table_uid;           /* … and of which owner */
	struct wire_want want;         /* what monitors were told; id is owned */
	struct observe_count observed; /* since the manager started */
	bool in_batch; /* batches were taken that are not committed */
	bool resume;   /* a batch waits for the next turn */
	unsigned load_turns; /* that it has waited for … */
	uint64_t load_session, load_seq;
	uint32_t load_from;  /* … and how many of its modules were seen to in those */
	bool load_wait;      /* … of which some have to be waited for */
	bool stopping, resting; /* resting: all handles are closed */
	bool checkpointing;     /* of the store, in the pool */
};

/* A program whose layout is for huge pages, if policy asks for those: has its
 * file in memory by huge pages, where the kernel can. */
void manager_load_pages(const struct manager *m, const struct module *mod);

/* Whether it is a's turn rather than b's: that of the user who was served longest
 * ago, and of theirs the busiest. */
bool manager_sooner(const struct turns *t, const struct module *a, const struct module *b);
/* After anything that was under way: closes what is left when the manager stops. */
void manager_rest(struct manager *m);
/*
 * Ends a transaction: commits when rc is 0. On failure everything that is in
 * memory is what is in the store again (pointers to modules die), and e,
 * which says why, is logged.
 */
int manager_end(struct manager *m, int rc, struct err *e);

/* ---- batch.c ---- */
struct place { /* where and when samples are merged */
	struct module *mod;
	struct origin *origin;
	struct decay at;
	double weight; /* weight: of a sample of the batch's age */
};
struct batch_module { /* what a module of a batch was found to be */
	struct module *mod; /* NULL = not mapped */
	size_t build;       /* index in mod->build */
};
int batch_take(void *manager, const struct wire_hello *h, const struct wire_batch *b, bool over,
    struct err *e);
int batch_commit(void *manager, struct err *e);

/* ---- registers.c ---- */
/* Tells the monitors when the builds that registers are wanted of are others
 * than before. */
void registers_want(struct manager *m);
/* The busiest module that should have a replay table and has none, or NULL. */
struct module *registers_table_due(struct manager *m);
/* Evaluates the registers of a batch whose modules were found as at[] says. */
void registers_take(struct manager *m, const struct wire_batch *b, const struct batch_module *at,
    struct place *p);

/* ---- cycle.c ---- */
/* Considers one module that is due; returns at once when one is worked on. */
void cycle_turn(struct manager *m);
/* … on the next turn of the loop. */
void cycle_soon(struct manager *m);
/* No work for this module before the next cycle. */
void cycle_later(const struct manager *m, struct module *mod);
void cycle_idle_changed(enum idle_state s, void *manager);
/* Of inspections: applies what was seen. */
bool cycle_inspected(void *manager, const struct inspection *l, const struct priv_inspected *r);
/* Whether an inspection at this path has ended, and is to be learned from. */
bool cycle_learning(const struct manager *m, const char *path);
/* Of the modules: what a batch waits for is loaded. */
void cycle_loaded(void *manager);
/* A fresh inspection at a module's file. False: too many wait. */
bool cycle_inspect(struct manager *m, const struct module *mod);

/* ---- steps.c ---- */
/* Begins a score, or an edit with all that follows, of a module that is loaded. */
void work_begin(struct manager *m, struct module *mod, struct change_entry *c, enum step step);
/* Begins to put the build before back; the change ends with it. */
void work_roll_back(struct manager *m, struct module *mod, struct change_entry *c);
/* Cancels what is under way; its end follows from the loop. */
void work_cancel(struct manager *m);

/* ---- tablejob.c ---- */
/* Starts the job for a replay table that is due, if none runs. */
void table_turn(struct manager *m);

/* ---- judge.c ---- */
/* Climbs the ladder for a module that is loaded; c: who asks, NULL = nobody. */
void judge(struct manager *m, struct module *mod, const struct change_entry *c, struct decay at,
    struct decision *d);
/* Says it, once per change of mind. */
void judge_log(struct manager *m, struct module *mod, const struct decision *d);
void judge_idle(struct manager *m, char *text, size_t n);
/* The editor's word on two layouts becomes the module's prediction. */
void judge_score(
    struct store_module *row, const struct edit_score *before, const struct edit_score *after);

/* ---- record.c ---- */
/* Remap and store after a swap: the module is the new build now, under the
 * same profile. Within a transaction. */
int record_swap(struct manager *m, struct module *mod, struct err *e);
/* And after a rollback; it is held. */
int record_rollback(struct manager *m, struct module *mod, const struct build_id *from,
    const struct build_id *to, const struct change_entry *c, struct err *e);
/* At start: which builds of all modules are still kept. Within a transaction. */
int record_all_kept(struct manager *m, struct err *e);
/* Forgets the journal entry, and kept builds beyond the bound. */
void record_done(struct manager *m, const char *path);
/* The build a rollback goes to. */
bool record_rollback_target(
    struct manager *m, const struct module *mod, struct build_id *to, struct err *e);
/* After a crash: how a swap under way ended. Outside of priv_recovered(): it
 * asks for more of its own. */
void record_recovered(struct manager *m, const struct swap_outcome *o);

/* ---- changes.c ---- */
struct change_entry *change_add(struct manager *m, enum change_kind kind, uint64_t module,
    const char *path, uint32_t uid, bool force);
/* The one whose turn it is of those that are not ready and do not wait for a
 * inspection; NULL = none. */
struct change_entry *change_next(struct manager *m);
/* The one whose next module this is, or NULL. */
struct change_entry *change_waits_for(struct manager *m, uint64_t module);
/* One that is not ready and concerns this module (0: all of this user's), or NULL. */
struct change_entry *change_of_module(struct manager *m, uint64_t module, uint32_t uid);
void change_step(struct change_entry *c, const char *step);
/* The end of one module of a change; the last one makes it ready. c may be NULL. */
void change_ended(struct manager *m, struct change_entry *c, enum change_status status,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void changes_free(struct manager *m);

#endif
