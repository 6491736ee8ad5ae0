/*
 * morph-watch: what a manager would know of a program after one run of it.
 *
 *	morph-watch ARTIFACT TABLE FOLDER MONITOR -- PROGRAM [ARG…]
 *
 * TABLE is as morph-edit --replay-table makes it; FOLDER, of the caller alone, gets the socket and
 *FOLDER/samples, the profile. MONITOR, the path of morph-monitor, runs PROGRAM and is asked for
 *registers, which come over the socket and are in no file. Exit status: the program's, or 1, and
 *128 + n after signal n.
 */
#include "common/log.h"
#include "common/publish.h"
#include "managerd/watch/watch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

/* Samples a second, four times the monitor's own rate: it is one run, and somebody waits. */
#define RATE "--rate=997"

struct watching {
	struct watch watch;
	uv_loop_t loop;
	uv_pipe_t listener, monitor; /* monitor: its connection */
	uv_process_t process;
	bool connected, ended;
	int status;
	struct buf in;
	struct err why; /* of what went wrong */
	bool failed;
};

static void stop(struct watching *w)
{
	if (w->ended && !w->connected)
		uv_stop(&w->loop);
}

/* ---- messages ---- */

static void written(uv_write_t *q, int status)
{
	free(q->data);
	free(q);
}

static void reply(struct watching *w, struct buf *out)
{
	uv_write_t *q = xcalloc(1, sizeof *q);
	uv_buf_t b = uv_buf_init(out->p, (unsigned)out->n);

	q->data = out->p;
	if (uv_write(q, (uv_stream_t *)&w->monitor, &b, 1, written)) {
		buf_free(out);
		free(q);
	}
}

static void want(struct watching *w)
{
	struct buf out = {0};

	wire_put_want(&out, &(struct wire_want){&w->watch.id, 1});
	reply(w, &out);
}

static int take(struct watching *w, const char *frame, size_t n)
{
	struct arena a = {0};
	struct wire_batch b;
	struct buf out = {0};
	int rc = wire_get_batch(frame, n, &a, &b, &w->why);

	if (!rc) {
		watch_take(&w->watch, &b);
		wire_wipe_regs(&b);
		wire_put_ack(&out, &(struct wire_ack){b.session, b.seq});
		reply(w, &out);
	}
	arena_free(&a);
	return rc;
}

/* All whole frames that have come. */
static int take_all(struct watching *w)
{
	enum wire_type type;
	size_t at = 0;
	long n = 0;
	int rc = 0;

	while (!rc && (n = wire_frame(w->in.p + at, w->in.n - at, &type, &w->why)) > 0) {
		if (type == WIRE_HELLO)
			want(w);
		else if (type == WIRE_BATCH)
			rc = take(w, w->in.p + at, (size_t)n);
		at += (size_t)n;
	}
	memmove(w->in.p, w->in.p + at, w->in.n - at);
	explicit_bzero(w->in.p + w->in.n - at, at);
	w->in.n -= at;
	return n < 0 ? -1 : rc;
}

/* ---- the connection ---- */

static void closed(uv_handle_t *h)
{
	struct watching *w = h->data;

	w->connected = false;
	stop(w);
}

static void room(uv_handle_t *h, size_t n, uv_buf_t *b)
{
	struct watching *w = h->data;

	*b = uv_buf_init(buf_grow(&w->in, n), (unsigned)n);
	w->in.n -= n;
}

static void arrived(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct watching *w = s->data;

	if (n > 0)
		w->in.n += (size_t)n;
	if (n > 0 && take_all(w))
		w->failed = true;
	if (n < 0 || w->failed)
		uv_close((uv_handle_t *)s, closed);
}

static void connected(uv_stream_t *listener, int status)
{
	struct watching *w = listener->data;

	if (status || w->connected)
		return;
	uv_pipe_init(&w->loop, &w->monitor, 0);
	w->monitor.data = w;
	w->connected = true;
	w->in.n = 0;
	if (uv_accept(listener, (uv_stream_t *)&w->monitor) ||
	    uv_read_start((uv_stream_t *)&w->monitor, room, arrived))
		uv_close((uv_handle_t *)&w->monitor, closed);
}

/* ---- the monitor ---- */

static void ended(uv_process_t *p, int64_t status, int signal)
{
	struct watching *w = p->data;

	w->ended = true;
	w->status = signal ? 128 + signal : (int)status;
	stop(w);
}

static int start(struct watching *w, const char *folder, const char *monitor, char **program)
{
	char *socket = xasprintf("--socket=%s/monitor.sock", folder);
	char *spool = xasprintf("--spool=%s/spool", folder);
	VEC(char *) argv = {0};
	uv_stdio_container_t inherit[] = {
	    {UV_INHERIT_FD, {.fd = 0}}, {UV_INHERIT_FD, {.fd = 1}}, {UV_INHERIT_FD, {.fd = 2}}};
	uv_process_options_t o = {
	    .file = monitor, .exit_cb = ended, .stdio = inherit, .stdio_count = 3};
	int rc;

	vec_push(&argv, (char *)monitor);
	vec_push(&argv, RATE);
	vec_push(&argv, "--flush=1");
	vec_push(&argv, socket);
	vec_push(&argv, spool);
	while (*program)
		vec_push(&argv, *program++);
	vec_push(&argv, NULL);
	o.args = argv.v;
	w->process.data = w;
	rc = uv_spawn(&w->loop, &w->process, &o);
	if (rc)
		err_set(&w->why, "%s: %s", monitor, uv_strerror(rc));
	vec_free(&argv);
	free(socket);
	free(spool);
	return rc;
}

static int listen_at(struct watching *w, const char *folder)
{
	char *path = xasprintf("%s/monitor.sock", folder);
	int rc;

	uv_loop_init(&w->loop);
	uv_pipe_init(&w->loop, &w->listener, 0);
	w->listener.data = w;
	rc = uv_pipe_bind(&w->listener, path);
	if (!rc)
		rc = uv_listen((uv_stream_t *)&w->listener, 1, connected);
	if (rc)
		err_set(&w->why, "%s: %s", path, uv_strerror(rc));
	free(path);
	return rc;
}

static int write_samples(struct watching *w, const char *folder)
{
	char *path = xasprintf("%s/samples", folder);
	struct buf out = {0};
	int rc;

	watch_print(&w->watch, &out);
	rc = file_write(path, O_EXCL, out.p, out.n, &w->why);
	buf_free(&out);
	free(path);
	return rc;
}

static int watch(struct watching *w, char **argv)
{
	if (watch_open(&w->watch, argv[1], argv[2], &w->why) || listen_at(w, argv[3]) ||
	    start(w, argv[3], argv[4], argv + 5))
		return -1;
	signal(SIGINT, SIG_IGN); /* it is the program's, and what was sampled until then counts */
	uv_run(&w->loop, UV_RUN_DEFAULT);
	return w->failed ? -1 : write_samples(w, argv[3]);
}

int main(int argc, char **argv)
{
	struct watching w = {.failed = false};

	log_init("morphctl", LOG_LVL_INFO);
	if (argc < 7 || strcmp(argv[5], "--") != 0) {
		fprintf(
		    stderr, "usage: morph-watch ARTIFACT TABLE FOLDER MONITOR -- PROGRAM [ARG…]\n");
		return 2;
	}
	if (watch(&w, argv)) {
		log_error("%s", w.why.text);
		return 1;
	}
	watch_free(&w.watch);
	buf_free(&w.in);
	return w.status;
}
