#include "managerd/priv/priv.h"
#include "common/log.h"
#include "managerd/priv/frame.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pending { /* a task whose end is to come */
	uint64_t task;
	uint32_t event; /* enum frame_event */
	union {
		priv_inspected_fn *inspected;
		priv_ended_fn *ended;
		priv_swapped_fn *swapped;
	};
	void *arg;
};

struct priv {
	int verbs, events;
	VEC(struct pending) pending;
	struct frame frame;
};

struct answer {
	struct frame_in in; /* after status and error */
	int32_t status;
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

static void begin(struct buf *b, uint32_t verb)
{
	*b = (struct buf){0};
	frame_u32(b, verb);
}

/* Sends b (freed) and waits. 0 when an answer came: arena_free(&a->in.mem). */
static int ask(struct priv *p, struct buf *b, const int *fd, unsigned nfd, struct answer *a,
    struct err *e)
{
	uint32_t verb, want;
	const char *text;
	int r;

	memcpy(&want, b->p, sizeof want);
	r = frame_send(p->verbs, b, fd, nfd, e);
	buf_free(b);
	if (r < 0 && (errno == EPIPE || errno == ECONNRESET))
		orphaned();
	if (r < 0 || receive(p, p->verbs, &a->in, &verb, e) < 0)
		return -1;
	a->status = (int32_t)frame_get_u32(&a->in);
	text = frame_get_str(&a->in);
	frame_close_fds(&p->frame);
	if (verb != want || a->in.bad) {
		arena_free(&a->in.mem);
		return err_set(e, "the privileged parent gave another answer than was asked for");
	}
	if (a->status < 0)
		err_set(e, "%s", text);
	return 0;
}

/* For verbs whose answer is a status alone. */
static int ask_status(struct priv *p, struct buf *b, struct err *e)
{
	struct answer a;

	if (ask(p, b, NULL, 0, &a, e) < 0)
		return -1;
	arena_free(&a.in.mem);
	return a.status;
}

/* For verbs that begin a task: notes what is to be called at its end. */
static uint64_t ask_task(struct priv *p, struct buf *b, const int *fd, unsigned nfd,
    const struct pending *then, struct err *e)
{
	struct pending n = *then;
	struct answer a;

	if (ask(p, b, fd, nfd, &a, e) < 0)
		return 0;
	n.task = frame_get_u64(&a.in);
	if (a.status == 0 && !frame_whole(&a.in))
		n.task = 0;
	arena_free(&a.in.mem);
	if (a.status < 0 || !n.task)
		return 0;
	if (n.event)
		vec_push(&p->pending, n);
	return n.task;
}

/* ---- ends of tasks ---- */

/* Of the parent's memory for an answer; what lies in it is checked by whom decodes it. */
static struct blob get_part(struct frame_in *in, const struct blob *b)
{
	uint64_t at = frame_get_u64(in);

	return blob_part(b, at, frame_get_u64(in));
}

static struct priv_stamp get_stamp(struct frame_in *in)
{
	struct priv_stamp s;

	s.dev = frame_get_u64(in);
	s.ino = frame_get_u64(in);
	s.size = frame_get_u64(in);
	s.mtime_ns = (int64_t)frame_get_u64(in);
	s.ctime_ns = (int64_t)frame_get_u64(in);
	return s;
}

static void report_inspected(const struct pending *n, struct frame_in *in, const struct blob *b)
{
	struct priv_inspected r = {0};
	struct blob table, map;

	r.status = frame_get_u32(in);
	r.why = frame_get_str(in);
	r.id = frame_get_id(in);
	r.origin = frame_get_id(in);
	r.uid = frame_get_u32(in);
	r.bytes = frame_get_u64(in);
	r.stamp = get_stamp(in);
	r.artifact = frame_get_str(in);
	r.refused = frame_get_str(in);
	table = get_part(in, b);
	map = get_part(in, b);
	r.table = table.p;
	r.ntable = table.n;
	r.map = map.p;
	r.nmap = map.n;
	if (!frame_whole(in))
		r = (struct priv_inspected){.status = PRIV_LATER, .artifact = "", .refused = "",
			.why = "the privileged parent's answer is cut off"};
	n->inspected(&r, n->arg);
}

static void report_ended(const struct pending *n, struct frame_in *in, struct blob *b)
{
	struct priv_ended r = {0};
	struct blob table, map;

	r.later = frame_get_u32(in) != 0;
	r.why = frame_get_str(in);
	r.status = (int)frame_get_u32(in);
	r.id = frame_get_id(in);
	r.origin = frame_get_id(in);
	table = get_part(in, b);
	map = get_part(in, b);
	blob_narrow(b, table.n ? &table : &map);
	r.blob = b;
	if (!frame_whole(in))
		r = (struct priv_ended){
			.blob = b, .why = "the privileged parent's answer is cut off"};
	n->ended(&r, n->arg);
}

static void report_swapped(const struct pending *n, struct frame_in *in)
{
	struct priv_swapped r;

	r.status = frame_get_u32(in);
	r.why = frame_get_str(in);
	r.from = frame_get_id(in);
	r.to = frame_get_id(in);
	if (!frame_whole(in))
		r = (struct priv_swapped){
			.status = SWAP_FAILED, .why = "the privileged parent's answer is cut off"};
	n->swapped(&r, n->arg);
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
	struct pending n;

	frame_close_fds(&p->frame);
	if (take_pending(p, frame_get_u64(in), &n) && n.event == event) {
		if (event == FRAME_INSPECTED)
			report_inspected(&n, in, &b);
		else if (event == FRAME_ENDED)
			report_ended(&n, in, &b);
		else
			report_swapped(&n, in);
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
	struct answer a;
	struct buf b;
	int r;

	begin(&b, FRAME_STAMP);
	frame_str(&b, path);
	if (ask(p, &b, NULL, 0, &a, NULL) < 0)
		return -1;
	*out = get_stamp(&a.in);
	r = a.status < 0 || !frame_whole(&a.in) ? -1 : 0;
	arena_free(&a.in.mem);
	return r;
}

uint64_t priv_inspect(struct priv *p, const char *path, const struct build_id hint[2], unsigned how,
    priv_inspected_fn *fn, void *arg, struct err *e)
{
	struct buf b;

	begin(&b, FRAME_INSPECT);
	frame_str(&b, path);
	frame_id(&b, &hint[0]);
	frame_id(&b, &hint[1]);
	frame_u32(&b, how);
	return ask_task(p, &b, NULL, 0,
	    &(struct pending){.event = FRAME_INSPECTED, .inspected = fn, .arg = arg}, e);
}

/* ---- jobs ---- */

uint64_t priv_job(struct priv *p, const struct priv_job *j, priv_ended_fn *fn, void *arg,
    struct err *e)
{
	const int fd[FRAME_FDS] = {j->out, j->err, j->samples};
	struct buf b;

	begin(&b, FRAME_JOB);
	frame_u32(&b, j->kind);
	frame_str(&b, j->module);
	frame_u64(&b, j->edit);
	frame_id(&b, &j->id);
	frame_id(&b, &j->origin);
	frame_u32(&b, j->huge);
	return ask_task(p, &b, fd, j->samples >= 0 ? 3 : 2,
	    &(struct pending){.event = FRAME_ENDED, .ended = fn, .arg = arg}, e);
}

double priv_job_cpu(struct priv *p, uint64_t task)
{
	struct answer a;
	struct buf b;
	uint64_t us;

	begin(&b, FRAME_CPU);
	frame_u64(&b, task);
	if (ask(p, &b, NULL, 0, &a, NULL) < 0)
		return -1;
	us = frame_get_u64(&a.in);
	arena_free(&a.in.mem);
	return a.status ? -1 : (double)us / 1e6;
}

int priv_signal(struct priv *p, uint64_t task, int sig, struct err *e)
{
	struct buf b;

	begin(&b, FRAME_SIGNAL);
	frame_u64(&b, task);
	frame_u32(&b, (uint32_t)sig);
	return ask_status(p, &b, e);
}

void priv_drop(struct priv *p, uint64_t task)
{
	struct pending n;
	struct buf b;

	take_pending(p, task, &n);
	begin(&b, FRAME_DROP);
	frame_u64(&b, task);
	ask_status(p, &b, NULL);
}

/* ---- swapping ---- */

uint64_t priv_swap(struct priv *p, uint64_t edit, priv_swapped_fn *fn, void *arg, struct err *e)
{
	struct buf b;

	begin(&b, FRAME_SWAP);
	frame_u64(&b, edit);
	return ask_task(p, &b, NULL, 0,
	    &(struct pending){.event = FRAME_SWAPPED, .swapped = fn, .arg = arg}, e);
}

uint64_t priv_rollback(struct priv *p, const char *module, const struct build_id *to,
    priv_swapped_fn *fn, void *arg, struct err *e)
{
	struct buf b;

	begin(&b, FRAME_ROLLBACK);
	frame_str(&b, module);
	frame_id(&b, to);
	return ask_task(p, &b, NULL, 0,
	    &(struct pending){.event = FRAME_SWAPPED, .swapped = fn, .arg = arg}, e);
}

static int ask_path(struct priv *p, uint32_t verb, const char *path, struct answer *a, struct err *e)
{
	struct buf b;

	begin(&b, verb);
	frame_str(&b, path);
	return ask(p, &b, NULL, 0, a, e);
}

int priv_swap_done(struct priv *p, const char *module, struct err *e)
{
	struct answer a;

	if (ask_path(p, FRAME_DONE, module, &a, e) < 0)
		return -1;
	arena_free(&a.in.mem);
	return a.status;
}

int priv_recovered(struct priv *p, void (*fn)(const struct swap_outcome *o, void *arg), void *arg,
    struct err *e)
{
	struct swap_outcome o;
	struct answer a;
	struct buf b;
	uint32_t i;

	for (i = 0;; i++) {
		begin(&b, FRAME_RECOVERED);
		frame_u32(&b, i);
		if (ask(p, &b, NULL, 0, &a, e) < 0)
			return -1;
		if (a.status == 0) {
			o.module = frame_get_str(&a.in);
			o.from = frame_get_id(&a.in);
			o.to = frame_get_id(&a.in);
			o.rollback = frame_get_u32(&a.in) != 0;
			o.end = frame_get_u32(&a.in);
			if (frame_whole(&a.in))
				fn(&o, arg);
		}
		arena_free(&a.in.mem);
		if (a.status)
			return a.status < 0 ? -1 : 0;
	}
}

size_t priv_kept(struct priv *p, const char *module, struct arena *a, const struct swap_kept **out)
{
	struct swap_kept *kept;
	struct answer ans;
	uint32_t i, n;

	*out = NULL;
	if (ask_path(p, FRAME_KEPT, module, &ans, NULL) < 0)
		return 0;
	n = ans.status < 0 ? 0 : frame_get_u32(&ans.in);
	if (n > FRAME_MAX)
		n = 0;
	kept = arena_array(a, (size_t)n + 1, sizeof *kept);
	for (i = 0; i < n; i++) {
		kept[i].id = frame_get_id(&ans.in);
		kept[i].bytes = frame_get_u64(&ans.in);
		kept[i].since = (int64_t)frame_get_u64(&ans.in);
	}
	n = frame_whole(&ans.in) ? n : 0;
	arena_free(&ans.in.mem);
	*out = kept;
	return n;
}

int priv_hold(struct priv *p, const char *module, bool held, struct err *e)
{
	struct buf b;

	begin(&b, FRAME_HOLD);
	frame_str(&b, module);
	frame_u32(&b, held);
	return ask_status(p, &b, e);
}

bool priv_held(struct priv *p, const char *module)
{
	struct answer a;
	bool held;

	if (ask_path(p, FRAME_HELD, module, &a, NULL) < 0)
		return false;
	held = a.status == 0 && frame_get_u32(&a.in) != 0;
	arena_free(&a.in.mem);
	return held;
}

void priv_load_pages(struct priv *p, const char *module)
{
	struct answer a;

	if (ask_path(p, FRAME_PAGES, module, &a, NULL) == 0)
		arena_free(&a.in.mem);
}
