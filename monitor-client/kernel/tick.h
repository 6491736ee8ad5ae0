/*
 * One accepted sample per clock tick. The tracepoint of the local timer also
 * fires for other timers (a program's nanosleep); were those taken too,
 * samples would follow the timers and not the time. Ticks lie on a grid of the
 * tick period, so a CPU's time is cut into slots that begin just before the
 * grid's phase, and the first sample of a slot is the tick.
 *
 * The phase is learned: the most frequent part of the period. Linux since 6.4
 * puts it at 0 of CLOCK_MONOTONIC (tick/common.c), earlier and with skew_tick
 * it is any, and differs per CPU. Pure.
 */
#ifndef MORPH_TICK_H
#define MORPH_TICK_H

#include <stdbool.h>
#include <stdint.h>

enum { TICK_PARTS = 64 };

struct tick_grid {
	uint64_t period;           /* ns */
	uint32_t seen[TICK_PARTS]; /* samples by part of the period, halved now and then */
	uint32_t total;
	unsigned phase; /* the part where ticks fall */
	uint64_t slot;  /* last one that had its sample, + 1 */
};

void tick_init(struct tick_grid *g, uint64_t period_ns);
/* Whether the sample at this time (ns, ascending per CPU) is the tick of its
 * slot. */
bool tick_accept(struct tick_grid *g, uint64_t time);
/* The kernel's tick period in ns (1/CONFIG_HZ): the resolution of the coarse
 * clocks, which advance once per tick. */
uint64_t tick_period(void);

#endif
