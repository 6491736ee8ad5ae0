#include "managerd/decide/idlewatch.h"
#include "common/mem.h"
#include "managerd/decide/reading.h"

#include <stdlib.h>

enum { TICK_MAX_MS = 1000, TICK_MIN_MS = 100 };

struct idlewatch {
	uv_timer_t timer;
	struct idle_policy policy;
	struct idle idle;
	void (*fn)(enum idle_state s, void *arg);
	void *arg;
	bool own; /* it runs */
	double (*ask_own)(void *arg);
	void *ask_own_arg;
	double own_ended; /* CPU time of jobs that are gone */
	double own_now;   /* of the present one */
	bool reported;
	struct reading reading;
};

/* ---- watching ---- */

static void read_own(struct idlewatch *w)
{
	double now = w->ask_own ? w->ask_own(w->ask_own_arg) : -1;

	w->own = now >= 0;
	/* A process that ends may take its share along: the sum must not shrink. */
	if (now > w->own_now)
		w->own_now = now;
}

static void read_machine(struct idlewatch *w, struct idle_reading *r)
{
	read_own(w);
	reading_take(&w->reading, r);
	r->own = w->own;
	r->own_s = w->own_ended + w->own_now;
}

static void tick(uv_timer_t *timer)
{
	struct idlewatch *w = timer->data;
	enum idle_state before = w->idle.state;
	struct idle_reading r;

	read_machine(w, &r);
	if (idle_step(&w->idle, &w->policy, &r) != before || !w->reported) {
		w->reported = true;
		w->fn(w->idle.state, w->arg);
	}
}

static uint64_t tick_ms(const struct idle_policy *p)
{
	double ms = p->after_s * 1000 / 4;

	return ms < TICK_MIN_MS ? TICK_MIN_MS : ms > TICK_MAX_MS ? TICK_MAX_MS : (uint64_t)ms;
}

struct idlewatch *idlewatch_start(uv_loop_t *loop, const struct idle_policy *p,
    void (*fn)(enum idle_state s, void *arg), void *arg, struct err *e)
{
	struct idlewatch *w = xcalloc(1, sizeof *w);
	struct idle_reading r;
	int status;

	w->policy = *p;
	w->fn = fn;
	w->arg = arg;
	w->timer.data = w;
	uv_timer_init(loop, &w->timer);
	/* The first answer before the first tick. */
	read_machine(w, &r);
	idle_step(&w->idle, p, &r);
	status = uv_timer_start(&w->timer, tick, tick_ms(p), tick_ms(p));
	if (!status)
		return w;
	err_set(e, "idle timer: %s", uv_strerror(status));
	idlewatch_stop(w);
	return NULL;
}

void idlewatch_policy(struct idlewatch *w, const struct idle_policy *p)
{
	w->policy = *p;
	uv_timer_start(&w->timer, tick, tick_ms(p), tick_ms(p));
}

void idlewatch_own(struct idlewatch *w, double (*fn)(void *arg), void *arg)
{
	w->own_ended += w->own_now;
	w->own_now = 0;
	w->ask_own = fn;
	w->ask_own_arg = arg;
}

const struct idle *idlewatch_state(const struct idlewatch *w)
{
	return &w->idle;
}

static void closed(uv_handle_t *h)
{
	free(h->data);
}

void idlewatch_stop(struct idlewatch *w)
{
	uv_close((uv_handle_t *)&w->timer, closed);
}
