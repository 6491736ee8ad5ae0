/*
 * Where samples come from: the perf events of all CPUs, system-wide or of one
 * command and its children, and their rings. Per CPU two events with a ring
 * each: the samples, and a dummy that carries the side-band (mappings, forks,
 * execs, exits), so that a flood of the one cannot drop the other.
 *
 *   tick       tracepoint irq_vectors:local_timer_entry: the user registers at
 *              each clock tick that happens anyway, one sample per tick
 *              (tick.h). CPUs without a tick (nohz_full) get cpu-clock at the
 *              tick's period. Where it interrupted the kernel is known by the
 *              call chain (callchain.h).
 *   cpu-clock  a timer of our own with a fixed period.
 *
 * Of processes that run already every thread has such events, which share the rings of the CPUs;
 * threads and children that come later inherit them (kernel/attach.h).
 *
 * Of one command the side-band's event counts CPU time (task-clock), and what each thread has used
 * is an EV_USED when it ends. Kernels from 5.13 until the fix of 6.19, which stable ones have got
 * too, say nothing then.
 *
 * Of the user's registers four are looked at, to tell kernel from user mode
 * (ring.c), and none is kept; all of them, and the top of the stack, come with
 * a sample while source_registers() asks for them.
 *
 * Another such clock gives extra samples of some programs while source_boost() asks for them; as
 * with ticks, the time of a page fault is the faulting instruction's.
 *
 * A third event, with a ring of its own, is there while source_execs_of() was called: the
 * tracepoint sched:sched_process_exec of programs of certain names, with the begin of the stack, of
 * which a number is kept (cmdline.h). It is there before the program runs, so that the shortest
 * have it, too; what /proc says would be missing of those that end before it is read, which are the
 * fast ones.
 */
#ifndef MORPH_SOURCE_H
#define MORPH_SOURCE_H

#include "common/err.h"
#include "common/wire/wire.h"
#include "monitor-client/kernel/order.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

enum source_want { SOURCE_AUTO, SOURCE_TICK, SOURCE_CPU_CLOCK };

struct source_options {
	enum source_want want;
	unsigned rate;        /* of cpu-clock, Hz */
	pid_t follow;         /* this process and its children, from its exec on; 0: all */
	const pid_t *running; /* these processes, and the children they make from now on */
	size_t nrunning;      /* 0: all, or follow */
	bool registers;       /* from the start, of some processes: it cannot be changed then */
};

struct source;

/* *refused: the kernel denies the right to it, and e says what grants it. */
struct source *source_open(const struct source_options *o, bool *refused, struct err *e);
void source_close(struct source *s);

enum wire_source source_kind(const struct source *s);
uint64_t source_period(const struct source *s); /* CPU time of one sample, ns */

struct source_losses {
	uint64_t samples;    /* that did not fit */
	bool sideband;       /* some was lost */
	uint64_t throttled;  /* times that the kernel paused an event */
	uint64_t args_since; /* EV_ARGS were lost, since this time at the earliest; 0: none were */
};

/* Moves what the rings hold into the order, and adds to *l. */
void source_drain(struct source *s, struct order *o, struct source_losses *l);
/* System-wide: opens CPUs that came, closes those that went. Call after a
 * drain. */
void source_rescan(struct source *s);
/* System-wide: whether samples bring registers from now on. Moves what the rings
 * hold, as source_drain() does, and opens the sample events again. */
void source_registers(struct source *s, bool on, struct order *o, struct source_losses *l);
/* System-wide: each CPU takes an extra sample per so many ns from now on, 0 = none, of whatever
 * runs; it is an event of its own, so that all others stay what they are. Losses of extra samples
 * are not counted. False: the kernel does not allow it, and there are none. */
bool source_boost(struct source *s, uint64_t period, struct order *o, struct source_losses *l);
/* System-wide: execs of programs of this name (as of a task, 15 bytes) are EV_ARGS events from now
 * on, where the kernel has the tracepoint and its number can be read; names of other than letters,
 * digits and ._+- are passed over, and more than SOURCE_NAMES. Again and again is the same. */
enum { SOURCE_NAMES = 64 };
void source_execs_of(struct source *s, const char *name);
/* No name's any more. */
void source_no_execs(struct source *s);
/* What to poll for, source_npoll() entries, and after the poll whether a ring
 * is half full. */
size_t source_npoll(const struct source *s);
void source_poll(const struct source *s, struct pollfd *p);
bool source_ready(struct source *s, const struct pollfd *p);

#endif
