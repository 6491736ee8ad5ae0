#include "monitor-client/kernel/tick.h"

#include <string.h>
#include <time.h>

enum { TICK_MEMORY = 8192 };

void tick_init(struct tick_grid *g, uint64_t period_ns)
{
	memset(g, 0, sizeof *g);
	g->period = period_ns;
}

static void forget_half(struct tick_grid *g)
{
	int i;

	g->total = 0;
	for (i = 0; i < TICK_PARTS; i++)
		g->total += g->seen[i] /= 2;
}

/* Another part takes over only when it clearly leads, so that slots do not
 * shift to and fro between neighbours. */
static void learn(struct tick_grid *g, uint64_t time)
{
	unsigned part = (unsigned)(time % g->period * TICK_PARTS / g->period);

	g->seen[part]++;
	if (g->seen[part] > 2 * g->seen[g->phase] + 8)
		g->phase = part;
	if (++g->total >= TICK_MEMORY)
		forget_half(g);
}

bool tick_accept(struct tick_grid *g, uint64_t time)
{
	uint64_t begin, slot;

	learn(g, time);
	/* One part early: clocks of CPUs are read a little apart. */
	begin = (g->phase + TICK_PARTS - 1) % TICK_PARTS * g->period / TICK_PARTS;
	slot = (time + g->period - begin) / g->period + 1;
	if (slot <= g->slot)
		return false;
	g->slot = slot;
	return true;
}

uint64_t tick_period(void)
{
	struct timespec t;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &t) || t.tv_sec || t.tv_nsec < 100000)
		return 0;
	return (uint64_t)t.tv_nsec;
}
