/*
 * morph-monitor: kernel -> source -> order -> maps -> batch -> uplink.
 */
#include "common/ascii.h"
#include "common/log.h"
#include "common/publish.h"
#include "monitor-client/batch.h"
#include "monitor-client/boost.h"
#include "monitor-client/kernel/clock.h"
#include "monitor-client/kernel/cost.h"
#include "monitor-client/kernel/cycles.h"
#include "monitor-client/kernel/exits.h"
#include "monitor-client/kernel/procfs.h"
#include "monitor-client/follow.h"
#include "monitor-client/maps/lookup.h"
#include "monitor-client/maps/maps.h"
#include "monitor-client/options.h"
#include "monitor-client/replay.h"
#include "monitor-client/runs.h"
#include "monitor-client/summary.h"
#include "monitor-client/uses.h"
#include "monitor-client/kernel/rights.h"
#include "monitor-client/uplink/session.h"
#include "monitor-client/kernel/source.h"
#include "monitor-client/uplink/uplink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* A round a second, or before each flush: held-back events are few and /proc
 * is found in time. */
#define DRAIN_EVERY SECOND
/* Files that are looked up for no sample, of processes that ended in a round or live at a flush. */
enum { ENDED_FILES = 128, LIVING_FILES = 64 };
#define LAST_PATIENCE (3 * SECOND)
/* ns of an extra sample: our own, beside what it costs the program; and where that is not known. */
enum { HANDLING = 2000, COST_UNKNOWN = 20000 };

struct monitor {
	struct options o;
	struct rights_user user;
	struct follow follow;
	struct lookup lookup;
	struct source *source;
	struct order order;
	struct maps *maps;
	struct batch batch;
	struct boost boost;
	struct summary summary; /* of some processes */
	struct exits *exits;    /* NULL: none, for no_exits */
	struct err no_exits;
	bool watched;      /* the manager watches builds */
	uint64_t watching; /* since when ends of processes are reported; 0: not */
	unsigned files;    /* left of ENDED_FILES or LIVING_FILES */
	bool unserved;     /* it was said that they cannot be */
	struct runs runs;
	struct uses uses;
	struct cycles cycles;
	struct wire_hello hello;
	struct spool spool;
	struct uplink up;
	int record;  /* file instead of the uplink, or -1 */
	int signals; /* signalfd */
	uint64_t seq, drain_every, next_drain, next_flush;
	uint64_t taken, throttled; /* in all */
	struct build_id boot;      /* of the kernel */
	bool stop;
	int status; /* to exit with */
};

/* Some processes, not the whole machine? */
static bool selects(const struct monitor *m)
{
	return m->o.command || m->o.pid.n;
}

/* A sample with registers: they go on when the manager wants those of its build. */
static void take_regs(
    struct monitor *m, const struct event *ev, const struct place *at, int64_t module)
{
	struct wire_regs r;

	if (module < 0 || m->record >= 0 || !uplink_wants(&m->up, at->id))
		return;
	regs_of_sample(&r, m->maps, ev, at);
	r.module = (uint32_t)module;
	regs_add(&m->batch.regs, &r);
	explicit_bzero(&r, sizeof r);
}

static bool is_wanted(const struct build_id *id, void *arg)
{
	struct monitor *m = arg;

	return uplink_wants(&m->up, id);
}

/* A sample with registers that fell in no wanted build, but may have been called from one. */
static void take_callers(struct monitor *m, const struct event *ev, uint32_t callee, uint64_t at)
{
	struct callers_sites from;

	if (!ev->sample.regs || m->record >= 0 || !uplink_wants(&m->up, NULL))
		return;
	callers_sites(&from, m->maps, ev, is_wanted, m);
	batch_caller(&m->batch, callee, at, &from);
}

static bool is_watched(const struct build_id *id, void *arg)
{
	struct monitor *m = arg;

	return uplink_watches(&m->up, id);
}

/* What the side-band of a command says beside, in place of exit records. */
static void note_command(struct monitor *m, const struct event *ev)
{
	uint64_t now = clock_now();

	switch (ev->kind) {
	case EV_FORK:
		runs_begun(&m->runs, ev->pid, ev->parent, ev->time, now);
		break;
	case EV_EXEC:
		runs_named(&m->runs, ev->pid, ev->comm, ev->time, now);
		break;
	case EV_USED:
		runs_used(&m->runs, ev->pid, ev->cpu_ns, now);
		break;
	case EV_EXIT:
		runs_left(&m->runs, ev->pid, getuid(), ev->time, now);
		break;
	default:
		break;
	}
}

/* What joins the side-band with exit records. */
static void note_run(struct monitor *m, const struct event *ev)
{
	struct build_id build[RUNS_BUILDS];
	size_t n;

	if (!m->watching || ev->time < m->watching)
		return;
	if (ev->kind == EV_EXEC)
		runs_exec(&m->runs, ev->pid);
	if (m->o.command)
		note_command(m, ev);
	if (ev->kind != EV_EXIT)
		return;
	if (uplink_watches(&m->up, NULL))
		maps_identify(m->maps, ev->pid, &m->files);
	n = maps_builds(m->maps, ev->pid, is_watched, m, build, RUNS_BUILDS);
	runs_ended(&m->runs, ev->pid, ev->time, maps_args(m->maps, ev->pid), build, n, clock_now());
}

static void on_extra(struct monitor *m, const struct event *ev)
{
	struct place at;
	int64_t module;

	if (!m->boost.period || ev->sample.mode != MODE_USER)
		return;
	m->batch.extra++;
	if (!maps_find(m->maps, ev, &at) || !boost_has(&m->boost, at.id))
		return;
	module = batch_extra(&m->batch, &at);
	if (ev->sample.regs)
		take_regs(m, ev, &at, module);
}

/* A sample in kernel mode has an address there, or that of the program, or none. */
static void on_kernel(struct monitor *m, const struct event *ev)
{
	struct elsewhere at = {
	    .kind = WIRE_KERNEL, .id = &m->boot, .name = "[kernel]", .address = ev->sample.ip};
	int64_t place = -1;

	batch_kernel(&m->batch);
	if (ev->sample.ip >> 63)
		place = elsewheres_add(&m->batch.elsewhere, &at);
	if (place < 0)
		take_callers(m, ev, CALLEE_KERNEL, 0);
	else
		take_callers(m, ev, CALLEE_ELSEWHERE + (uint32_t)place, at.address);
}

static void on_outside(struct monitor *m, const struct event *ev)
{
	struct elsewhere at;
	int64_t place = -1;

	batch_outside(&m->batch);
	if (ev->sample.mode == MODE_USER && maps_elsewhere(m->maps, ev, &at))
		place = elsewheres_add(&m->batch.elsewhere, &at);
	if (place >= 0)
		take_callers(m, ev, CALLEE_ELSEWHERE + (uint32_t)place, at.address);
}

static void on_place(struct monitor *m, const struct event *ev, const struct place *at)
{
	int64_t module = batch_place(&m->batch, at);

	if (module < 0)
		return;
	if (selects(m))
		summary_place(&m->summary, at);
	if (ev->sample.regs && uplink_wants(&m->up, at->id))
		take_regs(m, ev, at, module);
	else
		take_callers(m, ev, (uint32_t)module, at->offset);
}

static void on_event(const struct event *ev, void *arg)
{
	struct monitor *m = arg;
	struct place at;

	m->batch.plain +=
	    ev->kind == EV_SAMPLE && !ev->sample.extra && ev->sample.mode == MODE_USER;
	if (ev->kind != EV_SAMPLE) {
		if (ev->kind != EV_USED)
			maps_event(m->maps, ev);
		note_run(m, ev);
	} else if (ev->sample.extra) {
		on_extra(m, ev);
	} else if (ev->sample.mode == MODE_KERNEL) {
		on_kernel(m, ev);
	} else if (ev->sample.mode == MODE_USER && maps_find(m->maps, ev, &at)) {
		on_place(m, ev, &at);
	} else {
		on_outside(m, ev);
	}
}

static void note_losses(struct monitor *m, const struct source_losses *l)
{
	if (l->samples)
		batch_dropped(&m->batch, l->samples);
	if (l->sideband) {
		log_debug("side-band records were lost; processes are read again from /proc");
		maps_suspect(m->maps);
		m->batch.runs_unsent += m->watching > 0;
	}
	if (l->args_since) {
		log_debug("command lines of programs that began were lost");
		maps_args_lost(m->maps, l->args_since, clock_now());
	}
	if (l->throttled && !m->throttled)
		log_warn("the kernel throttles sampling; shares of the time may be distorted");
	m->throttled += l->throttled;
}

static void on_exit_record(const struct exit_record *r, void *arg)
{
	struct monitor *m = arg;

	runs_record(&m->runs, r, clock_now());
}

static void on_run(const struct build_id *id, uint32_t pid, const struct wire_run *r,
    const char *unclassed, void *arg)
{
	struct monitor *m = arg;

	if (unclassed)
		source_execs_of(m->source, unclassed);
	uses_ended(&m->uses, pid, r->cpu_ns, id);
	batch_run(&m->batch, id, r);
}

/* Moves exit records to the side-band's ends, which come a round later. */
static void drain_exits(struct monitor *m)
{
	if (m->watching && m->exits)
		m->batch.runs_unsent += exits_drain(m->exits, on_exit_record, m);
}

static void end_runs(struct monitor *m, bool all)
{
	uint64_t now = clock_now(), epoch = clock_ns(CLOCK_REALTIME) - now, lost;

	if (!m->watching)
		return;
	lost = runs_round(&m->runs, now, epoch, all, on_run, m);
	m->batch.runs_unsent += lost;
	if (m->o.command && lost && !m->runs.used && !m->unserved) {
		log_info(
		    "what watched programs used cannot be reported: this kernel's perf does not "
		    "say (Linux 5.13 to 6.18 need a fix)");
		m->unserved = true;
	}
}

/* One round; all: nothing is held back for order. */
static void drain(struct monitor *m, bool all)
{
	struct source_losses l = {0};

	source_drain(m->source, &m->order, &l);
	note_losses(m, &l);
	drain_exits(m);
	m->files = ENDED_FILES;
	order_round(&m->order, all, on_event, m);
	end_runs(m, all);
	m->next_drain = clock_now() + m->drain_every;
}

static bool is_counted(const struct monitor *m, const struct build_id *build, size_t n)
{
	size_t i;

	for (i = 0; i < n && !uplink_counts(&m->up, &build[i]);)
		i++;
	return i < n;
}

static void on_living(uint32_t pid, void *arg)
{
	struct build_id build[RUNS_BUILDS];
	struct cycles_gain gain;
	struct monitor *m = arg;
	bool counted;
	uint64_t ns;
	size_t n;

	maps_identify(m->maps, pid, &m->files);
	n = maps_builds(m->maps, pid, is_watched, m, build, RUNS_BUILDS);
	if (!n || !clock_of_process(pid, &ns))
		return;
	counted = is_counted(m, build, n) && cycles_process(&m->cycles, pid, &gain);
	uses_process(&m->uses, pid, ns, counted ? &gain : NULL, build, n);
}

/* What processes of watched builds have used so far. */
static void read_uses(struct monitor *m)
{
	if (!m->watched)
		return;
	m->files = LIVING_FILES;
	uses_begin(&m->uses, clock_now());
	cycles_begin(&m->cycles);
	maps_living(m->maps, on_living, m);
	cycles_end(&m->cycles);
	m->batch.nuse = uses_end(&m->uses, m->batch.use);
}

/* Asks the kernel for registers as long as the manager wants any. */
static void follow_wants(struct monitor *m)
{
	struct source_losses l = {0};

	if (m->record >= 0 || m->o.no_registers)
		return;
	source_registers(m->source, uplink_wants(&m->up, NULL), &m->order, &l);
	note_losses(m, &l);
}

/* Before a batch is sent off: which of its modules were boosted. */
static void mark_boosted(struct monitor *m)
{
	struct wire_module *mod;
	size_t i;

	for (i = 0; i < m->batch.module.n; i++) {
		mod = &m->batch.module.v[i];
		mod->boosted = boost_has(&m->boost, &mod->id);
		m->boost.seen += mod->boosted;
		mod->boosted &= m->batch.extra > 0;
	}
}

/* After it: takes extra samples while the manager wants more of what runs. */
static void follow_boost(struct monitor *m)
{
	const struct wire_boost *told = uplink_boost(&m->up);
	uint64_t before = m->boost.period;
	struct source_losses l = {0};

	if (m->record >= 0 || selects(m))
		return;
	if (told->builds.n && !m->boost.cost)
		m->boost.cost = (cost_measure(!m->o.no_registers) ?: COST_UNKNOWN) + HANDLING;
	boost_batch(&m->boost, told, clock_now());
	if (!source_boost(m->source, m->boost.period, &m->order, &l))
		m->boost.period = 0;
	if (m->boost.period != before)
		log_debug("an extra sample per %" PRIu64 " ns (0: none), which costs %" PRIu64
			  " ns",
		    m->boost.period, m->boost.cost);
	note_losses(m, &l);
}

/* Listens for ends of processes as long as the manager watches any build. */
static void follow_watches(struct monitor *m)
{
	bool on = m->record < 0 && uplink_watches(&m->up, NULL);

	if (!on && m->watched) {
		uses_free(&m->uses);
		cycles_free(&m->cycles);
	}
	m->watched = on;
	if (selects(m))
		return;
	if (on && !m->exits && !m->unserved) {
		log_info("ends of watched programs cannot be reported: %s", m->no_exits.text);
		m->unserved = true;
	}
	on &= m->exits != NULL;
	if (on == (m->watching > 0))
		return;
	exits_switch(m->exits, on);
	if (!on)
		source_no_execs(m->source);
	m->watching = on ? clock_now() : 0;
	runs_free(&m->runs);
}

static void record(struct monitor *m, const struct buf *frame)
{
	if (file_write_all(m->record, frame->p, frame->n)) {
		log_error("%s: %s", m->o.record, strerror(errno));
		m->status = EXIT_FAILED;
		m->stop = true;
	}
}

/* Sends off what was summed. */
static void flush(struct monitor *m)
{
	struct envelope l = {.hello = m->hello, .seq = m->seq + 1, .start_ns = m->batch.start_ns};
	uint64_t lost = m->record < 0 ? uplink_take_lost(&m->up) : 0;
	struct maps_count n;
	uint64_t dropped;

	summary_batch(&m->summary, &m->batch);
	if (lost)
		batch_dropped(&m->batch, lost);
	read_uses(m);
	mark_boosted(m);
	dropped = m->batch.dropped;
	m->batch.regs.lost += m->record < 0 ? uplink_take_regs_lost(&m->up) : 0;
	m->batch.runs_unsent += m->record < 0 ? uplink_take_runs_lost(&m->up) : 0;
	l.runs = m->batch.run.n + m->batch.runs_unsent;
	l.nregs = m->batch.regs.n;
	l.taken = batch_flush(
	    &m->batch, m->hello.session, l.seq, clock_ns(CLOCK_REALTIME), &l.batch, &l.secret);
	m->next_flush = clock_now() + m->o.flush;
	if (!l.secret.n)
		l.nregs = 0;
	if (!l.batch.n)
		return;
	m->seq++;
	m->taken += l.taken;
	n = maps_count(m->maps);
	log_debug("batch %" PRIu64 ": %" PRIu64 " samples, %" PRIu64 " of them dropped, %zu bytes; "
		  "%zu processes, %zu ranges, %zu files known",
	    l.seq, l.taken, dropped, l.batch.n, n.procs, n.ranges, n.files);
	if (m->record >= 0)
		record(m, &l.batch);
	else
		uplink_offer(&m->up, &l);
	envelope_free(&l);
}

static void on_signal(struct monitor *m, const struct signalfd_siginfo *si)
{
	if (si->ssi_signo == SIGCHLD) {
		m->stop |= follow_ended(&m->follow, &m->status);
		return;
	}
	if (!m->follow.pid)
		m->stop = true;
	else if (si->ssi_signo != SIGINT) /* a terminal sends that to both */
		kill(m->follow.pid, (int)si->ssi_signo);
}

static void read_signals(struct monitor *m)
{
	struct signalfd_siginfo si;

	while (read(m->signals, &si, sizeof si) == sizeof si)
		on_signal(m, &si);
}

static int until(uint64_t when, uint64_t now)
{
	uint64_t ms = when <= now ? 0 : (when - now + 999999) / 1000000;

	return ms > 60000 ? 60000 : (int)ms;
}

/* Waits until something is due; returns whether a ring is half full. */
static bool wait_for_work(struct monitor *m)
{
	size_t n = source_npoll(m->source);
	struct pollfd *p = xcalloc(n + 2, sizeof *p);
	uint64_t wake = m->next_drain < m->next_flush ? m->next_drain : m->next_flush;
	bool ready;

	source_poll(m->source, p);
	p[n] = (struct pollfd){.fd = m->signals, .events = POLLIN};
	p[n + 1] = (struct pollfd){.fd = -1};
	if (m->record < 0) {
		p[n + 1] = uplink_poll(&m->up);
		if (uplink_wake(&m->up) < wake)
			wake = uplink_wake(&m->up);
	}
	poll(p, n + 2, until(wake, clock_now()));
	ready = source_ready(m->source, p);
	free(p);
	return ready;
}

static void run(struct monitor *m)
{
	bool ready;

	m->drain_every = m->o.flush < DRAIN_EVERY ? m->o.flush : DRAIN_EVERY;
	/* Soon, of threads that came while they were listed. */
	m->next_drain = clock_now() + (m->o.pid.n ? 0 : m->drain_every);
	m->next_flush = clock_now() + m->o.flush;
	while (!m->stop) {
		ready = wait_for_work(m);
		read_signals(m);
		if (ready || clock_now() >= m->next_drain) {
			drain(m, false);
			follow_wants(m);
		}
		if (clock_now() >= m->next_flush) {
			flush(m);
			maps_sweep(m->maps, clock_now());
			source_rescan(m->source);
			follow_boost(m);
		}
		if (m->record < 0)
			uplink_step(&m->up, clock_now());
		follow_watches(m);
		m->stop |= follow_gone(&m->follow);
	}
	drain(m, true);
	flush(m);
	if (m->record < 0)
		uplink_finish(&m->up, LAST_PATIENCE);
}

/* ---- setting up ---- */

static void block_signals(struct monitor *m)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	m->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (m->signals < 0)
		die(EXIT_FAILED, "signalfd: %s", strerror(errno));
}

/* The command first: it inherits nothing of what follows. */
static void fork_children(struct monitor *m)
{
	struct err e;

	m->user = rights_user(!selects(m), m->o.socket);
	if ((m->o.command && follow_fork(&m->follow, m->o.command, &e)) ||
	    follow_running(&m->follow, m->o.pid.v, m->o.pid.n, &e) ||
	    lookup_start(&m->lookup, "/proc", &m->user, &e)) {
		follow_cancel(&m->follow);
		die(EXIT_FAILED, "%s", e.text);
	}
}

static void open_source(struct monitor *m)
{
	struct err e;
	bool refused;

	m->o.source.follow = m->follow.pid;
	m->o.source.running = m->o.pid.v;
	m->o.source.nrunning = m->o.pid.n;
	m->o.source.registers = selects(m) && !m->o.no_registers && !m->o.record;
	m->source = source_open(&m->o.source, &refused, &e);
	if (!m->source) {
		follow_cancel(&m->follow);
		die(refused ? EXIT_REFUSED : EXIT_FAILED, "%s", e.text);
	}
	m->boot = procfs_boot("/proc");
	m->hello = session_hello(source_kind(m->source), source_period(m->source));
	log_debug("source %s, a sample represents %" PRIu64 " ns",
	    source_kind(m->source) == WIRE_SRC_TICK ? "tick" : "cpu-clock",
	    source_period(m->source));
}

/* Asks for rights that are dropped next. */
static void open_exits(struct monitor *m)
{
	m->unserved = m->o.record;                  /* as meant */
	m->watching = m->o.command && !m->o.record; /* perf tells, from the begin on */
	if (!m->unserved && !selects(m) && !(m->exits = exits_open(&m->no_exits)))
		log_debug("no ends of processes: %s", m->no_exits.text);
}

static void open_record(struct monitor *m)
{
	struct buf b = {0};

	m->record = open(m->o.record, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (m->record < 0) {
		follow_cancel(&m->follow);
		die(EXIT_FAILED, "%s: %s", m->o.record, strerror(errno));
	}
	wire_put_hello(&b, &m->hello);
	record(m, &b);
	buf_free(&b);
}

/* A spool that root makes belongs to who will write there. */
static void make_spool(struct monitor *m)
{
	struct err e;
	char *above = path_dir(m->o.spool);

	if (m->user.change && !dir_make(above, 0755, &e) && !mkdir(m->o.spool, 0700) &&
	    lchown(m->o.spool, m->user.uid, m->user.gid))
		log_warn("%s: %s", m->o.spool, strerror(errno));
	free(above);
}

static void drop_rights(struct monitor *m)
{
	struct err e;

	if (!rights_main(&m->user, &e))
		return;
	follow_cancel(&m->follow);
	die(EXIT_FAILED, "%s", e.text);
}

static void open_uplink(struct monitor *m)
{
	struct err e;
	bool spool = spool_open(&m->spool, m->o.spool, m->o.spool_max, &e) == 0;

	if (!spool)
		log_warn("no spool: %s; samples are lost while the manager is away", e.text);
	uplink_init(&m->up, m->o.socket, &m->hello, spool ? &m->spool : NULL);
	uplink_step(&m->up, clock_now());
}

static void start(struct monitor *m)
{
	struct err e;
	int status;
	size_t i;

	m->maps = maps_new("/proc", &m->lookup, m->o.command ? getuid() : MAPS_NOBODY, !selects(m));
	m->batch.start_ns = clock_ns(CLOCK_REALTIME);
	if (!selects(m))
		maps_snapshot(m->maps);
	for (i = 0; i < m->o.pid.n; i++)
		maps_read(m->maps, (uint32_t)m->o.pid.v[i]);
	if (!m->o.command)
		return;
	status = follow_start(&m->follow, m->o.command[0], &e);
	if (status)
		die(status, "%s", e.text);
}

/* Where the samples are now. */
static void summarise(struct monitor *m)
{
	struct summary_end end = {.period = m->hello.period_ns,
	    .parses = m->o.command || geteuid(),
	    .socket = m->o.socket,
	    .spool = m->up.spool ? m->o.spool : NULL,
	    .record = m->o.record};

	if (selects(m))
		summary_say(&m->summary, &end, m->record >= 0 || uplink_idle(&m->up));
	summary_free(&m->summary);
}

static void finish(struct monitor *m)
{
	summarise(m);
	log_debug("%" PRIu64 " samples in %" PRIu64 " batches", m->taken, m->seq);
	if (m->record < 0) {
		uplink_close(&m->up);
		spool_close(&m->spool);
	} else if (close(m->record)) {
		log_error("%s: %s", m->o.record, strerror(errno));
		m->status = EXIT_FAILED;
	}
	source_close(m->source);
	exits_close(m->exits);
	runs_free(&m->runs);
	uses_free(&m->uses);
	cycles_free(&m->cycles);
	order_free(&m->order);
	maps_free(m->maps);
	lookup_end(&m->lookup);
	batch_free(&m->batch);
	boost_free(&m->boost);
	options_free(&m->o);
	follow_close(&m->follow);
	close(m->signals);
}

static int replay(struct monitor *m)
{
	struct err e;
	int r = replay_file(m->o.replay, m->o.socket, &e);

	if (r)
		log_error("%s", e.text);
	options_free(&m->o);
	return r ? EXIT_FAILED : 0;
}

int main(int argc, char **argv)
{
	struct monitor m = {.record = -1, .cycles.events = &CYCLES_OF_CPU};

	ascii_begin();
	log_init("morph-monitor", LOG_LVL_INFO);
	options_read(&m.o, argc, argv);
	log_init("morph-monitor", m.o.verbose ? LOG_LVL_DEBUG : LOG_LVL_INFO);
	if (m.o.replay)
		return replay(&m);
	fork_children(&m);
	open_source(&m);
	block_signals(&m);
	if (m.o.record)
		open_record(&m);
	else
		make_spool(&m);
	open_exits(&m);
	drop_rights(&m);
	if (!m.o.record)
		open_uplink(&m);
	start(&m);
	run(&m);
	finish(&m);
	return m.status;
}
