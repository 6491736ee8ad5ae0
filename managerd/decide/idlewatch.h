/*
 * Takes readings of the machine (managerd/decide/reading.h) and of the CPU time of our own jobs on
 * a timer, asks managerd/decide/idle.h, and says when the answer changes. Without /proc/stat the
 * machine counts as busy.
 */
#ifndef MORPH_MANAGERD_IDLEWATCH_H
#define MORPH_MANAGERD_IDLEWATCH_H

#include "common/err.h"
#include "managerd/decide/idle.h"

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

struct idlewatch;

/* fn is called on every change of state, from the loop. Ticks once a second,
 * four times within after_s when that is shorter, at least every 100 ms. */
struct idlewatch *idlewatch_start(uv_loop_t *loop, const struct idle_policy *p,
    void (*fn)(enum idle_state s, void *arg), void *arg, struct err *e);
/* From now on. */
void idlewatch_policy(struct idlewatch *w, const struct idle_policy *p);
/* Asked at each tick for the CPU seconds of the job whose time is ours, from 0 on
 * for each job; -1 = it does not run. fn NULL: there is none. */
void idlewatch_own(struct idlewatch *w, double (*fn)(void *arg), void *arg);
/* The last answer, with its numbers and reason. */
const struct idle *idlewatch_state(const struct idlewatch *w);
/* Closes the timer; frees itself on a later turn of the loop. */
void idlewatch_stop(struct idlewatch *w);

#endif
