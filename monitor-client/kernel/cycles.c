#include "monitor-client/kernel/cycles.h"
#include "common/log.h"
#include "monitor-client/kernel/attach.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAIR = 2 };

const struct cycles_events CYCLES_OF_CPU = {
    PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES};

struct opening {
	struct cycles *c;
	struct cycles_process *p;
};

static int open_event(const struct cycles_events *of, uint64_t config, pid_t tid, int group)
{
	struct perf_event_attr a = {.size = sizeof a,
	    .type = of->type,
	    .config = config,
	    .inherit = 1,
	    .inherit_thread = 1,
	    .exclude_kernel = 1,
	    .exclude_hv = 1};

	return (int)syscall(SYS_perf_event_open, &a, tid, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static int open_thread(void *arg, pid_t tid, struct err *e)
{
	struct opening *o = arg;
	const struct cycles_events *of = o->c->events;
	int first, second;

	if (o->c->threads == CYCLES_THREADS_MAX) {
		errno = EMFILE;
		return -1;
	}
	first = open_event(of, of->cycles, tid, -1);
	second = first < 0 ? -1 : open_event(of, of->instructions, tid, first);
	if (second < 0) {
		if (first >= 0)
			close(first);
		return -1;
	}
	vec_push(&o->p->fd, first);
	vec_push(&o->p->fd, second);
	o->c->threads++;
	return 0;
}

static void close_process(struct cycles *c, struct cycles_process *p)
{
	size_t i;

	for (i = 0; i < p->fd.n; i++)
		close(p->fd.v[i]);
	c->threads -= (unsigned)(p->fd.n / PAIR);
	vec_free(&p->fd);
}

static bool open_process(struct cycles *c, struct cycles_process *p)
{
	pid_t pid = (pid_t)p->pid;
	struct opening o = {c, p};
	struct attach a = {0};
	struct err e;
	int failed = attach_threads(&a, &pid, 1, open_thread, open_thread, &o, &e) ? errno : 0;

	attach_free(&a);
	if (!failed)
		return true;
	close_process(c, p);
	if (failed == EMFILE || failed == ESRCH)
		return false;
	log_info("instructions and cycles cannot be counted: %s",
	    failed == ENOENT || failed == ENODEV || failed == EOPNOTSUPP
		? "this CPU shows no counters, as those of virtual machines mostly do not"
		: strerror(failed));
	c->refused = true;
	return false;
}

static bool read_process(const struct cycles_process *p, struct cycles_gain *out)
{
	uint64_t v[PAIR];
	size_t i;

	*out = (struct cycles_gain){0};
	for (i = 0; i < p->fd.n; i += PAIR) {
		if (read(p->fd.v[i], &v[0], sizeof v[0]) != sizeof v[0] ||
		    read(p->fd.v[i + 1], &v[1], sizeof v[1]) != sizeof v[1])
			return false;
		out->cycles += v[0];
		out->instructions += v[1];
	}
	return true;
}

static size_t index_of(const struct cycles *c, uint32_t pid)
{
	size_t i = 0;

	while (i < c->process.n && c->process.v[i].pid != pid)
		i++;
	return i;
}

static void forget(struct cycles *c, size_t i)
{
	close_process(c, &c->process.v[i]);
	c->process.v[i] = c->process.v[--c->process.n];
}

void cycles_begin(struct cycles *c)
{
	size_t i;

	for (i = 0; i < c->process.n; i++)
		c->process.v[i].asked = false;
}

bool cycles_process(struct cycles *c, uint32_t pid, struct cycles_gain *out)
{
	struct cycles_process *p, fresh = {.pid = pid, .asked = true};
	size_t i = index_of(c, pid);
	struct cycles_gain now;

	if (c->refused)
		return false;
	if (i < c->process.n) {
		p = &c->process.v[i];
		if (read_process(p, &now) && now.cycles > p->before.cycles) {
			out->instructions = now.instructions - p->before.instructions;
			out->cycles = now.cycles - p->before.cycles;
			p->before = now;
			p->asked = true;
			return true;
		}
		/* It may be another process's id by now, whose threads have no events. */
		forget(c, i);
	}
	if (open_process(c, &fresh))
		vec_push(&c->process, fresh);
	return false;
}

void cycles_end(struct cycles *c)
{
	size_t i;

	for (i = c->process.n; i-- > 0;)
		if (!c->process.v[i].asked)
			forget(c, i);
}

void cycles_free(struct cycles *c)
{
	while (c->process.n)
		forget(c, 0);
	vec_free(&c->process);
}
