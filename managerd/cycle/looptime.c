#include "managerd/cycle/looptime.h"
#include "common/log.h"

#include <time.h>

enum { LONG_TURN_NS = 20000000 };

static uint64_t thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Between two waits. */
static void turn_ended(uv_prepare_t *h)
{
	struct looptime *t = h->data;
	uint64_t now = uv_hrtime(), idle = uv_metrics_idle_time(h->loop);
	uint64_t worked = now - t->at_ns - (idle - t->idle_ns);
	uint64_t cpu = thread_cpu_ns(), used = cpu - t->cpu_ns;

	if (t->at_ns && worked > LONG_TURN_NS &&
	    (worked > t->longest_ns || used > t->longest_cpu_ns)) {
		t->longest_ns = worked > t->longest_ns ? worked : t->longest_ns;
		t->longest_cpu_ns = used > t->longest_cpu_ns ? used : t->longest_cpu_ns;
		log_debug("longest turn of the loop: %.0f ms, %.0f ms of CPU time",
		    (double)worked / 1e6, (double)used / 1e6);
	}
	t->at_ns = now;
	t->idle_ns = idle;
	t->cpu_ns = cpu;
}

void looptime_start(struct looptime *t, uv_loop_t *loop)
{
	uv_prepare_init(loop, &t->turn);
	t->turn.data = t;
	uv_prepare_start(&t->turn, turn_ended);
	uv_unref((uv_handle_t *)&t->turn);
}

void looptime_stop(struct looptime *t)
{
	uv_close((uv_handle_t *)&t->turn, NULL);
}
