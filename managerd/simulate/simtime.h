/*
 * The time in a simulation. main.c has the program's clock_gettime() answer from here, so that the
 * manager's clock and all timers of its loop (libuv asks it too) go by it, unchanged.
 */
#ifndef MORPH_MANAGERD_SIMTIME_H
#define MORPH_MANAGERD_SIMTIME_H

#include <stdbool.h>
#include <stdint.h>

struct simtime {
	bool on;         /* else clocks are the machine's */
	int64_t real_ns; /* CLOCK_REALTIME */
	int64_t mono_ns; /* CLOCK_MONOTONIC, which stands while a machine sleeps */
};
extern struct simtime simtime;

#endif
