#include "managerd/decide/idlewatch.h"
#include "common/mem.h"
#include "common/publish.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MAX_MS = 1000, TICK_MIN_MS = 100, BATTERY_EVERY_S = 30, FILE_MAX = 1 << 20 };

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
	bool battery, reported;
	double battery_at;
};

/* ---- reading ---- */

int idlewatch_parse_stat(const char *text, double ticks_per_s, double *total, double *idle)
{
	unsigned long long user, nice, system, idle_t, iowait, irq = 0, softirq = 0, steal = 0;

	if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
		&idle_t, &iowait, &irq, &softirq, &steal) < 5)
		return -1;
	*idle = (double)(idle_t + iowait) / ticks_per_s;
	*total = *idle + (double)(user + nice + system + irq + softirq + steal) / ticks_per_s;
	return 0;
}

int idlewatch_parse_psi(const char *text, double *share)
{
	double percent;

	if (sscanf(text, "some avg10=%lf", &percent) != 1 || !(percent >= 0 && percent <= 100))
		return -1;
	*share = percent / 100;
	return 0;
}

static bool file_says(const char *folder, const char *supply, const char *file, const char *what)
{
	char *path = xasprintf("%s/%s/%s", folder, supply, file);
	struct buf text = {0};
	bool says;

	says = !file_read(path, FILE_MAX, &text, NULL) &&
	       !strncmp(buf_cstr(&text), what, strlen(what));
	buf_free(&text);
	free(path);
	return says;
}

bool idlewatch_battery(const char *folder)
{
	bool discharges = false, mains = false;
	DIR *d = opendir(folder);
	struct dirent *de;

	while (d && (de = readdir(d))) {
		if (de->d_name[0] == '.')
			continue;
		if (file_says(folder, de->d_name, "type", "Battery"))
			/* Not that of a mouse. */
			discharges |= file_says(folder, de->d_name, "status", "Discharging") &&
				      !file_says(folder, de->d_name, "scope", "Device");
		else
			mains |= file_says(folder, de->d_name, "online", "1");
	}
	if (d)
		closedir(d);
	return discharges && !mains;
}

static double monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

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
	struct buf text = {0};

	read_own(w);
	*r = (struct idle_reading){.time_s = monotonic(), .psi = -1, .own = w->own};
	if (!file_read("/proc/stat", FILE_MAX, &text, NULL))
		idlewatch_parse_stat(
		    buf_cstr(&text), (double)sysconf(_SC_CLK_TCK), &r->total_s, &r->idle_s);
	text.n = 0;
	if (!file_read("/proc/pressure/cpu", FILE_MAX, &text, NULL))
		idlewatch_parse_psi(buf_cstr(&text), &r->psi);
	buf_free(&text);
	r->own_s = w->own_ended + w->own_now;
	if (!w->idle.primed || r->time_s - w->battery_at >= BATTERY_EVERY_S) {
		w->battery = idlewatch_battery("/sys/class/power_supply");
		w->battery_at = r->time_s;
	}
	r->battery = w->battery;
}

/* ---- watching ---- */

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
