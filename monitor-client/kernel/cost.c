#include "monitor-client/kernel/cost.h"
#include "common/mem.h"
#include "common/sort.h"
#include "monitor-client/kernel/clock.h"
#include "monitor-client/kernel/ring.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Enough for a median, in a hundredth of a second where the machine is not busy. */
enum { SAMPLES = 64, SAMPLES_LEAST = 16, PAGES = 32, GAPS_MAX = 1 << 14 };
#define PERIOD (SECOND / 8000)
#define PATIENCE (SECOND / 20)
#define GAP_LEAST UINT64_C(300) /* reading the clock takes 20 to 200 ns */

static int longest_first(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return ORDER(*b, *a);
}

uint64_t cost_of_gaps(uint64_t *gap, size_t n, size_t samples)
{
	if (samples > n)
		samples = n;
	if (samples < SAMPLES_LEAST)
		return 0;
	qsort(gap, n, sizeof *gap, longest_first);
	return gap[samples / 2];
}

static size_t count_samples(struct ring *r)
{
	struct event ev;
	uint64_t lost;
	enum record_kind k;
	size_t n = 0;

	while ((k = ring_next(r, SHAPE_EXTRA, &ev, &lost)) != REC_END)
		n += k == REC_EVENT;
	ring_release(r);
	return n;
}

/* Reads the clock until there were enough samples; returns how many. */
static size_t watch_clock(struct ring *r, uint64_t *gap, size_t *n)
{
	uint64_t begin = clock_now(), last = begin, now = begin;
	size_t samples = 0;

	while (samples < SAMPLES && *n < GAPS_MAX && now - begin < PATIENCE) {
		now = clock_now();
		if (now - last >= GAP_LEAST) {
			gap[(*n)++] = now - last;
			samples += count_samples(r);
			now = clock_now();
		}
		last = now;
	}
	return samples;
}

uint64_t cost_measure(bool registers)
{
	struct perf_event_attr a = {.size = sizeof a,
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_CPU_CLOCK,
	    .sample_period = PERIOD,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER,
	    .sample_regs_user = registers ? RING_REGS_FULL : RING_REGS,
	    .exclude_kernel = 1};
	struct ring r = {0};
	struct err e;
	uint64_t *gap, cost;
	size_t samples, n = 0;
	int fd;

	if (registers) {
		a.sample_type |= PERF_SAMPLE_STACK_USER;
		a.sample_stack_user = RING_STACK;
	}
	fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return 0;
	if (ring_open(&r, fd, PAGES, &e)) {
		close(fd);
		return 0;
	}
	r.full = registers;
	gap = xcalloc(GAPS_MAX, sizeof *gap);
	samples = watch_clock(&r, gap, &n);
	cost = cost_of_gaps(gap, n, samples);
	free(gap);
	ring_close(&r);
	close(fd);
	return cost;
}
