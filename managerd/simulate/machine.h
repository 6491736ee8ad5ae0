/*
 * The machine of a trace, in place of the kernel's word: it answers reading_take()
 * (managerd/decide/reading.h), for the one simulation that there is at a time.
 */
#ifndef MORPH_MANAGERD_MACHINE_SIM_H
#define MORPH_MANAGERD_MACHINE_SIM_H

#include "managerd/decide/idle.h"

struct machine {
	double processors;
	double busy, psi; /* shares 0…1, now */
	bool battery, asleep;
	double total_s, idle_s; /* so far */
	struct idle idle;       /* what somebody finds who runs no jobs of their own */
};
extern struct machine machine;

/* Awake for so long; own_s: CPU time of the manager's jobs in it. */
void machine_pass(double seconds, double own_s);
/* Looks at it with nothing of its own running. */
void machine_look(const struct idle_policy *p);

#endif
