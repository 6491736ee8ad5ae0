/*
 * A control group (version 2) for each job, where the one that we run in is
 * delegated to us: systemd's Delegate=yes says so by the extended attribute
 * "user.delegate" or "trusted.delegate" (systemd.resource-control(5)). It bounds the
 * memory and the processes of a job as a whole, and kills them all at once,
 * whatever they did to leave their session. Elsewhere nothing here does anything:
 * limits are then those of each process alone.
 *
 *	OURS/main     the parent and the manager
 *	OURS/job-N    the processes of task N
 */
#ifndef MORPH_PARENT_CGROUP_H
#define MORPH_PARENT_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

struct cgroups {
	int dir; /* ours, 0 = not delegated */
};

/* Moves this process to main; call before others are started. */
void cgroups_open(struct cgroups *c);
/* Makes that of a task; memory: bytes of all of its processes, 0 = no limit; idle: they
 * run when nobody else wants to (cpu.idle), else with a tenth of the usual weight.
 * Returns a descriptor, or -1 = none (which is no error). */
int cgroup_make(
    const struct cgroups *c, uint64_t task, uint64_t memory, unsigned processes, bool idle);
/* Moves the calling process there; for a child before it becomes a program. */
bool cgroup_enter(int group);
/* CPU time of all that is and was in it, in microseconds. */
bool cgroup_cpu(int group, uint64_t *us);
/* Kills all processes of it, and removes it once it is empty (or by the next
 * cgroups_sweep()); group is closed. */
void cgroup_end(const struct cgroups *c, uint64_t task, int group);
/* The same with all that an earlier morphd left behind. Call where no other works with
 * the same state. */
void cgroups_sweep(const struct cgroups *c);

#endif
