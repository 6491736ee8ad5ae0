/*
 * Jobs: morph-edit (an edit, a score, a table, a profile) and the policy's commands over a
 * build, run by the privileged parent (managerd/priv/priv.h) beside the event loop,
 * with what they write kept up to a bound and a deadline that counts running
 * time only. One job at a time is enough for the manager; more are possible.
 *
 * The task of a BUILD stays until priv_drop(): commands and the swap name it.
 */
#ifndef MORPH_MANAGERD_EDIT_H
#define MORPH_MANAGERD_EDIT_H

#include "common/editanswer/editanswer.h"
#include "common/err.h"
#include "common/mem.h"
#include "managerd/samples/profile.h"
#include "managerd/priv/priv.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct edit_request {
	struct priv_job job; /* its descriptors are made here, but for shapes: the caller's */
	const void *samples; /* what priv_job.samples is to have; copied */
	size_t nsamples;     /* bytes, at most EDIT_SAMPLES_MAX */
	double deadline_s;   /* of running time, > 0 */
};

enum { EDIT_SAMPLES_MAX = 256 << 20, EDIT_OUT_MAX = 1 << 20, EDIT_ERR_MAX = 64 << 10 };

/* The text of the samples file, as of now. -1: it might be longer than EDIT_SAMPLES_MAX:
 * each line has the names of functions, which are an artifact's. */
int edit_print_samples(
    const struct profile *p, double density, struct decay at, struct buf *out, struct err *e);

enum edit_end {
	EDIT_DONE,      /* exit 0, and for BUILD and SCORE a whole answer */
	EDIT_CANNOT,    /* the editor or the parent says no, and why */
	EDIT_LATER,     /* not now: try later (exit 75) */
	EDIT_DEADLINE,  /* ran out of time, killed */
	EDIT_CANCELLED, /* edit_cancel() */
	EDIT_BROKEN     /* died of a signal, or answered what is no answer */
};

struct edit_result {
	enum edit_end end;
	const char *error; /* one line for people; "" when DONE */
	const char
	    *log; /* what it wrote to stderr (commands: stdout as well), at most EDIT_ERR_MAX */
	struct {
		const char *p;
		size_t n;
	} said;        /* COUNT: what it wrote to stdout, at most EDIT_OUT_MAX; hostile */
	uint64_t task; /* BUILD that is DONE: for swap, verify and priv_drop(); else 0 */
	struct build_id build_id, origin; /* BUILD: as the parent has seen */
	struct blob *blob; /* BUILD: its block map, TABLE: the table, SHAPES, CARRY: what was made;
			      hostile until decoded. Who wants to keep it takes it */
	struct editanswer answer; /* BUILD, SCORE: what the editor says */
	double ran_s;             /* running time, without pauses */
	double cpu_s;             /* CPU time of it and those that it waited for */
};
/* Strings live until the callback returns. */
typedef void edit_done_fn(const struct edit_result *r, void *arg);

struct edit;

/*
 * Starts a job; fn is called exactly once, from the loop, never from within
 * edit_start(); the handle is gone after it. NULL when it could not be started.
 */
struct edit *edit_start(uv_loop_t *loop, struct priv *p, const struct edit_request *q,
    edit_done_fn *fn, void *arg, struct err *e);
/* SIGSTOP or SIGCONT to the whole session; the deadline's clock stops, too. */
void edit_pause(struct edit *j, bool pause);
bool edit_paused(const struct edit *j);
/* SIGTERM, after 2 s SIGKILL; fn follows with EDIT_CANCELLED. */
void edit_cancel(struct edit *j);
/* CPU seconds so far, for the idle watch; -1 = it does not run. */
double edit_cpu(const struct edit *j);

#endif
