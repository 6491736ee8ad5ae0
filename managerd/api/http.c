#include "managerd/api/http.h"
#include "common/log.h"

#include <errno.h>
#include <microhttpd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	CONNECTION_MEMORY = 32 * 1024,
	BACKLOG = 1024,
	ACCEPT_AT_ONCE = 64,
	DISCARD_MAX = 1024 * 1024 /* of a body that is too large, before the line is cut */
};

/* A place among the connections; uid is the peer's. */
struct slot {
	bool used;
	uid_t uid;
	size_t held; /* bytes of its answer */
};

/* One request between MHD's calls. */
struct conversation {
	struct http_request rq;
	struct MHD_Connection *connection;
	struct conversation *prev, *next; /* among those that wait */
	uint64_t deadline;                /* uv_now() of the end of the wait; 0 = none set yet */
	uint64_t discarded;
	bool begun;
};

struct http {
	uv_loop_t *loop;
	struct MHD_Daemon *mhd;
	uv_poll_t listen_poll, mhd_poll;
	uv_timer_t timer;
	int fd, handles;
	bool closing;
	char *busy, *busy_body; /* with its head, and without */
	http_answer *answer;
	void *arg;
	struct slot slot[HTTP_CONNECTIONS], *incoming;
	struct conversation waiting; /* list head */
};

/* ---- one request ---- */

static enum MHD_Result add_param(
    void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct http_request *rq = arg;

	if (rq->nquery == HTTP_MAX_QUERY) {
		rq->query_overflow = true;
		return MHD_NO;
	}
	rq->query[rq->nquery++] = (struct http_param){name, value ? value : ""};
	return MHD_YES;
}

static struct slot *slot_of(struct MHD_Connection *conn)
{
	return MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void begin(struct conversation *c, struct MHD_Connection *conn, const char *method)
{
	struct http_request *rq = &c->rq;
	const char *length;

	c->begun = true;
	c->connection = conn;
	rq->method = strcmp(method, "HEAD") == 0 ? "GET" : method;
	rq->uid = slot_of(conn)->uid;
	rq->content_type = MHD_lookup_connection_value(conn, MHD_HEADER_KIND, "Content-Type");
	MHD_get_connection_values(conn, MHD_GET_ARGUMENT_KIND, add_param, rq);
	length = MHD_lookup_connection_value(conn, MHD_HEADER_KIND, "Content-Length");
	rq->too_large = length && strtoull(length, NULL, 10) > HTTP_MAX_BODY;
}

/* Returns false when there is no point in reading on. */
static bool take_body(struct conversation *c, const char *p, size_t n)
{
	if (c->rq.too_large || c->rq.body.n + n > HTTP_MAX_BODY) {
		c->rq.too_large = true;
		buf_free(&c->rq.body);
		c->discarded += n;
	} else {
		buf_add(&c->rq.body, p, n);
	}
	return c->discarded <= DISCARD_MAX;
}

/* Whether this user reads no answers and asks for more. */
static bool hoards(const struct http *h, uid_t uid)
{
	size_t held = 0;
	unsigned i;

	for (i = 0; i < HTTP_CONNECTIONS; i++)
		if (h->slot[i].used && h->slot[i].uid == uid)
			held += h->slot[i].held;
	return uid != 0 && held > HTTP_HELD;
}

/* ---- an answer that is made as it is read ---- */

enum { STREAM_BLOCK = 64 * 1024 };

struct stream {
	struct http_reply rp;
	size_t at; /* of its body, what was read */
};

static ssize_t read_stream(void *arg, uint64_t pos, char *out, size_t max)
{
	struct stream *s = arg;
	struct buf *b = &s->rp.body;
	size_t n;

	if (s->at == b->n) {
		s->at = b->n = 0;
		if (s->rp.more(s->rp.stream, b) < 0)
			return MHD_CONTENT_READER_END_WITH_ERROR;
		if (!b->n)
			return MHD_CONTENT_READER_END_OF_STREAM;
	}
	n = b->n - s->at < max ? b->n - s->at : max;
	memcpy(out, b->p + s->at, n);
	s->at += n;
	return (ssize_t)n;
}

static void end_stream(void *arg)
{
	struct stream *s = arg;

	s->rp.done(s->rp.stream);
	buf_free(&s->rp.body);
	free(s);
}

static struct MHD_Response *stream_response(const struct http_reply *rp)
{
	struct stream *s = xmalloc(sizeof *s);
	struct MHD_Response *r;

	*s = (struct stream){*rp, 0};
	r = MHD_create_response_from_callback(
	    MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, s, end_stream);
	if (!r)
		end_stream(s);
	return r;
}

static struct MHD_Response *whole_response(struct http_reply *rp)
{
	struct MHD_Response *r =
	    MHD_create_response_from_buffer(rp->body.n, rp->body.p, MHD_RESPMEM_MUST_FREE);

	if (!r)
		buf_free(&rp->body);
	return r;
}

static enum MHD_Result send_reply(struct MHD_Connection *conn, struct http_reply *rp)
{
	struct MHD_Response *r;
	enum MHD_Result ok;

	slot_of(conn)->held = rp->more ? HTTP_STREAM : rp->body.n;
	r = rp->more ? stream_response(rp) : whole_response(rp);
	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, "Content-Type", rp->type);
	MHD_add_response_header(r, "Cache-Control", "no-store");
	if (rp->allow)
		MHD_add_response_header(r, "Allow", rp->allow);
	ok = MHD_queue_response(conn, rp->status, r);
	MHD_destroy_response(r);
	return ok;
}

static enum MHD_Result finish(struct http *h, struct conversation *c)
{
	struct http_reply rp = {.status = 500, .type = "application/json"};

	if (hoards(h, c->rq.uid)) {
		rp.status = 503;
		buf_str(&rp.body, h->busy_body);
		return send_reply(c->connection, &rp);
	}
	c->rq.expired = h->closing || (c->deadline && uv_now(h->loop) >= c->deadline);
	if (h->answer(&c->rq, &rp, h->arg) == HTTP_REPLY)
		return send_reply(c->connection, &rp);
	buf_free(&rp.body);
	if (c->rq.expired)
		return MHD_NO;
	if (!c->deadline)
		c->deadline = uv_now(h->loop) + (uint64_t)(c->rq.wait_s * 1000) + 1;
	c->prev = h->waiting.prev;
	c->next = &h->waiting;
	c->prev->next = c->next->prev = c;
	MHD_suspend_connection(c->connection);
	return MHD_YES;
}

/* As MHD calls it: first with the headers, then per piece of body, then with
 * nothing more; and once again after each wait. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *conn, const char *url,
    const char *method, const char *version, const char *data, size_t *size, void **ctx)
{
	struct http *h = arg;
	struct conversation *c = *ctx;
	bool go_on;

	if (!c->begun) {
		c->rq.path = url;
		begin(c, conn, method);
		return c->rq.too_large ? finish(h, c) : MHD_YES;
	}
	if (*size == 0)
		return finish(h, c);
	go_on = take_body(c, data, *size);
	*size = 0;
	return go_on ? MHD_YES : MHD_NO;
}

/* Called as soon as the request line is there: where a conversation begins,
 * so that on_completed() finds it whatever happens then. */
static void *on_request_line(void *arg, const char *uri, struct MHD_Connection *conn)
{
	return xcalloc(1, sizeof(struct conversation));
}

static void on_completed(
    void *arg, struct MHD_Connection *conn, void **ctx, enum MHD_RequestTerminationCode why)
{
	struct conversation *c = *ctx;

	if (!c)
		return;
	if (c->begun)
		slot_of(conn)->held = 0;
	arena_free(&c->rq.mem);
	buf_free(&c->rq.body);
	free(c);
	*ctx = NULL;
}

/* ---- connections ---- */

static struct slot *slot_take(struct http *h, uid_t uid)
{
	struct slot *free_slot = NULL;
	unsigned i, same = 0;

	for (i = 0; i < HTTP_CONNECTIONS; i++) {
		if (!h->slot[i].used)
			free_slot = &h->slot[i];
		else if (h->slot[i].uid == uid)
			same++;
	}
	if (!free_slot || (uid != 0 && same >= HTTP_PER_USER))
		return NULL;
	*free_slot = (struct slot){.used = true, .uid = uid};
	return free_slot;
}

static void on_connection(void *arg, struct MHD_Connection *conn, void **socket_context,
    enum MHD_ConnectionNotificationCode what)
{
	struct http *h = arg;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*socket_context = h->incoming;
		h->incoming = NULL;
	} else if (*socket_context) {
		((struct slot *)*socket_context)->used = false;
	}
}

static void adopt(struct http *h, int fd)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t n = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0) {
		close(fd);
		return;
	}
	h->incoming = slot_take(h, peer.uid);
	if (!h->incoming) {
		send(fd, h->busy, strlen(h->busy), MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
		return;
	}
	if (MHD_add_connection(h->mhd, fd, (struct sockaddr *)&addr, sizeof addr) == MHD_YES)
		return;
	if (h->incoming)
		h->incoming->used = false;
	h->incoming = NULL;
}

/* ---- the loop ---- */

static void on_timer(uv_timer_t *t);

static void set_timer(struct http *h)
{
	MHD_UNSIGNED_LONG_LONG ms;
	uint64_t next = UINT64_MAX, now = uv_now(h->loop);
	const struct conversation *c;

	if (MHD_get_timeout(h->mhd, &ms) == MHD_YES)
		next = ms;
	for (c = h->waiting.next; c != &h->waiting; c = c->next) {
		if (c->deadline <= now)
			next = 0;
		else if (c->deadline - now < next)
			next = c->deadline - now;
	}
	if (next == UINT64_MAX)
		uv_timer_stop(&h->timer);
	else
		uv_timer_start(&h->timer, on_timer, next, 0);
}

static void run(struct http *h)
{
	MHD_run(h->mhd);
	set_timer(h);
}

static void end_waits(struct http *h, bool all)
{
	struct conversation *c, *next;

	for (c = h->waiting.next; c != &h->waiting; c = next) {
		next = c->next;
		if (!all && c->deadline > uv_now(h->loop))
			continue;
		c->prev->next = c->next;
		c->next->prev = c->prev;
		c->prev = c->next = NULL;
		MHD_resume_connection(c->connection);
	}
}

static void on_timer(uv_timer_t *t)
{
	struct http *h = t->data;

	end_waits(h, false);
	run(h);
}

static void on_mhd(uv_poll_t *p, int status, int events)
{
	run(p->data);
}

static void on_listen(uv_poll_t *p, int status, int events)
{
	struct http *h = p->data;
	int i, fd;

	for (i = 0; i < ACCEPT_AT_ONCE; i++) {
		fd = accept4(h->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			break;
		adopt(h, fd);
	}
	run(h);
}

void http_wake(struct http *h)
{
	if (h->waiting.next == &h->waiting)
		return;
	end_waits(h, true);
	run(h);
}

/* ---- opening and closing ---- */

static void on_mhd_log(void *arg, const char *fmt, va_list ap)
{
	char line[512];
	size_t n;

	vsnprintf(line, sizeof line, fmt, ap);
	n = strlen(line);
	while (n > 0 && line[n - 1] == '\n')
		line[--n] = '\0';
	/* It tries these on every socket; a Unix socket has none of them. */
	if (!strstr(line, "TCP_NODELAY") && !strstr(line, "TCP_CORK") &&
	    !strstr(line, "push the data from buffers"))
		log_debug("http: %s", line);
}

static struct MHD_Daemon *mhd_start(struct http *h)
{
	return MHD_start_daemon(
	    MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG,
	    0, NULL, NULL, on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_mhd_log, NULL,
	    MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
	    (unsigned)HTTP_SILENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
	    MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, on_request_line, NULL,
	    MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION,
	    on_connection, h, MHD_OPTION_END);
}

static void watch(struct http *h, uv_poll_t *p, int fd, uv_poll_cb cb)
{
	uv_poll_init(h->loop, p, fd);
	p->data = h;
	h->handles++;
	uv_poll_start(p, UV_READABLE, cb);
}

struct http *http_open(
    uv_loop_t *loop, int fd, const char *busy_body, http_answer *answer, void *arg, struct err *e)
{
	struct http *h = xcalloc(1, sizeof *h);
	const union MHD_DaemonInfo *info;

	h->loop = loop;
	h->fd = fd;
	h->answer = answer;
	h->arg = arg;
	h->waiting.next = h->waiting.prev = &h->waiting;
	h->mhd = mhd_start(h);
	info = h->mhd ? MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info) {
		err_set(e, "libmicrohttpd does not start");
		if (h->mhd)
			MHD_stop_daemon(h->mhd);
		free(h);
		return NULL;
	}
	h->busy = xasprintf("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
			    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	    strlen(busy_body), busy_body);
	h->busy_body = xstrdup(busy_body);
	listen(fd, BACKLOG);
	watch(h, &h->listen_poll, h->fd, on_listen);
	watch(h, &h->mhd_poll, info->epoll_fd, on_mhd);
	uv_timer_init(loop, &h->timer);
	h->timer.data = h;
	h->handles++;
	return h;
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct http *h = handle->data;

	if (--h->handles > 0)
		return;
	free(h->busy);
	free(h->busy_body);
	free(h);
}

void http_close(struct http *h)
{
	h->closing = true;
	end_waits(h, true);
	MHD_run(h->mhd);
	uv_poll_stop(&h->listen_poll);
	uv_poll_stop(&h->mhd_poll);
	MHD_stop_daemon(h->mhd);
	close(h->fd);
	uv_close((uv_handle_t *)&h->listen_poll, on_handle_closed);
	uv_close((uv_handle_t *)&h->mhd_poll, on_handle_closed);
	uv_close((uv_handle_t *)&h->timer, on_handle_closed);
}
