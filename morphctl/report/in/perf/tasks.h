/*
 * What was mapped where in which process, and how threads were called, at any time of a recording.
 * Changes are added in the order of time, then any time can be queried. Times are the caller's; of
 * two changes at one time the later one counts.
 */
#ifndef MORPH_REPORT_PERF_TASKS_H
#define MORPH_REPORT_PERF_TASKS_H

#include "common/elf/buildid.h"
#include "common/hash.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

#define TASKS_KERNEL UINT32_MAX /* the pid that has the kernel's own mappings */

struct mapping {
	uint64_t time, start, end, pgoff; /* end > start */
	const char *path;                 /* outlives the tasks */
	struct build_id id;
	uint32_t file, image; /* the user's */
};

/* A program's life in a process: between fork or exec and the next one. */
struct epoch {
	uint64_t time;
	bool exec;       /* its parent is what the process executed before */
	uint32_t parent; /* epoch, or UINT32_MAX: what is not mapped in this is as it was there … */
	uint64_t parent_time; /* … at this time */
	uint64_t last;        /* of its mappings, and of those it inherits */
	VEC(struct mapping) map;
	/* An interval tree over the borders of all mappings: those of node i are item[first[i]] …,
	 * in the order of time; nodes from leaves on are the stretches between borders. */
	uint64_t *border;
	uint32_t leaves, *first, *item;
};

struct process {
	VEC(uint32_t) epoch;
};

struct named {
	uint64_t time;
	const char *comm;
};

struct thread {
	VEC(struct named) name;
};

struct tasks {
	VEC(struct epoch) epoch;
	VEC(struct process) process;
	VEC(struct thread) thread;
	struct htab pid, tid;
};

void tasks_map(struct tasks *t, uint32_t pid, const struct mapping *m);
/* inherits: the new process has the mappings of the old one. Of a new thread pid == ppid. */
void tasks_fork(struct tasks *t, uint64_t time, uint32_t pid, uint32_t ppid, uint32_t tid,
    uint32_t ptid, bool inherits);
void tasks_comm(
    struct tasks *t, uint64_t time, uint32_t pid, uint32_t tid, const char *comm, bool exec);
/* After the last change, before the first query. */
void tasks_index(struct tasks *t);

/* Its epoch at that time, or UINT32_MAX. */
uint32_t tasks_epoch(const struct tasks *t, uint32_t pid, uint64_t time);
/* The newest mapping of addr; NULL: none. In an exec, until it returns, registers and stack are
 * those of the program before: where the process is in the kernel, that one's mappings are looked
 * at last. */
struct mapping *tasks_find(
    const struct tasks *t, uint32_t epoch, uint64_t time, uint64_t addr, bool in_kernel);
/* "": not known. */
const char *tasks_name(const struct tasks *t, uint32_t tid, uint64_t time);
void tasks_free(struct tasks *t);

#endif
