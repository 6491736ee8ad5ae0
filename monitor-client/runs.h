/*
 * Runs: the ends of processes that had a watched build mapped, joined from two sources which come
 * at different times. The kernel's exit records (kernel/exits.h) say what each thread used and, in
 * the last one's, that the process is over; the side-band's end of the first thread says when that
 * was and, asked then, the mappings say of which builds. Both are kept under the process id until
 * the other is there, and one round longer, since threads that end together on several CPUs report
 * in any order. Where the first thread ends before others that may take long.
 *
 * Around a command, whose user may not have exit records, perf takes their place: the side-band
 * says when a process began, what it is called and what each of its threads used at its end
 * (kernel/source.h). How it ended is not known then, nor its faults, and threads that outlive the
 * first one by more than a round are missing.
 *
 * What lacks its other half for RUNS_PATIENCE is forgotten, and counted as lost where a build
 * was watched. Two processes of one id within that time would be taken for one; the kernel gives
 * out all others before. Bounded: of more than RUNS_MAX processes at once some are not known.
 */
#ifndef MORPH_RUNS_H
#define MORPH_RUNS_H

#include "common/wire/wire.h"
#include "monitor-client/kernel/exits.h"

enum { RUNS_MAX = 16384, RUNS_BUILDS = 4 /* of one process */, RUNS_BUCKETS = 1024 };
#define RUNS_PATIENCE 5000000000ULL /* ns */

struct runs {
	struct run *bucket[RUNS_BUCKETS]; /* by process id */
	size_t n;
	uint64_t lost; /* since the last round */
	bool used;     /* perf has said once what a thread used */
	bool crowded;  /* in this round no room could be made */
};

/* Times are CLOCK_MONOTONIC in ns. */
void runs_record(struct runs *g, const struct exit_record *r, uint64_t now);
/* The first thread of a process ended at `end`; the process has n of the watched builds mapped, of
 * which RUNS_BUILDS at most are kept. args: the shape of its command line or CMDLINE_CUT
 * (kernel/cmdline.h), 0 = not known. */
void runs_ended(struct runs *g, uint32_t pid, uint64_t end, uint64_t args,
    const struct build_id *build, size_t n, uint64_t now);
/* It goes on: another thread of it called exec and took its place. */
void runs_exec(struct runs *g, uint32_t pid);

/* By perf: a process begins, as a copy of its parent; it has a new name, which is the first that is
 * heard of it where its begin was not seen; a thread of it used CPU time; its first thread ended,
 * before runs_ended(). */
void runs_begun(struct runs *g, uint32_t pid, uint32_t parent, uint64_t begin, uint64_t now);
void runs_named(struct runs *g, uint32_t pid, const char *comm, uint64_t at, uint64_t now);
void runs_used(struct runs *g, uint32_t pid, uint64_t cpu_ns, uint64_t now);
void runs_left(struct runs *g, uint32_t pid, uint32_t uid, uint64_t end, uint64_t now);

/* A run of one build; r->build stays to be filled. unclassed: the process's name where that is all
 * that is known of its command line, else NULL. */
typedef void run_fn(const struct build_id *id, uint32_t pid, const struct wire_run *r,
    const char *unclassed, void *arg);
/* Ends a round: calls fn for what is complete. all: waits for nothing more. epoch: CLOCK_REALTIME
 * less CLOCK_MONOTONIC. Returns how many runs were lost. */
uint64_t runs_round(struct runs *g, uint64_t now, uint64_t epoch, bool all, run_fn *fn, void *arg);
/* Forgets everything. */
void runs_free(struct runs *g);

#endif
