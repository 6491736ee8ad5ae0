/*
 * The manager's side of the privileged parent (managerd/parent/): the short list
 * of things it may ask for. The parent opens and judges every file of a user
 * itself, has it read by morph-inspect (managerd/inspect/inspect.h), and holds
 * policy, package rule and trust; the manager opens nothing but its own store.
 *
 * Two kinds of requests. Short ones are answered at once. A task takes its time:
 * it is begun, ends with one call of its callback from priv_dispatch(), and, where
 * it is an edit, stays until it is dropped, since a verification and a swap name
 * it. What a task may do follows from what it is, not from what is asked: a
 * swap names an edit that this parent started, watched to its end and inspected.
 *
 * Thread rule: the loop's thread alone. When the parent is gone, the process ends.
 */
#ifndef MORPH_MANAGERD_PRIV_H
#define MORPH_MANAGERD_PRIV_H

#include "common/elf/buildid.h"
#include "common/err.h"
#include "common/mem.h"
#include "managerd/priv/blob.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* What the parent leaves open for the manager. */
enum {
	PRIV_FD_VERBS = 3, /* requests and their answers */
	PRIV_FD_EVENTS,    /* ends of tasks */
	PRIV_FD_POLICY,    /* a regular file: the policy's text; empty = defaults */
	PRIV_FD_API,       /* listening sockets */
	PRIV_FD_MONITOR
};

struct priv;

struct priv *priv_connect(int verbs, int events);
void priv_close(struct priv *p);
/* Becomes readable when a task has ended. */
int priv_events(const struct priv *p);
/* Calls back for one task that has ended, if any has: what comes of it takes its time. */
void priv_dispatch(struct priv *p);

/* ---- the policy ---- */

/* Has the policy's file read again. 0: what is in PRIV_FD_POLICY is in force now; *path, until the
 * next request, is its file, "" = there is none. -1: all is as it was. */
int priv_reload(struct priv *p, const char **path, struct err *e);

/* ---- files ---- */

struct priv_stamp { /* equal stamps: the same unchanged file */
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;
};

/* The file at a path as it is now; -1: there is none that may be inspected. */
int priv_stamp(struct priv *p, const char *path, struct priv_stamp *out);
bool priv_stamp_equal(const struct priv_stamp *a, const struct priv_stamp *b);

enum priv_inspect {
	PRIV_FOLLOWED = 0, /* an artifact that may be trusted belongs to it: all is set */
	PRIV_NO_ARTIFACT,  /* none, or one that may not be trusted or does not fit: why; uid, bytes,
			      stamp and, where they are known, id and origin are set */
	PRIV_GONE,         /* no regular file, or none with a build-id: why */
	PRIV_LATER         /* could not be found out now: why */
};

struct priv_inspected {
	enum priv_inspect status;
	const char *why; /* "" when FOLLOWED */
	struct build_id id, origin;
	uid_t uid; /* owner of the module */
	uint64_t bytes;
	struct priv_stamp stamp;
	const char *artifact; /* its path */
	/* With PRIV_JUDGE: FOLLOWED, why it must not be swapped (policy, its list of functions,
	 * set-user-id, hard links, package, changed by hand, …); NO_ARTIFACT, why it must not be
	 * lifted, which includes that; "" = it may be */
	const char *refused;
	bool observed; /* that is nothing but `legacy: observe` of the policy */
	uint64_t list; /* with PRIV_JUDGE: hash of the names of the policy's list of functions that
			  come first, 0 = there is none */
	const void *table, *map; /* map_table_encode(), blockmap_encode(): hostile until decoded */
	size_t ntable, nmap;
};
/* Strings and blobs live until the callback returns. */
typedef void priv_inspected_fn(const struct priv_inspected *r, void *arg);

/*
 * Looks at the file at an absolute path. hint[2] are build-ids under which its
 * artifact may be filed besides its own (n = 0: none). PRIV_SHALLOW: where no artifact
 * lies at any place that is known without reading the module, it is not read;
 * id and origin are then not known. PRIV_JUDGE: whether it may be swapped is to be found
 * out as well, for which the package manager may be asked. Returns the task, or 0
 * with why.
 */
enum { PRIV_SHALLOW = 1, PRIV_JUDGE = 2 };
uint64_t priv_inspect(struct priv *p, const char *path, const struct build_id hint[2], unsigned how,
    priv_inspected_fn *fn, void *arg, struct err *e);

/* ---- artifacts from servers ---- */

/* Has an artifact for the module fetched, as the policy says, one at a time; the next inspection
 * finds it. why is not "" when there is none. Returns the task, or 0 with why. */
typedef void priv_fetched_fn(const char *why, void *arg);
uint64_t priv_fetch(
    struct priv *p, const char *module, priv_fetched_fn *fn, void *arg, struct err *e);

/* ---- the operator ---- */

enum priv_event { PRIV_SLOWER, PRIV_CRASHES, PRIV_EVENTS };
/* Has the policy's notify command run, once, for what became of a module's layout. text: one line
 * for people. That it fails is for the parent to log. */
int priv_notify(
    struct priv *p, const char *module, enum priv_event event, const char *text, struct err *e);

/* ---- jobs: an edit and what goes with it ---- */

enum priv_job_kind {
	PRIV_BUILD = 1,
	PRIV_SCORE,
	PRIV_TABLE,
	PRIV_SHAPES,     /* of the module's blocks, by which its profile can be carried over … */
	PRIV_CARRY,      /* … from the program that was there before */
	PRIV_LIFT,       /* an artifact made of its machine code; the next inspection finds it */
	PRIV_LIFT_AGAIN, /* likewise, in place of one that was made so */
	/* commands of the policy over a build */
	PRIV_VERIFY,
	PRIV_MEASURE_OLD, /* the benchmark, of the build in place */
	PRIV_MEASURE_NEW, /* … of the new one */
	/* about a service that runs the module */
	PRIV_COUNT,   /* its counter, which says so on `out` */
	PRIV_RESTART, /* it is to run what is in place now; not again within an eighth of a turn */
	PRIV_JOBS
};

static inline bool priv_lifts(enum priv_job_kind kind)
{
	return kind == PRIV_LIFT || kind == PRIV_LIFT_AGAIN;
}

static inline bool priv_takes_samples(enum priv_job_kind kind)
{
	return kind == PRIV_BUILD || kind == PRIV_SCORE || kind == PRIV_CARRY || priv_lifts(kind);
}

struct priv_job {
	enum priv_job_kind kind;
	const char *module;         /* absolute path; commands over a build: not used */
	uint64_t edit;              /* commands over a build: its task */
	struct build_id id, origin; /* what the manager takes the module for */
	int samples;  /* BUILD, SCORE, CARRY: memfd with the text; LIFT: with offsets in
			 the file, a line each, of what is lifted, none = of all; -1 */
	int shapes;   /* CARRY: the bytes that a SHAPES job made; -1 */
	int out, err; /* descriptors for its 1 and 2 */
};

struct priv_ended {
	bool later;                 /* what it needs was not to be had now: try again */
	const char *why;            /* not "": it was not started, or its result is refused */
	int status;                 /* as of waitpid(2) when why is "" */
	double cpu_s;               /* of it and those that it waited for */
	struct build_id id, origin; /* BUILD, status 0: of the build */
	struct blob *blob;          /* BUILD: its block map; TABLE: the table; SHAPES, CARRY: what
				       was made; hostile. Who wants to keep it takes it */
};
typedef void priv_ended_fn(const struct priv_ended *r, void *arg);

uint64_t priv_job(
    struct priv *p, const struct priv_job *j, priv_ended_fn *fn, void *arg, struct err *e);
/* CPU seconds of all processes of a job so far; -1 = it does not run (yet, or any
 * more). */
double priv_job_cpu(struct priv *p, uint64_t task);
/* SIGSTOP, SIGCONT, SIGTERM or SIGKILL to all of its processes. What has ended
 * gets nothing. */
int priv_signal(struct priv *p, uint64_t task, int sig, struct err *e);
/* Ends a task and forgets it; its callback, if it is still to come, is not
 * called. Unknown ones are fine. */
void priv_drop(struct priv *p, uint64_t task);

/* ---- swapping ---- */

enum swap_status {
	SWAP_OK = 0,
	SWAP_REFUSED, /* must not be swapped (setuid, hard link, policy, …): no use trying again */
	SWAP_CHANGED, /* the module is not what it was thought to be (upgrade, rebuild), or a
			 layout that was changed by hand (not for a rollback) */
	SWAP_FAILED   /* could not (space, read-only file system, …): try later */
};

struct priv_swapped {
	enum swap_status status;
	const char *why; /* "" when OK */
	struct build_id from, to;
};
typedef void priv_swapped_fn(const struct priv_swapped *r, void *arg);

/* Puts the build of an edit in its module's place; the edit ended with status
 * 0, and was verified where the policy wants that. */
uint64_t priv_swap(struct priv *p, uint64_t edit, priv_swapped_fn *fn, void *arg, struct err *e);
/* Puts a kept build back. */
uint64_t priv_rollback(struct priv *p, const char *module, const struct build_id *to,
    priv_swapped_fn *fn, void *arg, struct err *e);
/* What became of it is recorded: forgets the journal entry and drops kept builds
 * beyond the policy's bound. */
int priv_swap_done(struct priv *p, const char *module, struct err *e);

/* How an unfinished swap ended. Strings live as long as the call. */
struct swap_outcome {
	const char *module;
	struct build_id from, to;
	bool rollback;
	enum { SWAP_FINISHED = 1, SWAP_UNDONE, SWAP_REPLACED } end;
	/* FINISHED: the module is `to`. UNDONE: it is `from`. REPLACED: it is
	 * neither (or gone): somebody else put another file there meanwhile. */
};
/* At start: the swaps that an earlier manager left unfinished, which the parent
 * has settled. Each comes again at the next start until priv_swap_done(). */
int priv_recovered(
    struct priv *p, void (*fn)(const struct swap_outcome *o, void *arg), void *arg, struct err *e);

struct swap_kept {
	struct build_id id;
	uint64_t bytes;
	int64_t since; /* when it was kept, Unix time in ms */
};
/* The kept builds of a module, newest first, into an arena. */
size_t priv_kept(struct priv *p, const char *module, struct arena *a, const struct swap_kept **out);

/* A module that a person rolled back is not swapped until a person asks for it;
 * the parent keeps that, so that it outlives the store. */
int priv_hold(struct priv *p, const char *module, bool held, struct err *e);
bool priv_held(struct priv *p, const char *module);

#endif
