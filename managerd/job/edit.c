#include "managerd/job/edit.h"
#include "common/log.h"
#include "common/profiletext/profiletext.h"
#include "common/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	TERM_WAIT_MS = 2000,
	PAUSED_MAX_S = 4 * 3600,
	DRAIN_WAIT_MS = 500,
	READ_MAX = 64 * 1024,
	EXIT_LATER = 75
};

/* One direction of output. */
struct stream {
	uv_pipe_t pipe;
	struct buf text;
	size_t max;
	bool open, over;
};

enum phase {
	RUNNING,
	ENDING, /* SIGTERM is sent */
	ENDED   /* the process is gone; its pipes may still hold something */
};

struct edit {
	struct priv *p;
	enum priv_job_kind kind;
	edit_done_fn *fn;
	void *arg;
	uint64_t task;
	struct priv_ended ended; /* why: our own */
	struct blob blob;
	uv_timer_t timer; /* RUNNING: deadline, ENDING: SIGKILL, ENDED: drain */
	struct stream out, err;
	enum phase phase;
	enum edit_end ended_by; /* why it was ended, EDIT_DONE = by itself */
	bool paused;
	int handles;
	double deadline_s, left_s, ran_s;
	uint64_t since_ns; /* running since */
	char read_buffer[READ_MAX];
};

/* ---- the end ---- */

static const char *last_line(const struct buf *text, struct arena *a)
{
	size_t end = text->n, begin;

	while (end && text->p[end - 1] == '\n')
		end--;
	for (begin = end; begin && text->p[begin - 1] != '\n';)
		begin--;
	return end ? arena_strndup(a, text->p + begin, end - begin) : NULL;
}

static bool answers(const struct edit *j)
{
	return j->kind == PRIV_BUILD || j->kind == PRIV_SCORE;
}

/* It says why not in its answer. */
static bool refuses(const struct edit *j, int status)
{
	return priv_lifts(j->kind) && status;
}

/* What people call the program; of a command of the policy, else the editor. */
static const char *program_of(const struct edit *j)
{
	return j->kind == PRIV_COUNT     ? "the counter command"
	       : j->kind == PRIV_RESTART ? "the restart command"
	       : j->kind == PRIV_VERIFY  ? "the verify command"
	       : j->kind > PRIV_VERIFY   ? "the measuring command"
					 : "the editor";
}

/* As editanswer_read(); a score is a part of the answer of a build. */
static int read_answer(struct edit *j, struct edit_result *r, struct err *e)
{
	unsigned parts = EDITANSWER_LAYOUT | EDITANSWER_SCORES;

	if (j->out.over)
		return err_set(e, "the editor's answer is longer than %d bytes", EDIT_OUT_MAX);
	if (j->kind == PRIV_BUILD)
		parts |= EDITANSWER_BUILD;
	else if (j->kind == PRIV_SCORE)
		parts |= EDITANSWER_ESTIMATE;
	return editanswer_read(j->out.text.p, j->out.text.n, parts, &r->answer, e);
}

/* The process ended by itself, with a status. */
static void judge_exit(struct edit *j, struct edit_result *r, struct arena *a)
{
	int status = WEXITSTATUS(j->ended.status), said = 0;
	const char *line = last_line(&j->err.text, a);
	struct err e;

	r->end = status == EXIT_LATER && j->kind < PRIV_VERIFY ? EDIT_LATER
		 : status                                      ? EDIT_CANNOT
							       : EDIT_DONE;
	if ((answers(j) || refuses(j, status)) && (j->out.text.n || !status))
		said = read_answer(j, r, &e);
	if (said)
		r->error = arena_strdup(a, e.text);
	if (said < 0 || (said && !status))
		r->end = EDIT_BROKEN;
	else if (status && !said)
		r->error = arena_printf(a, "%s ended with status %d%s%s", program_of(j), status,
		    line ? ": " : "", line ? line : "");
}

static void judge(struct edit *j, struct edit_result *r, struct arena *a)
{
	if (j->ended_by == EDIT_DEADLINE) {
		r->end = EDIT_DEADLINE;
		r->error = arena_printf(a, "not done after %g s of running time", j->deadline_s);
	} else if (j->ended_by != EDIT_DONE) {
		r->end = j->ended_by;
		r->error = j->ended_by == EDIT_LATER ? "paused for too long" : "cancelled";
	} else if (*j->ended.why) {
		r->end = j->ended.later ? EDIT_LATER : EDIT_CANNOT;
		r->error = j->ended.why;
	} else if (WIFSIGNALED(j->ended.status)) {
		r->end = EDIT_BROKEN;
		r->error = arena_printf(a, "killed by signal %d (%s)", WTERMSIG(j->ended.status),
		    strsignal(WTERMSIG(j->ended.status)));
	} else {
		judge_exit(j, r, a);
	}
}

static void deliver(struct edit *j)
{
	struct arena a = {0};
	struct edit_result r = {0};

	judge(j, &r, &a);
	if (!r.error)
		r.error = "";
	r.ran_s = j->ran_s;
	r.cpu_s = j->ended.cpu_s;
	r.log = buf_cstr(&j->err.text);
	r.said.p = buf_cstr(&j->out.text);
	r.said.n = j->out.text.n;
	if (r.end == EDIT_DONE) { /* what the parent has seen counts, whatever the editor says */
		r.build_id = j->ended.id;
		r.origin = j->ended.origin;
		r.blob = &j->blob;
		r.task = j->kind == PRIV_BUILD ? j->task : 0;
	}
	if (!r.task)
		priv_drop(j->p, j->task);
	j->fn(&r, j->arg);
	arena_free(&a);
	buf_free(&j->out.text);
	buf_free(&j->err.text);
	free((char *)j->ended.why);
	blob_free(&j->blob);
	free(j);
}

static void closed(uv_handle_t *h)
{
	struct edit *j = h->data;

	if (--j->handles == 0)
		deliver(j);
}

static void close_stream(struct stream *s)
{
	if (s->open)
		uv_close((uv_handle_t *)&s->pipe, closed);
	s->open = false;
}

/* ---- while it runs ---- */

static void signal_job(struct edit *j, int sig)
{
	struct err e;

	if (priv_signal(j->p, j->task, sig, &e) < 0)
		log_warn("%s", e.text);
}

static void stop_clock(struct edit *j)
{
	double ran = j->paused ? 0 : (double)(uv_hrtime() - j->since_ns) / 1e9;

	j->ran_s += ran;
	j->left_s -= ran;
	uv_timer_stop(&j->timer);
}

static void on_time(uv_timer_t *t);

static void start_clock(struct edit *j)
{
	j->since_ns = uv_hrtime();
	uv_timer_start(&j->timer, on_time, j->left_s > 0 ? (uint64_t)(j->left_s * 1000) : 0, 0);
}

static void end(struct edit *j, enum edit_end why)
{
	if (j->phase != RUNNING)
		return;
	stop_clock(j);
	j->phase = ENDING;
	j->ended_by = why;
	signal_job(j, SIGTERM);
	/* A stopped process does not act on it. */
	signal_job(j, SIGCONT);
	uv_timer_start(&j->timer, on_time, TERM_WAIT_MS, 0);
}

static void on_time(uv_timer_t *t)
{
	struct edit *j = t->data;

	switch (j->phase) {
	case RUNNING:
		end(j, j->paused ? EDIT_LATER : EDIT_DEADLINE);
		break;
	case ENDING:
		signal_job(j, SIGKILL);
		break;
	case ENDED:
		close_stream(&j->out);
		close_stream(&j->err);
		uv_close((uv_handle_t *)&j->timer, closed);
		break;
	}
}

static void ended(const struct priv_ended *r, void *arg)
{
	struct edit *j = arg;

	if (j->phase == RUNNING)
		stop_clock(j);
	j->phase = ENDED;
	j->ended = *r;
	j->ended.why = xstrdup(r->why);
	j->blob = blob_take(r->blob);
	/* What it wrote last is in the pipes; a stray grandchild may hold them. */
	uv_timer_start(&j->timer, on_time, j->out.open || j->err.open ? DRAIN_WAIT_MS : 0, 0);
}

static void give_buffer(uv_handle_t *h, size_t n, uv_buf_t *b)
{
	struct edit *j = h->data;

	*b = uv_buf_init(j->read_buffer, sizeof j->read_buffer);
}

static void on_read(uv_stream_t *h, ssize_t n, const uv_buf_t *b)
{
	struct edit *j = h->data;
	struct stream *s = (uv_pipe_t *)h == &j->out.pipe ? &j->out : &j->err;
	size_t room = s->max - s->text.n;

	if (n < 0) {
		close_stream(s);
		if (j->phase == ENDED && !j->out.open && !j->err.open)
			uv_timer_start(&j->timer, on_time, 0, 0);
	} else if (n > 0) {
		s->over |= (size_t)n > room;
		buf_add(&s->text, b->base, (size_t)n < room ? (size_t)n : room);
	}
}

/* ---- the beginning ---- */

/* Of the lines of a function, at most. */
static size_t text_size(const struct profile *p, const struct profile_func *f)
{
	size_t line = strlen(f->name) + PROFILETEXT_REST_MAX;
	size_t n = f->edge.n + f->predecessors.n, size, i;
	const struct profile_func *callee;

	for (i = 0; f->block && i < f->nblock; i++)
		n += f->block[i] > 0;
	size = n * line;
	for (i = 0; i < f->call.n; i++) {
		callee = profile_get(p, &f->call.v[i].callee);
		size += callee ? line + strlen(callee->name) + HASH_HEX : 0;
	}
	return size;
}

int edit_print_samples(
    const struct profile *p, double density, struct decay at, struct buf *out, struct err *e)
{
	size_t i, size = 0;

	for (i = 0; i < p->func.n; i++)
		size += text_size(p, &p->func.v[i]);
	if (size > EDIT_SAMPLES_MAX)
		return err_set(
		    e, "samples: their text may have more than %d bytes", EDIT_SAMPLES_MAX);
	profile_print(p, density, at, out);
	return 0;
}

static int samples_file(const struct edit_request *q, struct err *e)
{
	int fd;

	if (q->nsamples > EDIT_SAMPLES_MAX)
		return err_set(e, "samples: more than %d bytes", EDIT_SAMPLES_MAX);
	fd = memfd_create("samples", MFD_CLOEXEC);
	if (fd < 0 || file_write_all(fd, q->samples, q->nsamples) < 0) {
		err_sys(e, "samples");
		fd_close(&fd);
		return -1;
	}
	return fd;
}

static int start_job(struct edit *j, const struct edit_request *q, int out, int err, struct err *e)
{
	struct priv_job job = q->job;

	/* What a command of the policy says goes into one text. */
	job.out = j->kind >= PRIV_VERIFY && j->kind != PRIV_COUNT ? err : out;
	job.err = err;
	job.samples = -1;
	if (priv_takes_samples(j->kind)) {
		job.samples = samples_file(q, e);
		if (job.samples < 0)
			return -1;
	}
	j->task = priv_job(j->p, &job, ended, j, e);
	fd_close(&job.samples);
	return j->task ? 0 : -1;
}

static void watch_stream(struct edit *j, uv_loop_t *loop, struct stream *s, int fd, size_t max)
{
	s->max = max;
	s->open = true;
	uv_pipe_init(loop, &s->pipe, 0);
	s->pipe.data = j;
	j->handles++;
	uv_pipe_open(&s->pipe, fd);
	uv_read_start((uv_stream_t *)&s->pipe, give_buffer, on_read);
}

struct edit *edit_start(uv_loop_t *loop, struct priv *p, const struct edit_request *q,
    edit_done_fn *fn, void *arg, struct err *e)
{
	struct edit *j = xcalloc(1, sizeof *j);
	int out[2] = {-1, -1}, err[2] = {-1, -1}, r;

	*j = (struct edit){.p = p,
	    .kind = q->job.kind,
	    .fn = fn,
	    .arg = arg,
	    .deadline_s = q->deadline_s,
	    .left_s = q->deadline_s,
	    .ended_by = EDIT_DONE};
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		r = err_sys(e, "pipe");
	else
		r = start_job(j, q, out[1], err[1], e);
	fd_close(&out[1]);
	fd_close(&err[1]);
	if (!r) {
		watch_stream(j, loop, &j->out, out[0], EDIT_OUT_MAX);
		watch_stream(j, loop, &j->err, err[0], EDIT_ERR_MAX);
		uv_timer_init(loop, &j->timer);
		j->timer.data = j;
		j->handles++;
		start_clock(j);
		return j;
	}
	fd_close(&out[0]);
	fd_close(&err[0]);
	free(j);
	return NULL;
}

void edit_pause(struct edit *j, bool pause)
{
	if (j->phase != RUNNING || j->paused == pause)
		return;
	if (pause)
		stop_clock(j);
	j->paused = pause;
	signal_job(j, pause ? SIGSTOP : SIGCONT);
	if (pause)
		uv_timer_start(&j->timer, on_time, PAUSED_MAX_S * 1000, 0);
	else
		start_clock(j);
}

bool edit_paused(const struct edit *j)
{
	return j->paused;
}

void edit_cancel(struct edit *j)
{
	end(j, EDIT_CANCELLED);
}

double edit_cpu(const struct edit *j)
{
	return j->phase == ENDED ? -1 : priv_job_cpu(j->p, j->task);
}
