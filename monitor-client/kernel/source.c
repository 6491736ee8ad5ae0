#include "monitor-client/kernel/source.h"
#include "common/log.h"
#include "monitor-client/kernel/attach.h"
#include "monitor-client/kernel/buildidleak.h"
#include "monitor-client/kernel/clock.h"
#include "monitor-client/kernel/cpus.h"
#include "monitor-client/kernel/ring.h"
#include "monitor-client/kernel/tick.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 4 KiB pages: together 98 of the 129 per CPU that anybody may lock. */
enum { SAMPLE_PAGES = 32, SIDEBAND_PAGES = 64 };
/* Of samples with registers, 119 of these; where no more may be locked they have the others. */
enum { FULL_PAGES = 128 };
/* Of execs, while there are names to look for: 30 of these. */
enum { EXEC_PAGES = 128 };
enum { EXTRA_PAGES = 64 }; /* while there are extra samples, without registers */
enum { NAME_SIZE = 16 };   /* of a task's name, with its NUL (TASK_COMM_LEN) */

struct shared {
	pid_t tid;
	int fd;
};

/* One event with its ring. */
struct tap {
	int fd;
	struct ring ring;
	enum sample_shape shape;
	VEC(struct shared) shared; /* events of further threads that write into this ring */
	uint64_t lost;             /* as last read from the event */
	bool hung;                 /* its processes are gone: poll would return at once */
};

struct cpu {
	unsigned n;
	struct tap sample, sideband;
	struct tap exec, extra; /* their fds are -1 most of the time */
	struct tick_grid grid;
};

struct source {
	struct source_options o;
	enum wire_source kind;
	uint64_t period;
	uint64_t extra_period;                /* 0: no extra samples */
	uint64_t drained;                     /* when the last drain began */
	uint64_t tracepoint, exec_tracepoint; /* 0: it cannot be had */
	char name[SOURCE_NAMES][NAME_SIZE];   /* whose execs are looked for */
	size_t nname;
	struct attach attach;      /* of processes that run already: their threads */
	bool no_extra;             /* samples, for good */
	bool exclude_kernel;       /* not allowed to see it */
	bool no_build_id, no_lost; /* older kernels */
	bool leaks;                /* no_build_id, for good */
	bool small_rings;          /* no more may be locked */
	bool no_chain;             /* it denies those of ticks */
	struct callchain chain;
	cpu_list tickless;
	VEC(struct cpu *) cpu;
};

/* ---- one event ---- */

/* Some processes, not the whole machine? */
static bool selects(const struct source *s)
{
	return s->o.follow || s->o.nrunning;
}

static struct perf_event_attr attr_common(const struct source *s)
{
	struct perf_event_attr a = {.size = sizeof a,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	    .sample_id_all = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC,
	    .watermark = 1,
	    .exclude_hv = 1,
	    .exclude_kernel = s->exclude_kernel};

	if (!s->no_lost)
		a.read_format = PERF_FORMAT_LOST;
	a.inherit = selects(s);
	a.disabled = a.enable_on_exec = s->o.follow > 0;
	return a;
}

static struct perf_event_attr attr_sideband(const struct source *s)
{
	struct perf_event_attr a = attr_common(s);

	a.type = PERF_TYPE_SOFTWARE;
	a.config = s->o.follow ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_DUMMY;
	a.inherit_stat = s->o.follow > 0; /* says at its end what each thread has used */
	a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
	a.build_id = !s->no_build_id;
	a.namespaces = !selects(s); /* asks for CAP_PERFMON */
	return a;
}

static struct perf_event_attr attr_sample(const struct source *s, enum sample_shape shape)
{
	struct perf_event_attr a = attr_common(s);

	a.sample_type |= PERF_SAMPLE_REGS_USER;
	a.sample_regs_user = s->o.registers ? RING_REGS_FULL : RING_REGS;
	if (s->o.registers) {
		a.sample_type |= PERF_SAMPLE_STACK_USER;
		a.sample_stack_user = RING_STACK;
	}
	if (shape == SHAPE_TICK) {
		a.type = PERF_TYPE_TRACEPOINT;
		a.config = s->tracepoint;
		a.sample_period = 1;
		if (s->no_chain)
			return a;
		a.sample_type |= PERF_SAMPLE_CALLCHAIN;
		a.exclude_callchain_user = 1;
		a.sample_max_stack = CALLCHAIN_MAX;
		return a;
	}
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_CPU_CLOCK;
	a.exclude_idle = 1;
	if (shape == SHAPE_EXTRA) {
		a.sample_period = s->extra_period;
		/* Of page faults a clock's own samples are the kernel's. */
		a.exclude_kernel |= s->kind == WIRE_SRC_CPU_CLOCK;
	} else {
		a.sample_period = s->period;
		a.sample_type |= PERF_SAMPLE_IP;
	}
	return a;
}

static struct perf_event_attr attr_exec(const struct source *s)
{
	struct perf_event_attr a = attr_common(s);

	a.type = PERF_TYPE_TRACEPOINT;
	a.config = s->exec_tracepoint;
	a.sample_period = 1;
	a.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	a.sample_regs_user = RING_REGS_EXEC;
	a.sample_stack_user = RING_STACK_EXEC;
	return a;
}

/* By the file that exec was given, whose last part a task is named after, up to so many bytes: of a
 * script its own, not its interpreter's. Others are as good as none. */
static int filter_execs(const struct source *s, int fd, struct err *e)
{
	char text[SOURCE_NAMES * (NAME_SIZE + 24)] = "";
	size_t i, n = 0;

	for (i = 0; i < s->nname; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%sfilename ~ \"*%s%s\"",
		    i ? " || " : "", s->name[i], s->name[i][NAME_SIZE - 2] ? "*" : "");
	return ioctl(fd, PERF_EVENT_IOC_SET_FILTER, text) ? err_sys(e, "filter of execs") : 0;
}

/* tid: a thread that runs already, 0 = as the options say. */
static int event_open(
    const struct source *s, const struct perf_event_attr *a, unsigned cpu, pid_t tid)
{
	pid_t whose = tid ? tid : s->o.follow ? s->o.follow : -1;

	return (int)syscall(SYS_perf_event_open, a, whose, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void tap_close(struct tap *t)
{
	size_t i;

	for (i = 0; i < t->shared.n; i++)
		close(t->shared.v[i].fd);
	vec_free(&t->shared);
	ring_close(&t->ring);
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}

static unsigned pages_of(const struct source *s, enum sample_shape shape)
{
	if (shape == SHAPE_NONE)
		return SIDEBAND_PAGES;
	if (shape == SHAPE_EXEC)
		return EXEC_PAGES;
	if (s->o.registers && !s->small_rings)
		return FULL_PAGES;
	return shape == SHAPE_EXTRA ? EXTRA_PAGES : SAMPLE_PAGES;
}

static struct perf_event_attr attr_of(const struct source *s, enum sample_shape shape)
{
	struct perf_event_attr a = shape == SHAPE_NONE   ? attr_sideband(s)
				   : shape == SHAPE_EXEC ? attr_exec(s)
							 : attr_sample(s, shape);

	a.wakeup_watermark = pages_of(s, shape) * 4096 / 2;
	return a;
}

static int filter_event(const struct source *s, int fd, enum sample_shape shape, struct err *e)
{
	if (shape == SHAPE_TICK && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "common_pid != 0"))
		return err_sys(e, "filter of the tick tracepoint");
	return shape == SHAPE_EXEC ? filter_execs(s, fd, e) : 0;
}

/* On failure errno tells. */
static int tap_open(
    struct source *s, struct tap *t, enum sample_shape shape, unsigned cpu, struct err *e)
{
	struct perf_event_attr a = attr_of(s, shape);
	int saved;

	*t = (struct tap){.fd = event_open(s, &a, cpu, s->attach.first), .shape = shape};
	if (t->fd < 0)
		return err_sys(e, "perf event of CPU %u", cpu);
	if (filter_event(s, t->fd, shape, e) || ring_open(&t->ring, t->fd, pages_of(s, shape), e)) {
		saved = errno;
		tap_close(t);
		errno = saved;
		return -1;
	}
	t->ring.build_ids = shape == SHAPE_NONE && !s->no_build_id;
	t->ring.full = shape != SHAPE_NONE && shape != SHAPE_EXEC && s->o.registers;
	t->ring.chain = shape == SHAPE_TICK && !s->no_chain ? &s->chain : NULL;
	return 0;
}

/* A thread more whose events go to this ring. */
static int tap_share(const struct source *s, struct tap *t, unsigned cpu, pid_t tid, struct err *e)
{
	struct perf_event_attr a = attr_of(s, t->shape);
	int fd = event_open(s, &a, cpu, tid), saved;

	if (fd < 0)
		return err_sys(e, "perf event of thread %d", (int)tid);
	if ((ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, t->fd) &&
		err_sys(e, "perf ring of thread %d", (int)tid)) ||
	    filter_event(s, fd, t->shape, e)) {
		saved = errno;
		close(fd);
		errno = saved;
		return -1;
	}
	vec_push(&t->shared, (struct shared){tid, fd});
	return 0;
}

/* ---- CPUs ---- */

static enum sample_shape shape_of(const struct source *s, unsigned cpu)
{
	return s->kind == WIRE_SRC_TICK && !cpus_has(&s->tickless, cpu) ? SHAPE_TICK : SHAPE_CLOCK;
}

/* Without it all else goes on, for good. */
static void exec_open(struct source *s, struct cpu *c)
{
	struct err e;

	if (!s->nname || !s->exec_tracepoint || tap_open(s, &c->exec, SHAPE_EXEC, c->n, &e) == 0)
		return;
	log_warn("%s; runs are classed by name alone", e.text);
	s->exec_tracepoint = 0;
}

/* All of them or none: a build's extra samples are of all of its time. */
static void extra_open(struct source *s, struct cpu *c)
{
	struct err e;
	size_t i;

	if (!s->extra_period || tap_open(s, &c->extra, SHAPE_EXTRA, c->n, &e) == 0)
		return;
	log_debug("%s; there are no extra samples", e.text);
	s->no_extra = true;
	s->extra_period = 0;
	for (i = 0; i < s->cpu.n; i++)
		tap_close(&s->cpu.v[i]->extra);
}

/* Side-band first, so that no sample is without its mapping. */
static int cpu_open(struct source *s, unsigned n, struct err *e)
{
	struct cpu *c = xcalloc(1, sizeof *c);
	int saved;

	c->n = n;
	tick_init(&c->grid, s->period);
	c->sample.fd = c->exec.fd = c->extra.fd = -1;
	if (tap_open(s, &c->sideband, SHAPE_NONE, n, e) ||
	    tap_open(s, &c->sample, shape_of(s, n), n, e)) {
		saved = errno;
		tap_close(&c->sideband);
		free(c);
		errno = saved;
		return -1;
	}
	exec_open(s, c);
	extra_open(s, c);
	vec_push(&s->cpu, c);
	return 0;
}

static void cpu_close(struct cpu *c)
{
	tap_close(&c->extra);
	tap_close(&c->exec);
	tap_close(&c->sample);
	tap_close(&c->sideband);
	free(c);
}

static void cpus_close(struct source *s)
{
	size_t i;

	for (i = 0; i < s->cpu.n; i++)
		cpu_close(s->cpu.v[i]);
	s->cpu.n = 0;
}

/* All CPUs that are online. ENODEV: it went meanwhile. */
static int cpus_open(struct source *s, struct err *e)
{
	cpu_list online = {0};
	size_t i;
	int r, saved;

	r = cpus_read("online", &online, e);
	errno = EIO;
	for (i = 0; !r && i < online.n; i++)
		if (cpu_open(s, online.v[i], e) && errno != ENODEV)
			r = -1;
	if (!r && !s->cpu.n)
		r = err_set(e, "no CPU could be watched");
	saved = errno;
	vec_free(&online);
	if (r)
		cpus_close(s);
	errno = saved;
	return r;
}

/* Leaves out what an older kernel or a normal user's rights do not allow:
 * build-ids in records (5.12), counts of lost records (6.0), kernel mode, call chains, large rings.
 */
static int cpus_open_adapted(struct source *s, struct err *e)
{
	int r;

	s->no_build_id = s->leaks;
	s->no_lost = s->no_chain = s->exclude_kernel = false;
	while ((r = cpus_open(s, e))) {
		if (errno == EPERM && s->o.registers && !s->small_rings)
			s->small_rings = true;
		else if (errno == EINVAL && !s->no_lost)
			s->no_lost = true;
		else if (errno == EINVAL && !s->no_build_id)
			s->no_build_id = true;
		else if ((errno == EACCES || errno == EPERM) && selects(s) && !s->exclude_kernel &&
			 s->kind == WIRE_SRC_CPU_CLOCK)
			s->exclude_kernel = true;
		else if (s->kind == WIRE_SRC_TICK && !s->no_chain) {
			log_debug("without call chains: %s", e->text);
			s->no_chain = true;
			s->no_build_id = s->leaks;
			s->no_lost = false;
		} else
			break;
	}
	return r;
}

/* ---- choosing ---- */

static int read_number(const char *path, uint64_t *v)
{
	FILE *f = fopen(path, "re");
	int r;

	if (!f)
		return -1;
	r = fscanf(f, "%" SCNu64, v) == 1 ? 0 : -1; /* "-1" wraps, as asked */
	fclose(f);
	if (r)
		errno = EINVAL;
	return r;
}

static const char *const tracefs[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* -1 with EACCES or ENOENT. */
static int read_tracepoint(const char *name, uint64_t *id)
{
	bool denied = false;
	char path[128];
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/events/%s/id", tracefs[i], name);
		if (!read_number(path, id))
			return 0;
		denied |= errno == EACCES || errno == EPERM;
	}
	errno = denied ? EACCES : ENOENT;
	return -1;
}

static int find_tracepoint(struct source *s, struct err *e)
{
	if (!read_tracepoint("irq_vectors/local_timer_entry", &s->tracepoint))
		return 0;
	return errno == EACCES ? err_set(e,
				     "the tick tracepoint's number cannot be read in %s: run as "
				     "root or with CAP_DAC_READ_SEARCH",
				     tracefs[0])
			       : err_set(e,
				     "there is no tick tracepoint: is tracefs mounted? "
				     "(mount -t tracefs nodev %s)",
				     tracefs[0]);
}

static int open_tick(struct source *s, struct err *e)
{
	s->kind = WIRE_SRC_TICK;
	s->period = tick_period();
	errno = ENOTSUP;
	if (!s->period)
		return err_set(e, "the length of a clock tick cannot be found out");
	if (find_tracepoint(s, e))
		return -1;
	return cpus_open_adapted(s, e);
}

static int open_cpu_clock(struct source *s, struct err *e)
{
	s->kind = WIRE_SRC_CPU_CLOCK;
	s->period = SECOND / s->o.rate;
	return cpus_open_adapted(s, e);
}

/* Puts after the cause what would allow it. */
static void explain_refusal(const struct source *s, struct err *e)
{
	struct err cause = *e;
	char self[512] = "morph-monitor";
	uint64_t paranoid = 0;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n > 0)
		self[n] = '\0';
	read_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
	if (s->o.nrunning && paranoid <= 2)
		attach_refused(&s->attach, self, e);
	else if (selects(s))
		err_set(e,
		    "%s (kernel.perf_event_paranoid is %d); to allow it for one's own "
		    "processes: sysctl kernel.perf_event_paranoid=2",
		    cause.text, (int)paranoid);
	else
		err_set(e,
		    "%s (kernel.perf_event_paranoid is %d); to watch the whole machine run as "
		    "root, or once as root: setcap cap_perfmon,cap_sys_ptrace,"
		    "cap_checkpoint_restore,cap_dac_read_search,cap_net_admin=ep %s; to watch one "
		    "command: "
		    "morph-monitor -- CMD...",
		    cause.text, (int)paranoid, self);
}

/* Descriptors; and memory of rings, which root need not have the right to later. */
static void raise_limits(void)
{
	static const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	struct rlimit l;

	setrlimit(RLIMIT_MEMLOCK, &none);

	if (!getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

static int choose(struct source *s, struct err *e)
{
	if (s->o.want != SOURCE_CPU_CLOCK && open_tick(s, e) == 0)
		return 0;
	if (s->o.want == SOURCE_TICK)
		return -1;
	if (s->o.want == SOURCE_AUTO && !selects(s))
		log_info("cpu-clock instead of tick: %s", e->text);
	return open_cpu_clock(s, e);
}

/* Events of one more thread, on all CPUs. */
static int share_thread(void *arg, pid_t tid, struct err *e)
{
	struct source *s = arg;
	size_t i;

	for (i = 0; i < s->cpu.n; i++)
		if (tap_share(s, &s->cpu.v[i]->sideband, s->cpu.v[i]->n, tid, e) ||
		    tap_share(s, &s->cpu.v[i]->sample, s->cpu.v[i]->n, tid, e))
			return -1;
	return 0;
}

static int open_first(void *arg, pid_t tid, struct err *e)
{
	return choose(arg, e);
}

static int open_all(struct source *s, struct err *e)
{
	if (!s->o.nrunning)
		return choose(s, e);
	return attach_threads(
	    &s->attach, s->o.running, s->o.nrunning, open_first, share_thread, s, e);
}

struct source *source_open(const struct source_options *o, bool *refused, struct err *e)
{
	struct source *s = xcalloc(1, sizeof *s);

	s->o = *o;
	*refused = false;
	raise_limits();
	s->leaks = buildidleak_check(e) != 0;
	if (s->leaks)
		log_debug("without build-ids in records: %s", e->text);
	if (!selects(s) && read_tracepoint("sched/sched_process_exec", &s->exec_tracepoint))
		log_debug("execs cannot be seen: runs are classed by name alone");
	if (cpus_read("nohz_full", &s->tickless, NULL))
		vec_free(&s->tickless);
	if (open_all(s, e)) {
		*refused = errno == EACCES || errno == EPERM || errno == ENOSYS;
		if (*refused && (s->tracepoint || s->kind != WIRE_SRC_TICK))
			explain_refusal(s, e);
		source_close(s);
		return NULL;
	}
	return s;
}

void source_close(struct source *s)
{
	cpus_close(s);
	vec_free(&s->cpu);
	vec_free(&s->tickless);
	attach_free(&s->attach);
	free(s);
}

enum wire_source source_kind(const struct source *s)
{
	return s->kind;
}

uint64_t source_period(const struct source *s)
{
	return s->period;
}

/* ---- reading ---- */

/* Lost records since the last call, from the event's own count; announced is
 * what LOST records said, for kernels without that count. */
static uint64_t tap_lost(const struct source *s, struct tap *t, uint64_t announced)
{
	uint64_t v[2] = {0}, all, n;
	size_t i;

	if (s->no_lost)
		return announced;
	if (read(t->fd, v, sizeof v) != sizeof v)
		return 0;
	for (all = v[1], i = 0; i < t->shared.n; i++)
		if (read(t->shared.v[i].fd, v, sizeof v) == sizeof v)
			all += v[1];
	n = all - t->lost;
	t->lost = all;
	return n;
}

/* A thread that has inherited its events has them twice when it was listed, too (attach.h). */
static void thread_came(struct source *s, pid_t tid)
{
	size_t i, k;
	struct tap *t;

	if (!htab_get(&s->attach.known, &tid, sizeof tid))
		return;
	for (i = 0; i < 2 * s->cpu.n; i++) {
		t = i % 2 ? &s->cpu.v[i / 2]->sample : &s->cpu.v[i / 2]->sideband;
		for (k = 0; k < t->shared.n; k++)
			if (t->shared.v[k].tid == tid)
				ioctl(t->shared.v[k].fd, PERF_EVENT_IOC_DISABLE, 0); /* and heirs */
	}
}

/* Returns how many records were lost. */
static uint64_t tap_drain(
    struct source *s, struct cpu *c, struct tap *t, struct order *o, struct source_losses *l)
{
	uint64_t announced = 0, lost;
	enum record_kind k;
	struct event ev;

	while ((k = ring_next(&t->ring, t->shape, &ev, &lost)) != REC_END)
		switch (k) {
		case REC_EVENT:
			if (t->shape != SHAPE_TICK || tick_accept(&c->grid, ev.time))
				order_add(o, &ev);
			break;
		case REC_THREAD:
			thread_came(s, (pid_t)ev.tid);
			break;
		case REC_LOST:
			announced += lost;
			break;
		case REC_BROKEN:
			log_warn("CPU %u: a ring of the kernel held no record; emptied", c->n);
			announced++;
			break;
		case REC_THROTTLE:
			l->throttled++;
			break;
		default:
			break;
		}
	ring_release(&t->ring);
	return tap_lost(s, t, announced);
}

void source_drain(struct source *s, struct order *o, struct source_losses *l)
{
	uint64_t before = s->drained;
	size_t i;

	s->drained = clock_now();
	for (i = 0; i < s->cpu.n; i++) {
		if (tap_drain(s, s->cpu.v[i], &s->cpu.v[i]->sideband, o, l))
			l->sideband = true;
		l->samples += tap_drain(s, s->cpu.v[i], &s->cpu.v[i]->sample, o, l);
		if (s->cpu.v[i]->exec.fd >= 0 &&
		    tap_drain(s, s->cpu.v[i], &s->cpu.v[i]->exec, o, l) && !l->args_since)
			l->args_since = before;
		if (s->cpu.v[i]->extra.fd >= 0)
			tap_drain(s, s->cpu.v[i], &s->cpu.v[i]->extra, o, l);
	}
}

/* Opens a CPU's sample event again, without registers where it must be. */
static int reopen_sample(struct source *s, struct cpu *c, struct err *e)
{
	tap_close(&c->extra);
	extra_open(s, c);
	tap_close(&c->sample);
	if (tap_open(s, &c->sample, shape_of(s, c->n), c->n, e) == 0)
		return 0;
	if (!s->o.registers)
		return -1;
	if (errno == EPERM && !s->small_rings) {
		s->small_rings = true;
		return reopen_sample(s, c, e);
	}
	log_warn("%s; samples go without registers", e->text);
	s->o.registers = false;
	return tap_open(s, &c->sample, shape_of(s, c->n), c->n, e);
}

void source_registers(struct source *s, bool on, struct order *o, struct source_losses *l)
{
	struct err e;
	size_t i, n;

	if (selects(s) || s->o.registers == on)
		return;
	source_drain(s, o, l);
	s->o.registers = on;
	for (i = n = 0; i < s->cpu.n; i++) {
		if (reopen_sample(s, s->cpu.v[i], &e) == 0) {
			s->cpu.v[n++] = s->cpu.v[i];
			continue;
		}
		/* The next rescan tries it again. */
		log_warn("CPU %u: %s", s->cpu.v[i]->n, e.text);
		cpu_close(s->cpu.v[i]);
	}
	s->cpu.n = n;
}

bool source_boost(struct source *s, uint64_t period, struct order *o, struct source_losses *l)
{
	size_t i;

	if (selects(s) || s->no_extra || s->extra_period == period)
		return s->extra_period == period;
	source_drain(s, o, l);
	s->extra_period = period;
	for (i = 0; i < s->cpu.n; i++) {
		tap_close(&s->cpu.v[i]->extra);
		extra_open(s, s->cpu.v[i]);
	}
	return s->extra_period == period;
}

static bool is_plain(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789._+-")];
}

void source_execs_of(struct source *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->nname && strncmp(s->name[i], name, NAME_SIZE - 1);)
		i++;
	if (!s->exec_tracepoint || i < s->nname || s->nname == SOURCE_NAMES || !is_plain(name))
		return;
	snprintf(s->name[s->nname++], NAME_SIZE, "%s", name);
	/* A filter cannot be replaced. */
	for (i = 0; i < s->cpu.n; i++) {
		tap_close(&s->cpu.v[i]->exec);
		exec_open(s, s->cpu.v[i]);
	}
}

void source_no_execs(struct source *s)
{
	size_t i;

	s->nname = 0;
	for (i = 0; i < s->cpu.n; i++)
		tap_close(&s->cpu.v[i]->exec);
}

void source_rescan(struct source *s)
{
	cpu_list online = {0};
	struct err e;
	size_t i, n;

	if (selects(s) || cpus_read("online", &online, &e) || !online.n)
		return;
	for (i = n = 0; i < s->cpu.n; i++) {
		if (cpus_has(&online, s->cpu.v[i]->n)) {
			s->cpu.v[n++] = s->cpu.v[i];
			continue;
		}
		log_info("CPU %u went offline", s->cpu.v[i]->n);
		cpu_close(s->cpu.v[i]);
	}
	s->cpu.n = n;
	for (i = 0; i < online.n; i++) {
		for (n = 0; n < s->cpu.n && s->cpu.v[n]->n != online.v[i];)
			n++;
		if (n < s->cpu.n)
			continue;
		if (!cpu_open(s, online.v[i], &e))
			log_info("CPU %u came online", online.v[i]);
		else if (errno != ENODEV)
			log_warn("%s", e.text);
	}
	vec_free(&online);
}

size_t source_npoll(const struct source *s)
{
	return 4 * s->cpu.n;
}

static struct tap *tap_at(const struct source *s, size_t i)
{
	struct cpu *c = s->cpu.v[i / 4];
	struct tap *tap[] = {&c->sideband, &c->sample, &c->exec, &c->extra};

	return tap[i % 4];
}

void source_poll(const struct source *s, struct pollfd *p)
{
	size_t i;

	for (i = 0; i < source_npoll(s); i++)
		p[i] = (struct pollfd){
		    .fd = tap_at(s, i)->hung ? -1 : tap_at(s, i)->fd, .events = POLLIN};
}

bool source_ready(struct source *s, const struct pollfd *p)
{
	bool ready = false;
	size_t i;

	for (i = 0; i < source_npoll(s); i++) {
		ready |= p[i].revents & POLLIN;
		if (p[i].revents & (POLLHUP | POLLERR))
			tap_at(s, i)->hung = true;
	}
	return ready;
}
