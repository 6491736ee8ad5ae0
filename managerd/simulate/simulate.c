#include "managerd/simulate/simulate.h"
#include "common/publish.h"
#include "common/random.h"
#include "managerd/cycle/cycle.h"
#include "managerd/simulate/machine.h"
#include "managerd/simulate/parent.h"
#include "managerd/simulate/simtime.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PERIOD_NS = 4000000, SESSION = 1, BLOCK_BYTES = 16 };

struct simulation {
	const struct trace *trace;
	const struct conf *conf;
	struct simulated *out;
	struct subject **subject;
	struct priv *parent;
	struct contest *contest;
	struct manager *manager;
	uv_loop_t loop;
	int monitor; /* our end of its connection */
	uint64_t seq, random;
	int64_t now_ms, flushed_ms;
	double **due;  /* by program and slot: samples to come of what has passed … */
	double *ran_s; /* … but for so long with the present usage */
	size_t next;   /* event */
	char folder[64];
};

static int64_t ms(double seconds)
{
	return (int64_t)ceil(seconds * 1000);
}

/* ---- the loop ---- */

static void turn_clock(struct simulation *s, int64_t by_ms, bool awake)
{
	simtime.real_ns += by_ms * 1000000;
	simtime.mono_ns += awake ? by_ms * 1000000 : 0;
	s->now_ms += by_ms;
}

static void pass(struct simulation *s, int64_t by_ms);

/* Whether something has come that the loop has not seen. */
static bool has_news(const uv_loop_t *loop)
{
	struct pollfd p = {.fd = uv_backend_fd(loop), .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/* Until it has nothing to do but to wait for its timers. */
static void settle(struct simulation *s)
{
	int wait, quiet = 0;

	/* What is watched since this turn is seen in the next. */
	while (quiet < 2) {
		/* What the pool does takes no time of the simulation. */
		uv_run(&s->loop, s->loop.active_reqs.count ? UV_RUN_ONCE : UV_RUN_NOWAIT);
		wait = uv_backend_timeout(&s->loop);
		quiet = wait == 0 || wait == 1 || s->loop.active_reqs.count || has_news(&s->loop)
			    ? 0
			    : quiet + 1;
		/* The next turn of the manager is a millisecond away; it runs, so time does. */
		if (wait == 1 && machine.asleep)
			turn_clock(s, 1, true);
		else if (wait == 1)
			pass(s, 1);
	}
}

/* Programs and jobs go on for so long. */
static void pass(struct simulation *s, int64_t by_ms)
{
	double seconds = (double)by_ms / 1000;
	size_t i;

	if (!machine.asleep) {
		machine_pass(seconds, parent_pass(s->parent, seconds));
		for (i = 0; i < s->trace->program.n; i++) {
			s->ran_s[i] += seconds;
			if (s->subject[i]->cpu > 0)
				contest_used(s->contest, i, s->subject[i]->cpu * seconds);
		}
	}
	turn_clock(s, by_ms, !machine.asleep);
}

/* Before the usage of a program becomes another one. */
static void add_up(struct simulation *s, size_t program)
{
	const struct subject *x = s->subject[program];
	double samples = s->ran_s[program] * (1e9 / PERIOD_NS);
	uint32_t k;

	for (k = 0; x->cpu > 0 && k < x->nslot; k++)
		s->due[program][k] += x->usage[k] * samples;
	s->ran_s[program] = 0;
}

/* ---- samples ---- */

static int send_frame(struct simulation *s, const struct buf *frame, struct err *e)
{
	size_t done = 0;
	char answer[512];
	ssize_t n;

	while (done < frame->n) {
		n = send(s->monitor, frame->p + done, frame->n - done, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			return err_sys(e, "the manager's socket");
		done += n > 0 ? (size_t)n : 0;
		settle(s);
	}
	do {
		n = recv(s->monitor, answer, sizeof answer, MSG_DONTWAIT);
	} while (n > 0);
	return n == 0 ? err_set(e, "the manager does not take what it is sent") : 0;
}

/* One batch of one program; n by slot, and samples in no block. */
static int send_samples(
    struct simulation *s, size_t program, const uint64_t *n, uint64_t outside, struct err *e)
{
	const struct subject *x = s->subject[program];
	struct wire_module m = {.id = parent_file(s->parent, program)->present->id,
	    .path = x->path,
	    .uid = geteuid(),
	    .sample = xcalloc(x->nslot + 1, sizeof *m.sample)};
	struct wire_batch b = {.session = SESSION,
	    .seq = ++s->seq,
	    .start_ns = (uint64_t)(simtime.real_ns - s->trace->every_ms * 1000000),
	    .end_ns = (uint64_t)simtime.real_ns,
	    .module = &m,
	    .nmodule = 1};
	struct buf frame = {0};
	uint32_t slot;
	int rc = 0;

	for (slot = 0; slot < x->nslot; slot++) {
		if (!n[slot])
			continue;
		m.sample[m.nsample++] = (struct wire_sample){(uint64_t)slot * BLOCK_BYTES, n[slot]};
		b.taken += n[slot];
	}
	if (outside) {
		m.sample[m.nsample++] =
		    (struct wire_sample){(uint64_t)x->nslot * BLOCK_BYTES, outside};
		b.taken += outside;
	}
	if (m.nsample) {
		wire_put_batch(&frame, &b);
		s->out->samples += b.taken;
		contest_samples(s->contest, program, n, s->now_ms);
		rc = send_frame(s, &frame, e);
	}
	free(m.sample);
	buf_free(&frame);
	return rc;
}

static int flush(struct simulation *s, struct err *e)
{
	uint64_t *n;
	size_t i;
	uint32_t k;
	int rc = 0;

	s->flushed_ms = s->now_ms;
	for (i = 0; rc == 0 && i < s->trace->program.n; i++) {
		add_up(s, i);
		n = xcalloc(s->subject[i]->nslot, sizeof *n);
		for (k = 0; k < s->subject[i]->nslot; k++) {
			n[k] = random_poisson(&s->random, s->due[i][k]);
			s->due[i][k] = 0;
		}
		rc = send_samples(s, i, n, 0, e);
		free(n);
	}
	return rc;
}

static int recorded(struct simulation *s, const struct trace_event *ev, struct err *e)
{
	const struct subject *x = s->subject[ev->program];
	uint64_t *n = xcalloc(x->nslot, sizeof *n), samples = 0;
	size_t i;
	int rc;

	for (i = 0; i < ev->ncount; i++) {
		n[x->func.v[ev->count[i].func].first + ev->count[i].block] += ev->count[i].n;
		samples += ev->count[i].n;
	}
	contest_used(s->contest, ev->program, (double)samples * PERIOD_NS / 1e9);
	rc = send_samples(s, ev->program, n, ev->outside, e);
	free(n);
	return rc;
}

/* ---- events ---- */

static int happen(struct simulation *s, const struct trace_event *ev, struct err *e)
{
	switch (ev->kind) {
	case TRACE_RUN:
		add_up(s, ev->program);
		subject_run(s->subject[ev->program], ev->workload, ev->cpu);
		contest_changed(s->contest, ev->program, s->now_ms, false);
		break;
	case TRACE_MACHINE:
		if (ev->machine.asleep && flush(s, e))
			return -1;
		machine.busy = ev->machine.busy;
		machine.psi = ev->machine.psi;
		machine.battery = ev->machine.battery;
		machine.asleep = ev->machine.asleep;
		break;
	case TRACE_REBUILD:
		if (flush(s, e))
			return -1;
		subject_rebuild(s->subject[ev->program], ev->changed);
		parent_rebuilt(s->parent, ev->program);
		contest_changed(s->contest, ev->program, s->now_ms, true);
		break;
	case TRACE_HAND:
		return contest_decide(
		    s->contest, s->now_ms, false, machine.battery, ev->program, e);
	case TRACE_SAMPLES:
		return recorded(s, ev, e);
	case TRACE_JOB:
	case TRACE_END:
		break;
	}
	return 0;
}

static int64_t next_ms(const struct simulation *s)
{
	const struct trace_event *ev = &s->trace->event.v[s->next];
	int64_t next = s->trace->start_ms + ev->at_ms;
	double job = parent_next(s->parent);

	if (machine.asleep)
		return next;
	if (s->now_ms + s->trace->step_ms < next)
		next = s->now_ms + s->trace->step_ms;
	if (s->flushed_ms + s->trace->every_ms < next)
		next = s->flushed_ms + s->trace->every_ms;
	if (!isinf(job) && s->now_ms + ms(job) < next)
		next = s->now_ms + ms(job);
	return next > s->now_ms ? next : s->now_ms;
}

/* What the manager has thought, once per change of mind. */
static int note_decisions(struct simulation *s, struct err *e)
{
	struct simulated_decision d;
	struct store_decision *v;
	struct arena a = {0};
	size_t n, i, k;
	int rc = store_decisions(manager_store(s->manager), 0, -1, 1000, &a, &v, &n, e);

	for (i = n; rc == 0 && i-- > 0;) {
		for (k = 0; k < s->trace->program.n; k++)
			if (v[i].path && !strcmp(v[i].path, s->subject[k]->path))
				break;
		if (k == s->trace->program.n)
			continue;
		d = (struct simulated_decision){
		    .at_ms = v[i].first_ms, .program = s->trace->program.v[k].name};
		snprintf(d.rung, sizeof d.rung, "%s",
		    v[i].verdict == VERDICT_EDIT ? "climbed" : rung_name((enum rung)v[i].rung));
		snprintf(d.text, sizeof d.text, "%s", v[i].text);
		vec_push(&s->out->decision, d);
	}
	arena_free(&a);
	return rc;
}

static int live(struct simulation *s, struct err *e)
{
	const struct trace_event *ev = s->trace->event.v;
	const struct idle_policy idle = {.after_s = s->conf->idle.after_s,
	    .cpu = s->conf->idle.cpu,
	    .psi = s->conf->idle.psi,
	    .battery_ok = s->conf->idle.battery};
	int64_t next;

	while (s->next < s->trace->event.n) {
		next = next_ms(s);
		pass(s, next - s->now_ms);
		for (; s->next < s->trace->event.n &&
		       s->trace->start_ms + ev[s->next].at_ms <= s->now_ms;
		     s->next++)
			if (happen(s, &ev[s->next], e))
				return -1;
		if (machine.asleep)
			continue;
		if (s->now_ms - s->flushed_ms >= s->trace->every_ms && flush(s, e))
			return -1;
		machine_look(&idle);
		if (contest_decide(s->contest, s->now_ms, machine.idle.state == IDLE_YES,
			machine.battery, SIZE_MAX, e))
			return -1;
		settle(s);
	}
	return note_decisions(s, e);
}

/* ---- begin and end ---- */

static void worked(size_t file, double cpu_s, void *arg)
{
	struct simulation *s = arg;

	contest_worked(s->contest, CONTEST_MORPH, cpu_s);
}

static void swapped(size_t file, struct layout *l, void *arg)
{
	struct simulation *s = arg;

	contest_swapped(s->contest, CONTEST_MORPH, file, l, s->now_ms);
}

/* Where nothing has to outlast a crash. */
static int make_folder(struct simulation *s, struct err *e)
{
	snprintf(s->folder, sizeof s->folder, "%s/morph-simulate-XXXXXX",
	    access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	return mkdtemp(s->folder) ? 0 : err_sys(e, "%s", s->folder);
}

static int listening(const struct simulation *s, struct sockaddr_un *a, struct err *e)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(a->sun_path, sizeof a->sun_path, "%s/monitor.sock", s->folder);
	if (fd >= 0 && !bind(fd, (struct sockaddr *)a, sizeof *a) && !listen(fd, 1))
		return fd;
	fd_close(&fd);
	return err_sys(e, "%s", a->sun_path);
}

static int start_manager(struct simulation *s, struct conf *conf, struct err *e)
{
	struct manager_options o = {.conf = conf,
	    .priv = s->parent,
	    .state_dir = s->folder,
	    .home = s->folder,
	    .monitor_uid = -1};
	struct wire_hello hello = {.session = SESSION,
	    .period_ns = PERIOD_NS,
	    .source = WIRE_SRC_RECORDED,
	    .pid = (uint32_t)getpid()};
	struct sockaddr_un a;
	struct buf frame = {0};
	int rc;

	o.monitors = listening(s, &a, e);
	if (o.monitors < 0)
		return -1;
	s->manager = manager_start(&s->loop, &o, e);
	if (!s->manager)
		return -1;
	s->monitor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(s->monitor, (struct sockaddr *)&a, sizeof a))
		return err_sys(e, "%s", a.sun_path);
	wire_put_hello(&frame, &hello);
	rc = send_frame(s, &frame, e);
	buf_free(&frame);
	return rc;
}

static void begin(struct simulation *s, const char *editor)
{
	const struct trace *t = s->trace;
	struct parent_ops ops = {worked, swapped, s};
	size_t i;

	simtime = (struct simtime){true, t->start_ms * 1000000, 1000000000000};
	machine = (struct machine){.processors = t->processors};
	s->now_ms = s->flushed_ms = t->start_ms;
	s->random = t->seed;
	s->parent = parent_new(&ops);
	for (i = 0; i < t->program.n; i++) {
		s->subject[i] = subject_new(t, &t->program.v[i], s->folder, editor);
		s->due[i] = xcalloc(s->subject[i]->nslot, sizeof *s->due[i]);
		parent_add(s->parent, s->subject[i]);
	}
	s->contest = s->out->contest = contest_new(t, s->subject);
	for (i = 0; i < t->program.n; i++)
		contest_changed(s->contest, i, s->now_ms, false);
}

static void end(struct simulation *s)
{
	size_t i;

	if (s->manager) {
		manager_stop(s->manager);
		while (uv_run(&s->loop, UV_RUN_NOWAIT))
			turn_clock(s, 1, true);
		manager_free(s->manager);
	}
	uv_loop_close(&s->loop);
	fd_close(&s->monitor);
	contest_end(s->contest);
	priv_close(s->parent);
	for (i = 0; i < s->trace->program.n; i++) {
		subject_free(s->subject[i]);
		free(s->due[i]);
	}
	free(s->subject);
	free(s->due);
	free(s->ran_s);
	simtime.on = false;
}

int simulate(
    struct trace *t, struct conf *conf, const char *editor, struct simulated *out, struct err *e)
{
	struct simulation s = {.trace = t, .conf = conf, .out = out, .monitor = -1};
	int rc;

	*out = (struct simulated){.days = (double)t->event.v[t->event.n - 1].at_ms / 86400000};
	if (make_folder(&s, e))
		return -1;
	/* There are no registers, no processes that end, and no servers in a trace. */
	conf->profile.registers = conf->measure.switchback = false;
	s.subject = xcalloc(t->program.n, sizeof *s.subject);
	s.due = xcalloc(t->program.n, sizeof *s.due);
	s.ran_s = xcalloc(t->program.n, sizeof *s.ran_s);
	begin(&s, editor);
	uv_loop_init(&s.loop);
	uv_loop_configure(&s.loop, UV_METRICS_IDLE_TIME);
	rc = start_manager(&s, conf, e);
	if (rc == 0)
		rc = live(&s, e);
	end(&s);
	dir_remove(s.folder, NULL);
	return rc;
}

void simulated_free(struct simulated *s)
{
	if (s->contest)
		contest_free(s->contest);
	vec_free(&s->decision);
}
