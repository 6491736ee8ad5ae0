#include "managerd/priv/priv.h"
#include "common/log.h"
#include "managerd/priv/verbs.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pending { /* a task whose end is to come */
	uint64_t task;
	uint32_t event; /* enum frame_event */
	bool fetch;     /* of ends: an artifact's */
	union {
		priv_inspected_fn *inspected;
		priv_fetched_fn *fetched;
		priv_ended_fn *ended;
		priv_swapped_fn *swapped;
	};
	void *arg;
};

struct priv {
	int verbs, events;
	VEC(struct pending) pending;
	struct frame frame;
	struct arena mem; /* strings of the last answer */
};

struct priv *priv_connect(int verbs, int events)
{
	struct priv *p = xcalloc(1, sizeof *p);

	p->verbs = verbs;
	p->events = events;
	return p;
}

void priv_close(struct priv *p)
{
	close(p->verbs);
	close(p->events);
	vec_free(&p->pending);
	arena_free(&p->mem);
	free(p);
}

int priv_events(const struct priv *p)
{
	return p->events;
}

/* ---- asking ---- */

/* Half a manager is none: what it could not do must not look like a failure
 * of the module. */
static _Noreturn void orphaned(void)
{
	die(EXIT_FAILURE, "the privileged parent is gone");
}

static int receive(struct priv *p, int sock, struct frame_in *in, uint32_t *what, struct err *e)
{
	int r = frame_receive(sock, &p->frame, e);

	if (r == 0)
		orphaned();
	if (r < 0)
		return -1;
	*in = (struct frame_in){.p = p->frame.bytes, .end = p->frame.bytes + p->frame.n};
	*what = frame_get_u32(in);
	return 0;
}

static int send_request(struct priv *p, enum frame_verb verb, const struct message *m,
    const int *fd, unsigned nfd, struct err *e)
{
	struct buf b = {0};
	int r;

	frame_u32(&b, verb);
	message_put(&b, verb_row(verb)->request, m);
	r = frame_send(p->verbs, &b, fd, nfd, e);
	buf_free(&b);
	if (r < 0 && (errno == EPIPE || errno == ECONNRESET))
		orphaned();
	return r;
}

/* The answer takes the place of what is asked, m, where the status is 0. Returns the status, or
 * -1 with why. */
static int ask_with(struct priv *p, enum frame_verb verb, struct message *m, const int *fd,
    unsigned nfd, struct err *e)
{
	struct frame_in in;
	uint32_t answered;
	const char *why;
	int32_t status;
	bool whole;

	arena_free(&p->mem);
	if (send_request(p, verb, m, fd, nfd, e) < 0 || receive(p, p->verbs, &in, &answered, e) < 0)
		return -1;
	status = (int32_t)frame_get_u32(&in);
	why = frame_get_str(&in);
	whole =
	    answered == verb && !in.bad && (status || message_get(&in, verb_row(verb)->answer, m));
	frame_close_fds(&p->frame);
	p->mem = in.mem;
	if (!whole)
		return err_set(e, "the privileged parent gave another answer than was asked for");
	return status < 0 ? err_set(e, "%s", why) : status;
}

static int ask(struct priv *p, enum frame_verb verb, struct message *m, struct err *e)
{
	return ask_with(p, verb, m, NULL, 0, e);
}

static int ask_path(
    struct priv *p, enum frame_verb verb, const char *path, struct message *m, struct err *e)
{
	*m = (struct message){.path = path};
	return ask(p, verb, m, e);
}

/* For verbs that begin a task: notes what is to be called at its end. */
static uint64_t begun(struct priv *p, const struct message *m, struct pending then)
{
	then.task = m->task;
	if (m->task)
		vec_push(&p->pending, then);
	return m->task;
}

/* ---- ends of tasks ---- */

static const char cut_off[] = "the privileged parent's answer is cut off";

/* Of the parent's memory for an answer; what lies in it is checked by whom decodes it. */
static struct blob part_of(const struct blob *b, struct part at)
{
	return blob_part(b, at.at, at.n);
}

static void report_inspected(const struct pending *n, const struct message *m, const struct blob *b)
{
	struct blob table = part_of(b, m->part[MESSAGE_TABLE]),
		    map = part_of(b, m->part[MESSAGE_MAP]);
	struct priv_inspected r = {.status = m->number,
	    .why = m->why,
	    .id = m->id,
	    .origin = m->origin,
	    .uid = m->uid,
	    .bytes = m->amount,
	    .stamp = m->stamp,
	    .artifact = m->artifact,
	    .refused = m->refused,
	    .observed = m->flag,
	    .list = m->list,
	    .table = table.p,
	    .map = map.p,
	    .ntable = table.n,
	    .nmap = map.n};

	n->inspected(&r, n->arg);
}

static void report_ended(const struct pending *n, const struct message *m, struct blob *b)
{
	struct blob table = part_of(b, m->part[MESSAGE_TABLE]),
		    map = part_of(b, m->part[MESSAGE_MAP]);
	struct priv_ended r = {.later = m->flag,
	    .why = m->why,
	    .status = (int)m->number,
	    .cpu_s = (double)m->amount / 1e6,
	    .id = m->id,
	    .origin = m->origin,
	    .blob = b};

	blob_narrow(b, table.n ? &table : &map);
	n->ended(&r, n->arg);
}

static bool take_pending(struct priv *p, uint64_t task, struct pending *n)
{
	size_t i;

	for (i = 0; i < p->pending.n; i++)
		if (p->pending.v[i].task == task) {
			*n = p->pending.v[i];
			p->pending.v[i] = p->pending.v[--p->pending.n];
			return true;
		}
	return false;
}

static void report(struct priv *p, uint32_t event, struct frame_in *in)
{
	struct blob b = p->frame.nfd == 1 ? blob_of_fd(p->frame.fd[0]) : (struct blob){0};
	uint64_t task = frame_get_u64(in);
	struct pending n;
	struct message m;

	frame_close_fds(&p->frame);
	if (take_pending(p, task, &n) && n.event == event) {
		if (!message_get(in, event_form(event), &m))
			m = (struct message){
			    .number = event == FRAME_SWAPPED ? SWAP_FAILED : PRIV_LATER,
			    .why = cut_off,
			    .artifact = "",
			    .refused = ""};
		if (event == FRAME_INSPECTED)
			report_inspected(&n, &m, &b);
		else if (n.fetch)
			n.fetched(m.why, n.arg);
		else if (event == FRAME_ENDED)
			report_ended(&n, &m, &b);
		else
			n.swapped(
			    &(struct priv_swapped){
				.status = m.number, .why = m.why, .from = m.id, .to = m.origin},
			    n.arg);
	}
	blob_free(&b);
	arena_free(&in->mem);
}

void priv_dispatch(struct priv *p)
{
	struct pollfd ready = {.fd = p->events, .events = POLLIN};
	struct frame_in in;
	uint32_t event;
	struct err e;

	if (poll(&ready, 1, 0) <= 0)
		return;
	if (receive(p, p->events, &in, &event, &e) < 0)
		die(EXIT_FAILURE, "%s", e.text);
	report(p, event, &in);
}

/* ---- files ---- */

bool priv_stamp_equal(const struct priv_stamp *a, const struct priv_stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

int priv_stamp(struct priv *p, const char *path, struct priv_stamp *out)
{
	struct message m;

	if (ask_path(p, FRAME_STAMP, path, &m, NULL))
		return -1;
	*out = m.stamp;
	return 0;
}

uint64_t priv_inspect(struct priv *p, const char *path, const struct build_id hint[2], unsigned how,
    priv_inspected_fn *fn, void *arg, struct err *e)
{
	struct message m = {.path = path, .id = hint[0], .origin = hint[1], .number = how};

	if (ask(p, FRAME_INSPECT, &m, e))
		return 0;
	return begun(
	    p, &m, (struct pending){.event = FRAME_INSPECTED, .inspected = fn, .arg = arg});
}

uint64_t priv_fetch(
    struct priv *p, const char *module, priv_fetched_fn *fn, void *arg, struct err *e)
{
	struct message m;

	if (ask_path(p, FRAME_FETCH, module, &m, e))
		return 0;
	return begun(p, &m,
	    (struct pending){.event = FRAME_ENDED, .fetch = true, .fetched = fn, .arg = arg});
}

int priv_notify(
    struct priv *p, const char *module, enum priv_event event, const char *text, struct err *e)
{
	return ask(
	    p, FRAME_NOTIFY, &(struct message){.path = module, .number = event, .why = text}, e);
}

/* ---- jobs ---- */

uint64_t priv_job(
    struct priv *p, const struct priv_job *j, priv_ended_fn *fn, void *arg, struct err *e)
{
	const int fd[FRAME_FDS] = {j->out, j->err, j->samples, j->shapes};
	unsigned nfd = j->samples < 0 ? 2 : j->kind == PRIV_CARRY ? 4 : 3;
	struct message m = {.number = j->kind,
	    .path = j->module,
	    .task = j->edit,
	    .id = j->id,
	    .origin = j->origin};

	if (ask_with(p, FRAME_JOB, &m, fd, nfd, e))
		return 0;
	return begun(p, &m, (struct pending){.event = FRAME_ENDED, .ended = fn, .arg = arg});
}

double priv_job_cpu(struct priv *p, uint64_t task)
{
	struct message m = {.task = task};

	return ask(p, FRAME_CPU, &m, NULL) ? -1 : (double)m.amount / 1e6;
}

int priv_signal(struct priv *p, uint64_t task, int sig, struct err *e)
{
	return ask(p, FRAME_SIGNAL, &(struct message){.task = task, .number = (uint32_t)sig}, e);
}

void priv_drop(struct priv *p, uint64_t task)
{
	struct pending n;

	take_pending(p, task, &n);
	ask(p, FRAME_DROP, &(struct message){.task = task}, NULL);
}

/* ---- swapping ---- */

uint64_t priv_swap(struct priv *p, uint64_t edit, priv_swapped_fn *fn, void *arg, struct err *e)
{
	struct message m = {.task = edit};

	if (ask(p, FRAME_SWAP, &m, e))
		return 0;
	return begun(p, &m, (struct pending){.event = FRAME_SWAPPED, .swapped = fn, .arg = arg});
}

uint64_t priv_rollback(struct priv *p, const char *module, const struct build_id *to,
    priv_swapped_fn *fn, void *arg, struct err *e)
{
	struct message m = {.path = module, .id = *to};

	if (ask(p, FRAME_ROLLBACK, &m, e))
		return 0;
	return begun(p, &m, (struct pending){.event = FRAME_SWAPPED, .swapped = fn, .arg = arg});
}

int priv_swap_done(struct priv *p, const char *module, struct err *e)
{
	struct message m;

	return ask_path(p, FRAME_DONE, module, &m, e);
}

int priv_recovered(
    struct priv *p, void (*fn)(const struct swap_outcome *o, void *arg), void *arg, struct err *e)
{
	struct message m = {.number = 0};
	uint32_t i;
	int r;

	for (i = 0; !(r = ask(p, FRAME_RECOVERED, &m, e)); m.number = ++i)
		fn(&(struct swap_outcome){m.path, m.id, m.origin, m.flag, m.number}, arg);
	return r < 0 ? -1 : 0;
}

size_t priv_kept(struct priv *p, const char *module, struct arena *a, const struct swap_kept **out)
{
	struct message m;

	*out = NULL;
	if (ask_path(p, FRAME_KEPT, module, &m, NULL))
		return 0;
	*out = arena_copy(a, m.kept, m.nkept, sizeof *m.kept);
	return m.nkept;
}

int priv_hold(struct priv *p, const char *module, bool held, struct err *e)
{
	return ask(p, FRAME_HOLD, &(struct message){.path = module, .flag = held}, e);
}

int priv_reload(struct priv *p, const char **path, struct err *e)
{
	struct message m = {0};
	int r = ask(p, FRAME_RELOAD, &m, e);

	*path = m.path;
	return r;
}

bool priv_held(struct priv *p, const char *module)
{
	struct message m;

	return !ask_path(p, FRAME_HELD, module, &m, NULL) && m.flag;
}
