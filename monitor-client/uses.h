/*
 * Uses: the CPU time of processes that have a watched build mapped, and where they are counted
 * their instructions and cycles, added up by build while they run. In each round the clock of each
 * is read, and what it has gained since the round before counts; of those that ended between two
 * rounds, what their exit record says beyond that.
 *
 * What a process used before it is first seen counts only as far as the time since the last round
 * allows: one that maps a watched library late has a past without it. Since a manager takes
 * differences of what one session says, the first round of a build is where it begins.
 */
#ifndef MORPH_USES_H
#define MORPH_USES_H

#include "common/mem.h"
#include "common/wire/wire.h"
#include "monitor-client/kernel/cycles.h"

/* What ended stays so long, for its exit record. */
#define USES_PATIENCE 10000000000ULL /* ns */

struct uses { /* zero-filled */
	struct wire_use build[WIRE_RUN_BUILDS_MAX];
	uint32_t nbuild;
	VEC(struct use_process) process; /* ascending pid, as of the last round */
	VEC(struct use_process) seen;    /* in this one */
	uint64_t round, before;          /* times of this one and the one before */
};

struct use_process {
	uint32_t pid;
	uint64_t cpu_ns, seen; /* as last read, and when */
};

/* now: CLOCK_MONOTONIC, ns. */
void uses_begin(struct uses *u, uint64_t now);
/* One that runs, once in each round; cpu_ns: by its clock; counted: since the round before, or
 * NULL. */
void uses_process(struct uses *u, uint32_t pid, uint64_t cpu_ns, const struct cycles_gain *counted,
    const struct build_id *build, size_t n);
/* The builds that were seen so far into out[WIRE_RUN_BUILDS_MAX]; how many. */
uint32_t uses_end(struct uses *u, struct wire_use *out);
/* One that has ended, with one of its builds, at any time but within a round; cpu_ns: in all. */
void uses_ended(struct uses *u, uint32_t pid, uint64_t cpu_ns, const struct build_id *build);
/* Forgets everything. */
void uses_free(struct uses *u);

#endif
