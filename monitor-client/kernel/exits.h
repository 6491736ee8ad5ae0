/*
 * What the kernel says of each task that ends: the exit records of the generic netlink family
 * TASKSTATS (Documentation/accounting/taskstats.rst), of all CPUs. A task is a thread; the last
 * one of a process says so.
 *
 * Opening asks for CAP_NET_ADMIN, in the first namespaces of users, processes and networks; reading
 * asks for nothing. Until it is switched on, and after it is switched off, a filter of the socket
 * drops what comes, so that nothing queues.
 */
#ifndef MORPH_EXITS_H
#define MORPH_EXITS_H

#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exit_record {
	uint32_t pid, tgid, uid; /* pid: of the thread; in the first namespaces */
	uint64_t elapsed_ns;     /* from the thread's begin to its end; counted in us */
	uint64_t cpu_ns, faults;
	uint64_t
	    group_ns;    /* with last: CPU time of all threads, where there were several, else 0 */
	uint32_t status; /* as wait(2) gives it; with last: of the process */
	bool last;
	char comm[32 + 1];
};

struct exits;

/* NULL: the kernel has no such records, too old ones (before taskstats version 12, Linux 5.19), or
 * does not allow it. Switched off. */
struct exits *exits_open(struct err *e);
void exits_close(struct exits *x);
/* Records of before are not read afterwards. */
void exits_switch(struct exits *x, bool on);

typedef void exit_fn(const struct exit_record *r, void *arg);
/* Calls fn for each record that waits. Returns how often the kernel had no room for some. */
uint64_t exits_drain(struct exits *x, exit_fn *fn, void *arg);

/* Reads one datagram of the family into *r: 1, or 0 when it is no exit record or one too old. */
int exits_parse(const void *p, size_t n, uint16_t family, struct exit_record *r);

#endif
