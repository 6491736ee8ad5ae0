/*
 * What a service did, in windows of time: its counter, which the manager reads now and then, and
 * the CPU time of its processes, which a monitor reports at times of its own, brought together; or
 * instructions and cycles in their place, which come at one time. CPU time at the time of a reading
 * lies on the line between the two reports about it.
 *
 * A window counts where one build did all the work: not while processes of both run, and not the
 * first one after a restart, in which the service fills its caches. Without work it says nothing.
 * Pure.
 */
#ifndef MORPH_MANAGERD_WINDOWS_H
#define MORPH_MANAGERD_WINDOWS_H

#include "managerd/trial/trial.h"

enum {
	WINDOWS_PAST = 64,  /* reports that are kept, for a command that took its time */
	WINDOWS_BACK = 3,   /* so many in a row in which the counter goes back: it is none */
	WINDOWS_STILL = 10, /* … in which it stands still while there is CPU time */
};

/* A counter's number, as its command printed it: digits, perhaps a fraction and an exponent, up to
 * 2^53, and blanks around it. -1: it is none. */
int windows_number(const char *text, size_t n, double *out);

struct windows { /* zero-filled */
	struct windows_report {
		uint64_t session, at_ns; /* of the monitor */
		uint64_t cpu_ns[TRIAL_ARMS];
	} past[WINDOWS_PAST]; /* of one session; the latest is the last */
	unsigned npast;
	struct windows_reading {
		uint64_t at_ns; /* 0 = none */
		double count;
		double cpu_ns[TRIAL_ARMS];
	} base, next; /* where the window begins; the reading that waits for its CPU time */
	unsigned back, still, skip;
};

/* The counter was read at a time (CLOCK_REALTIME, as all). One that waits is forgotten. */
void windows_read(struct windows *w, uint64_t at_ns, double count);
/* A monitor says how much CPU time processes of either build have used in its session. True: *out
 * is what came of it. *trouble changes when the counter has to be given up. */
bool windows_report(struct windows *w, const struct windows_report *r, struct trial_window *out,
    enum trial_trouble *trouble);
/* The service was restarted: what was begun is not ended. */
void windows_restarted(struct windows *w);

#endif
