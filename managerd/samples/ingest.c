#include "managerd/samples/ingest.h"
#include "common/log.h"
#include "managerd/os/clock.h"
#include "managerd/os/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_SIZE = 256 << 10, MAX_UNSENT = 64 << 10, FRAME_TIMEOUT_MS = 30000, HANDLES = 2 };

struct client {
	uv_pipe_t pipe;
	uv_timer_t timer;
	struct ingest *in;
	struct client *next;
	struct buf buf;
	uid_t uid;
	struct wire_hello hello;
	bool greeted, closing;
	bool held;                  /* the batch at the start of buf is not taken yet … */
	uint64_t held_since;        /* … by uv_now() */
	VEC(struct wire_ack) taken; /* batches that wait for the commit */
	int handles;
};

struct ingest {
	uv_pipe_t listener;
	uv_loop_t *loop;
	struct ingest_ops ops;
	struct ingest_status status;
	struct client *client;
	struct buf want, watch, boost, cycles; /* the last frames of these types */
	int64_t extra_uid;
	unsigned nclient;
	bool stopped;
};

bool ingest_uid_allowed(uid_t peer, uid_t self, int64_t extra_uid)
{
	return peer == 0 || peer == self || (extra_uid >= 0 && peer == (uid_t)extra_uid);
}

/* The ingest goes when its listener and all clients are closed. */
static void maybe_free(struct ingest *in)
{
	if (!in->stopped || in->client || in->listener.data)
		return;
	buf_free(&in->want);
	buf_free(&in->watch);
	buf_free(&in->boost);
	buf_free(&in->cycles);
	free(in);
}

/* The last of its handles and syncs frees it. */
static void client_release(struct client *c)
{
	struct ingest *in = c->in;
	struct client **p;

	if (--c->handles)
		return;
	for (p = &in->client; *p != c; p = &(*p)->next)
		;
	*p = c->next;
	buf_wipe(&c->buf);
	buf_free(&c->buf);
	vec_free(&c->taken);
	free(c);
	maybe_free(in);
}

static void client_closed(uv_handle_t *h)
{
	client_release(h->data);
}

static void client_close(struct client *c)
{
	if (c->closing)
		return;
	c->closing = true;
	if (c->greeted)
		c->in->status.connected = false;
	c->in->nclient--;
	uv_close((uv_handle_t *)&c->pipe, client_closed);
	uv_close((uv_handle_t *)&c->timer, client_closed);
}

static void refuse(struct client *c, const char *why)
{
	if (!c->closing)
		log_warn("monitor (uid %u): %s; connection closed", (unsigned)c->uid, why);
	client_close(c);
}

struct answer {
	uv_write_t req;
	struct buf frame;
};

static void answer_sent(uv_write_t *req, int status)
{
	struct answer *a = (struct answer *)req;

	buf_free(&a->frame);
	free(a);
}

static void send_answer(struct client *c, struct answer *a)
{
	uv_buf_t out = uv_buf_init(a->frame.p, (unsigned)a->frame.n);

	if (uv_stream_get_write_queue_size((uv_stream_t *)&c->pipe) > MAX_UNSENT) {
		refuse(c, "does not read its acknowledgements");
		answer_sent(&a->req, 0);
	} else if (uv_write(&a->req, (uv_stream_t *)&c->pipe, &out, 1, answer_sent)) {
		client_close(c);
		answer_sent(&a->req, 0);
	}
}

static void send_frame(struct client *c, const struct buf *frame)
{
	struct answer *a;

	if (!frame->n)
		return;
	a = xcalloc(1, sizeof *a);
	buf_add(&a->frame, frame->p, frame->n);
	send_answer(c, a);
}

static void send_all(struct ingest *in, const struct buf *frame)
{
	struct client *c, *next;

	for (c = in->client; c; c = next) {
		next = c->next;
		if (c->greeted && !c->closing)
			send_frame(c, frame);
	}
}

void ingest_want(struct ingest *in, const struct wire_want *w)
{
	in->want.n = 0;
	wire_put_want(&in->want, w);
	send_all(in, &in->want);
}

void ingest_watch(struct ingest *in, const struct wire_want *w)
{
	in->watch.n = 0;
	wire_put_watch(&in->watch, w);
	send_all(in, &in->watch);
}

void ingest_boost(struct ingest *in, const struct wire_boost *b)
{
	in->boost.n = 0;
	wire_put_boost(&in->boost, b);
	send_all(in, &in->boost);
}

void ingest_cycles(struct ingest *in, const struct wire_want *w)
{
	in->cycles.n = 0;
	wire_put_cycles(&in->cycles, w);
	send_all(in, &in->cycles);
}

struct sync { /* acknowledgements that wait for the disk */
	struct client *c;
	struct answer *a;
	int fd, error;
};

static void run_sync(void *arg)
{
	struct sync *s = arg;

	s->error = s->fd >= 0 && fdatasync(s->fd) ? errno : 0;
}

static void synced(void *arg)
{
	struct sync *s = arg;

	if (s->error)
		refuse(s->c, strerror(s->error));
	if (s->c->closing)
		answer_sent(&s->a->req, 0);
	else
		send_answer(s->c, s->a);
	client_release(s->c);
	free(s);
}

static bool held_long_enough(const struct client *c)
{
	return c->held && uv_now(c->in->loop) - c->held_since >= INGEST_HOLD_MS;
}

/* Commits what was taken, and says so. */
static void commit(struct client *c)
{
	struct ingest *in = c->in;
	struct answer *a;
	struct sync *s;
	struct err e;
	size_t i;

	if (!c->taken.n)
		return;
	if (c->in->ops.commit(c->in->ops.arg, &e)) {
		c->taken.n = 0;
		refuse(c, e.text);
		return;
	}
	c->in->status.last_batch_ms = clock_now_ms();
	a = xcalloc(1, sizeof *a);
	for (i = 0; i < c->taken.n; i++)
		wire_put_ack(&a->frame, &c->taken.v[i]);
	c->taken.n = 0;
	s = xcalloc(1, sizeof *s);
	*s = (struct sync){.c = c, .a = a, .fd = in->ops.log ? in->ops.log(in->ops.arg) : -1};
	c->handles++;
	pool_run(s->fd >= 0 ? in->loop : NULL, run_sync, synced, s);
}

static int take_hello(struct client *c, const void *frame, size_t n, struct err *e)
{
	struct wire_hello h;

	if (wire_get_hello(frame, n, &h, e))
		return -1;
	c->greeted = true;
	c->hello = h;
	c->in->status.hello = h;
	c->in->status.connected = true;
	log_info("monitor %u connected: one sample represents %.3f ms", h.pid,
	    (double)h.period_ns / 1e6);
	send_frame(c, &c->in->want);
	send_frame(c, &c->in->watch);
	send_frame(c, &c->in->boost);
	send_frame(c, &c->in->cycles);
	return 0;
}

static int take_batch(struct client *c, void *frame, size_t n, struct err *e)
{
	struct wire_batch b = {0};
	struct arena a = {0};
	int rc;

	if (!c->greeted)
		return err_set(e, "sends a batch before its hello");
	rc = wire_get_batch(frame, n, &a, &b, e);
	if (rc == 0 && b.taken >> INGEST_MAX_TAKEN_BITS)
		rc = err_set(e, "a batch of more samples than a machine takes");
	if (rc == 0) {
		rc = c->in->ops.batch(c->in->ops.arg, &c->hello, &b, held_long_enough(c), e);
		if (rc < 0)
			c->taken.n = 0;
	}
	if (rc == 0)
		vec_push(&c->taken, (struct wire_ack){b.session, b.seq});
	wire_wipe_regs(&b);
	if (rc != 1)
		explicit_bzero(frame, n);
	stack_wipe();
	arena_free(&a);
	return rc;
}

static int take_frame(struct client *c, enum wire_type type, void *frame, size_t n, struct err *e)
{
	switch (type) {
	case WIRE_HELLO:
		return take_hello(c, frame, n, e);
	case WIRE_BATCH:
		return take_batch(c, frame, n, e);
	case WIRE_ACK:
	case WIRE_WANT:
	case WIRE_WATCH:
	case WIRE_BOOST:
	case WIRE_CYCLES:
		break;
	}
	return err_set(e, "sends a frame of type %d, which only a manager sends", (int)type);
}

static void frame_late(uv_timer_t *t)
{
	refuse(t->data, "silent in the middle of a frame");
}

static void give_space(uv_handle_t *h, size_t suggested, uv_buf_t *out);
static void got_bytes(uv_stream_t *s, ssize_t n, const uv_buf_t *b);
static void take_frames(struct client *c);

static void held_over(uv_timer_t *t)
{
	take_frames(t->data);
}

static void hold(struct client *c)
{
	if (!c->held)
		c->held_since = uv_now(c->in->loop);
	c->held = true;
	uv_read_stop((uv_stream_t *)&c->pipe);
	uv_timer_start(&c->timer, held_over,
	    held_long_enough(c) ? 0 : c->held_since + INGEST_HOLD_MS - uv_now(c->in->loop), 0);
}

static void let_go(struct client *c)
{
	if (!c->held)
		return;
	c->held = false;
	uv_timer_stop(&c->timer);
	if (uv_read_start((uv_stream_t *)&c->pipe, give_space, got_bytes))
		client_close(c);
}

static void take_frames(struct client *c)
{
	enum wire_type type;
	struct err e;
	size_t at = 0;
	bool wait = false;
	long n = 0;
	int rc;

	while (!c->closing && !wait && at < c->buf.n) {
		n = wire_frame(c->buf.p + at, c->buf.n - at, &type, &e);
		if (n == 0)
			break;
		rc = n < 0 ? -1 : take_frame(c, type, c->buf.p + at, (size_t)n, &e);
		if (rc < 0) {
			commit(c);
			refuse(c, e.text);
			return;
		}
		wait = rc == 1;
		if (!wait) {
			let_go(c);
			at += (size_t)n;
		}
	}
	commit(c);
	if (c->closing)
		return;
	memmove(c->buf.p, c->buf.p + at, c->buf.n - at);
	c->buf.n -= at;
	explicit_bzero(c->buf.p + c->buf.n, at); /* what was moved may be half a secret */
	if (wait)
		hold(c);
	else if (!c->buf.n)
		uv_timer_stop(&c->timer);
	else if (at || !uv_is_active((uv_handle_t *)&c->timer))
		uv_timer_start(&c->timer, frame_late, FRAME_TIMEOUT_MS, 0);
}

/* Space after what is there; wire_frame() bounds how much that can become. */
static void give_space(uv_handle_t *h, size_t suggested, uv_buf_t *out)
{
	struct client *c = h->data;

	buf_secret_room(&c->buf, READ_SIZE);
	*out = uv_buf_init(c->buf.p + c->buf.n, READ_SIZE);
}

static void got_bytes(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct client *c = s->data;

	if (c->closing)
		return;
	if (n > 0) {
		c->buf.n += (size_t)n;
		take_frames(c);
	} else if (n < 0) {
		if (c->buf.n)
			refuse(c, "gone in the middle of a frame");
		else
			client_close(c);
	}
}

void ingest_resume(struct ingest *in)
{
	struct client *c;

	for (c = in->client; c; c = c->next)
		if (c->held && !c->closing)
			take_frames(c);
}

static int peer_uid(uv_pipe_t *pipe, uid_t *uid)
{
	struct ucred cred;
	socklen_t n = sizeof cred;
	uv_os_fd_t fd;

	if (uv_fileno((uv_handle_t *)pipe, &fd) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n))
		return -1;
	*uid = cred.uid;
	return 0;
}

static void connected(uv_stream_t *listener, int status)
{
	struct ingest *in = listener->data;
	struct client *c;

	if (status < 0)
		return;
	c = xcalloc(1, sizeof *c);
	c->in = in;
	c->handles = HANDLES;
	c->next = in->client;
	in->client = c;
	in->nclient++;
	uv_pipe_init(in->loop, &c->pipe, 0);
	uv_timer_init(in->loop, &c->timer);
	c->pipe.data = c->timer.data = c;
	if (uv_accept(listener, (uv_stream_t *)&c->pipe) || peer_uid(&c->pipe, &c->uid))
		client_close(c);
	else if (!ingest_uid_allowed(c->uid, geteuid(), in->extra_uid))
		refuse(c, "may not send samples");
	else if (in->nclient > INGEST_MAX_CLIENTS)
		refuse(c, "too many monitors");
	else if (uv_read_start((uv_stream_t *)&c->pipe, give_space, got_bytes))
		client_close(c);
}

struct ingest *ingest_start(
    uv_loop_t *loop, int fd, int64_t extra_uid, const struct ingest_ops *ops, struct err *e)
{
	struct ingest *in = xcalloc(1, sizeof *in);
	int rc;

	in->loop = loop;
	in->ops = *ops;
	in->extra_uid = extra_uid;
	uv_pipe_init(loop, &in->listener, 0);
	in->listener.data = in;
	rc = uv_pipe_open(&in->listener, fd);
	if (rc == 0)
		rc = uv_listen((uv_stream_t *)&in->listener, INGEST_MAX_CLIENTS, connected);
	if (rc == 0)
		return in;
	err_set(e, "monitor socket: %s", uv_strerror(rc));
	ingest_stop(in);
	return NULL;
}

static void listener_closed(uv_handle_t *h)
{
	struct ingest *in = h->data;

	h->data = NULL;
	maybe_free(in);
}

void ingest_stop(struct ingest *in)
{
	struct client *c;

	if (!in)
		return;
	in->stopped = true;
	for (c = in->client; c; c = c->next)
		client_close(c);
	uv_close((uv_handle_t *)&in->listener, listener_closed);
}

const struct ingest_status *ingest_status(const struct ingest *in)
{
	return &in->status;
}
