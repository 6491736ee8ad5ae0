/*
 * Reads /proc/stat, /proc/pressure/cpu, /sys/class/power_supply and the CPU
 * time of our own jobs on a timer, asks managerd/decide/idle.h, and says when the
 * answer changes. A file that cannot be read counts as "the kernel does not
 * say"; without /proc/stat the machine counts as busy.
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

/* ---- parsers, for tests ---- */
/* The "cpu" line of /proc/stat, in seconds. 0 or -1. */
int idlewatch_parse_stat(const char *text, double ticks_per_s, double *total, double *idle);
/* avg10 of the "some" line of a PSI file, as a share 0…1. 0 or -1. */
int idlewatch_parse_psi(const char *text, double *share);
/* On battery: a battery discharges and no mains is on line. Reads the folder
 * (/sys/class/power_supply). */
bool idlewatch_battery(const char *folder);

#endif
