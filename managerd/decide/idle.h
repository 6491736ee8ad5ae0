/*
 * Is the machine idle? Pure: numbers in, answer out. The numbers come from
 * managerd/decide/idlewatch.h.
 *
 * Busy is what others use: CPU time of all processors in the window, less
 * that of our own jobs. Pressure (PSI, "some" of cpu) rises by our own jobs'
 * waiting too, so while one runs it only counts when others use something.
 */
#ifndef MORPH_MANAGERD_IDLE_H
#define MORPH_MANAGERD_IDLE_H

#include <stdbool.h>
#include <stdint.h>

struct idle_policy {
	double after_s;  /* quiet for so long before work begins; 0 = at once */
	double cpu;      /* share 0…1 of all processors that must be idle; 0 = any load will do */
	double psi;      /* share 0…1 of time someone may wait for a processor; 1 = any */
	bool battery_ok; /* work on battery, too */
};

/* One reading. Counters only grow (from boot); a step back counts as 0. */
struct idle_reading {
	double time_s;  /* CLOCK_MONOTONIC */
	double total_s; /* CPU time of all processors, any state */
	double idle_s;  /* idle or waiting for a disk */
	double own_s;   /* CPU time our own jobs used so far */
	bool own;       /* a job of ours runs or is paused */
	double psi;     /* share 0…1, "some avg10"; < 0 = the kernel does not say */
	bool battery;   /* running on battery */
};

enum idle_state {
	IDLE_BUSY,  /* others work: do not begin, pause what runs */
	IDLE_QUIET, /* quiet, but not long enough: do not begin, let run */
	IDLE_YES    /* begin */
};

struct idle { /* zero-filled at first */
	struct idle_reading last;
	bool primed;
	double quiet_since;
	enum idle_state state;
	double busy_share;  /* of others in the last window */
	const char *reason; /* static text for people: "quiet for less than idle.after", … */
};

enum idle_state idle_step(
    struct idle *i, const struct idle_policy *p, const struct idle_reading *r);

/* Seconds that it must still be quiet for work to begin; 0 = it may, or is busy. */
double idle_wait(const struct idle *i, double after_s);

#endif
