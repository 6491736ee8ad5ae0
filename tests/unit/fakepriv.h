/*
 * A privileged parent that does as the test says: files are what fake_file()
 * makes of them, a job is a shell script with the samples as its descriptor 3,
 * a swap makes the file's build-id that of the build. Define it before what
 * would have the linker take managerd/priv.o.
 */
#include "common/artifact/artifact.h"
#include "common/publish.h"
#include "managerd/samples/map.h"
#include "managerd/parent/procs.h"
#include "managerd/priv/priv.h"
#include "tests/unit/memblob.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct fake_file {
	char *path;
	struct priv_inspected inspection; /* what an inspection says; its strings are the test's */
	struct buf table, map;
	struct priv_stamp stamp;
	bool held;
	unsigned inspections, shallow, judged, swaps; /* how often */
};

struct fake_task {
	uint64_t id;
	enum { FAKE_INSPECT, FAKE_JOB, FAKE_SWAP } what;
	struct fake_file *file;
	struct build_id to;
	struct priv_job job;
	pid_t pid;
	int pidfd;
	bool seen; /* in a turn before this one */
	bool over; /* and its callback was called */
	union {
		priv_inspected_fn *inspected;
		priv_ended_fn *ended;
		priv_swapped_fn *swapped;
	} fn;
	void *arg;
};

struct priv {
	int epoll, event;
	VEC(struct fake_file *) file;
	VEC(struct fake_task *) task;
	uint64_t last;
	bool slow;                         /* inspections wait for fake_answer() */
	const struct priv_inspected *past; /* the next inspection says this, as of before */
	unsigned at_once;                  /* inspections that waited at most */
	unsigned refuse;                   /* so many requests fail */
	unsigned refuse_jobs;              /* of them, those for a job */
	const char *script;
	const char *count, *restart; /* scripts of a service, NULL = that one */
	unsigned restarts;           /* that were asked for */
	const char *why;             /* jobs end with this, and `later` */
	bool later;
	struct build_id built; /* what a build comes to */
	enum swap_status swap; /* what a swap comes to */
	double ratio;          /* CPU time of the new build by the old one's, in a benchmark */
	unsigned done;         /* priv_swap_done() */
	unsigned notified[PRIV_EVENTS];
	char notice[256]; /* the last one's text */
	struct {
		unsigned n; /* how often */
		const char *module;
		priv_fetched_fn *fn;
		void *arg;
	} fetch;
};

static struct priv *fake_new(void)
{
	struct priv *p = xcalloc(1, sizeof *p);

	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	p->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->event, &(struct epoll_event){.events = EPOLLIN});
	return p;
}

static void fake_task_free(struct fake_task *t)
{
	if (t->pid > 0 && !t->over) {
		kill(-t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
	}
	if (t->pidfd > 0)
		close(t->pidfd);
	free(t);
}

void priv_close(struct priv *p)
{
	size_t i;

	for (i = 0; i < p->task.n; i++)
		fake_task_free(p->task.v[i]);
	for (i = 0; i < p->file.n; i++) {
		free(p->file.v[i]->path);
		buf_free(&p->file.v[i]->table);
		buf_free(&p->file.v[i]->map);
		free(p->file.v[i]);
	}
	vec_free(&p->task);
	vec_free(&p->file);
	close(p->event);
	close(p->epoll);
	free(p);
}

static struct fake_file *fake_find(struct priv *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->file.n; i++)
		if (!strcmp(p->file.v[i]->path, path))
			return p->file.v[i];
	return NULL;
}

/* A file at a path with this owner and one byte of build-id, and no artifact. */
__attribute__((unused)) static struct fake_file *fake_file(
    struct priv *p, const char *path, uid_t uid, uint8_t id)
{
	struct fake_file *f = fake_find(p, path);

	if (!f) {
		f = xcalloc(1, sizeof *f);
		f->path = xstrdup(path);
		vec_push(&p->file, f);
	}
	f->stamp.ino++;
	f->inspection = (struct priv_inspected){.status = PRIV_NO_ARTIFACT,
	    .why = "there is no artifact",
	    .id = {1, {id}},
	    .origin = {1, {id}},
	    .uid = uid,
	    .bytes = 4096,
	    .artifact = "",
	    .refused = ""};
	return f;
}

/* … with an artifact: functions of two blocks each, of 16 bytes, from offset 0. The first were not
 * lifted, since they had no samples. */
static void fake_lifted(struct fake_file *f, uint32_t nfunc, uint32_t unsampled)
{
	struct blockmap map = {.id = f->inspection.id};
	struct map_table t = {0};
	uint32_t i, k, n;
	uint64_t tu;

	vec_push(&map.seg, (struct elf_segment){0, 0, nfunc * 32});
	for (i = 0; i < nfunc; i++) {
		n = i < unsampled ? 1 : 2;
		tu = n;
		map_table_add(&t, &(struct map_func){.key = hash_bytes(&i, n * 2),
				      .tu = tu,
				      .ord = i,
				      .nblock = n,
				      .name = "f",
				      .tu_name = "a.c",
				      .opaque = n == 1 ? ART_UNSAMPLED : NULL});
		vec_push(&map.frag, (struct bm_frag){.addr = i * 32,
					.tu = tu,
					.size = 32,
					.func = i,
					.first = (uint32_t)map.block.n,
					.n = n});
		for (k = 0; k < n; k++)
			vec_push(&map.block, (struct bm_block){i * 32 + k * 16, 32 / n, k, i});
	}
	ck_assert_int_eq(map_table_end(&t, NULL), 0);
	f->table.n = f->map.n = 0;
	map_table_encode(&t, &f->table);
	blockmap_encode(&map, &f->map);
	f->inspection.status = PRIV_FOLLOWED;
	f->inspection.why = "";
	f->inspection.artifact = "/x.morph";
	f->inspection.table = f->table.p;
	f->inspection.ntable = f->table.n;
	f->inspection.map = f->map.p;
	f->inspection.nmap = f->map.n;
	map_table_free(&t);
	blockmap_free(&map);
}

__attribute__((unused)) static void fake_artifact(struct fake_file *f, uint32_t nfunc)
{
	fake_lifted(f, nfunc, 0);
}

/* ---- tasks ---- */

static void fake_ring(struct priv *p)
{
	ck_assert_int_eq(eventfd_write(p->event, 1), 0);
}

static struct fake_task *fake_begin(struct priv *p, int what, void *arg)
{
	struct fake_task *t = xcalloc(1, sizeof *t);

	t->id = ++p->last;
	t->what = what;
	t->arg = arg;
	vec_push(&p->task, t);
	return t;
}

static void fake_forget(struct priv *p, struct fake_task *t)
{
	size_t i, n = 0;

	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i] != t)
			p->task.v[n++] = p->task.v[i];
	p->task.n = n;
	fake_task_free(t);
}

static struct fake_task *fake_task(struct priv *p, uint64_t id)
{
	size_t i;

	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->id == id)
			return p->task.v[i];
	return NULL;
}

static bool fake_refuses(struct priv *p, struct err *e)
{
	if (!p->refuse)
		return false;
	p->refuse--;
	err_set(e, "the parent says no");
	return true;
}

static void fake_end_inspection(struct priv *p, struct fake_task *t)
{
	struct priv_inspected gone = {
	    .status = PRIV_GONE, .why = "No such file", .artifact = "", .refused = ""};
	priv_inspected_fn *fn = t->fn.inspected;
	struct fake_file *f = t->file;
	const struct priv_inspected *r = f ? &f->inspection : &gone;
	void *arg = t->arg;

	fake_forget(p, t);
	if (f)
		f->inspection.stamp = f->stamp;
	if (p->past)
		r = p->past;
	p->past = NULL;
	fn(r, arg);
}

static void fake_end_swap(struct priv *p, struct fake_task *t)
{
	struct priv_swapped r = {.status = p->swap,
	    .why = p->swap ? "no swap today" : "",
	    .from = t->file->inspection.id,
	    .to = t->to};
	priv_swapped_fn *fn = t->fn.swapped;
	void *arg = t->arg;

	if (p->swap == SWAP_OK) {
		t->file->inspection.id = t->to;
		t->file->stamp.ino++;
		t->file->swaps++;
	}
	fake_forget(p, t);
	fn(&r, arg);
}

static void fake_end_job(struct priv *p, struct fake_task *t)
{
	struct blob b = {0};
	struct priv_ended r = {.why = p->why ? p->why : "", .later = p->later, .blob = &b};
	priv_ended_fn *fn = t->fn.ended;
	void *arg = t->arg;

	if (waitpid(t->pid, &r.status, WNOHANG) != t->pid)
		return;
	kill(-t->pid, SIGKILL);
	epoll_ctl(p->epoll, EPOLL_CTL_DEL, t->pidfd, NULL);
	t->over = true;
	if (t->job.kind == PRIV_BUILD && t->file && !r.status) {
		r.id = p->built;
		r.origin = t->file->inspection.origin;
		b = memblob(t->file->map.p, t->file->map.n);
		t->to = p->built;
	} else if (t->job.kind == PRIV_TABLE)
		b = memblob("junk", 4);
	if (t->job.kind == PRIV_MEASURE_OLD || t->job.kind == PRIV_MEASURE_NEW)
		r.cpu_s = (t->job.kind == PRIV_MEASURE_NEW ? p->ratio : 1) *
			  (1 + 0.01 * (double)(p->last * 2654435761u % 16));
	if (t->job.kind != PRIV_BUILD)
		fake_forget(p, t);
	fn(&r, arg);
	blob_free(&b);
}

int priv_events(const struct priv *p)
{
	return p->epoll;
}

/* Ends those that are there now; what comes of them takes its turn later. However short a job, a
 * turn ends between its begin and its end. */
void priv_dispatch(struct priv *p)
{
	uint64_t last = p->last, id;
	struct fake_task *t;
	eventfd_t n;

	eventfd_read(p->event, &n);
	for (id = 1; id <= last; id++) {
		t = fake_task(p, id);
		if (!t || t->over)
			continue;
		if (t->what == FAKE_SWAP)
			fake_end_swap(p, t);
		else if (t->what == FAKE_JOB && t->seen)
			fake_end_job(p, t);
		else if (t->what == FAKE_JOB)
			t->seen = true;
		else if (!p->slow)
			fake_end_inspection(p, t);
	}
}

/* Ends one inspection that waits: the path's, or any. */
__attribute__((unused)) static bool fake_answer(struct priv *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->what == FAKE_INSPECT &&
		    (!path || !strcmp(p->task.v[i]->file->path, path))) {
			fake_end_inspection(p, p->task.v[i]);
			return true;
		}
	return false;
}

uint64_t priv_inspect(struct priv *p, const char *path, const struct build_id hint[2], unsigned how,
    priv_inspected_fn *fn, void *arg, struct err *e)
{
	struct fake_task *t;
	unsigned n = 0;
	size_t i;

	if (fake_refuses(p, e))
		return 0;
	t = fake_begin(p, FAKE_INSPECT, arg);
	t->fn.inspected = fn;
	t->file = fake_find(p, path);
	if (t->file) {
		t->file->inspections++;
		t->file->shallow += how & PRIV_SHALLOW;
		t->file->judged += (how & PRIV_JUDGE) != 0;
	}
	for (i = 0; i < p->task.n; i++)
		n += p->task.v[i]->what == FAKE_INSPECT;
	p->at_once = n > p->at_once ? n : p->at_once;
	fake_ring(p);
	return t->id;
}

uint64_t priv_job(
    struct priv *p, const struct priv_job *j, priv_ended_fn *fn, void *arg, struct err *e)
{
	struct fake_task *t;
	const char *script = j->kind == PRIV_COUNT && p->count       ? p->count
			     : j->kind == PRIV_RESTART && p->restart ? p->restart
								     : p->script;
	int sync[2];

	p->restarts += j->kind == PRIV_RESTART;
	if (p->refuse_jobs) {
		p->refuse_jobs--;
		p->refuse++;
	}
	if (fake_refuses(p, e))
		return 0;
	t = fake_begin(p, FAKE_JOB, arg);
	t->fn.ended = fn;
	t->job = *j;
	t->file = j->module ? fake_find(p, j->module) : NULL;
	ck_assert_int_eq(pipe(sync), 0);
	t->pid = fork();
	if (t->pid == 0) {
		signal(SIGTERM, SIG_DFL); /* check's would end the test, too */
		setsid();
		close(sync[0]);
		close(sync[1]);
		dup2(j->out, 1);
		dup2(j->err, 2);
		if (j->samples >= 0 && j->samples != 3)
			dup2(j->samples, 3);
		else if (j->samples < 0)
			close(3);
		lseek(3, 0, SEEK_SET);
		execl("/bin/sh", "sh", "-c", script, "sh", NULL);
		_exit(127);
	}
	close(sync[1]);
	ck_assert_int_eq(read(sync[0], sync, 1), 0); /* it has its session */
	close(sync[0]);
	t->pidfd = pidfd_open(t->pid, 0);
	epoll_ctl(p->epoll, EPOLL_CTL_ADD, t->pidfd, &(struct epoll_event){.events = EPOLLIN});
	return t->id;
}

/* Its callback is the test's to call. */
uint64_t priv_fetch(
    struct priv *p, const char *module, priv_fetched_fn *fn, void *arg, struct err *e)
{
	if (fake_refuses(p, e))
		return 0;
	p->fetch.n++;
	p->fetch.module = module;
	p->fetch.fn = fn;
	p->fetch.arg = arg;
	return ++p->last;
}

double priv_job_cpu(struct priv *p, uint64_t task)
{
	struct fake_task *t = fake_task(p, task);

	return t && !t->over ? procs_session_cpu(t->pid) : -1;
}

int priv_signal(struct priv *p, uint64_t task, int sig, struct err *e)
{
	struct fake_task *t = fake_task(p, task);

	if (t && !t->over)
		kill(-t->pid, sig);
	return 0;
}

void priv_drop(struct priv *p, uint64_t task)
{
	struct fake_task *t = fake_task(p, task);

	if (t)
		fake_forget(p, t);
}

/* ---- the rest ---- */

int priv_stamp(struct priv *p, const char *path, struct priv_stamp *out)
{
	struct fake_file *f = fake_find(p, path);

	if (!f || f->inspection.status == PRIV_GONE)
		return -1;
	*out = f->stamp;
	return 0;
}

bool priv_stamp_equal(const struct priv_stamp *a, const struct priv_stamp *b)
{
	return a->ino == b->ino;
}

uint64_t priv_swap(struct priv *p, uint64_t edit, priv_swapped_fn *fn, void *arg, struct err *e)
{
	struct fake_task *build = fake_task(p, edit), *t;

	ck_assert_ptr_nonnull(build);
	t = fake_begin(p, FAKE_SWAP, arg);
	t->fn.swapped = fn;
	t->file = build->file;
	t->to = build->to;
	fake_ring(p);
	return t->id;
}

uint64_t priv_rollback(struct priv *p, const char *module, const struct build_id *to,
    priv_swapped_fn *fn, void *arg, struct err *e)
{
	struct fake_task *t;

	if (fake_refuses(p, e))
		return 0;
	t = fake_begin(p, FAKE_SWAP, arg);
	t->fn.swapped = fn;
	t->file = fake_find(p, module);
	t->to = *to;
	fake_ring(p);
	return t->id;
}

int priv_swap_done(struct priv *p, const char *module, struct err *e)
{
	p->done++;
	return 0;
}

int priv_recovered(
    struct priv *p, void (*fn)(const struct swap_outcome *o, void *arg), void *arg, struct err *e)
{
	return 0;
}

/* The original, once it was swapped. */
size_t priv_kept(struct priv *p, const char *module, struct arena *a, const struct swap_kept **out)
{
	struct fake_file *f = fake_find(p, module);
	struct swap_kept *k = arena_array(a, 1, sizeof *k);

	*out = k;
	if (!f || !f->swaps || build_id_equal(&f->inspection.id, &f->inspection.origin))
		return 0;
	k->id = f->inspection.origin;
	return 1;
}

int priv_notify(
    struct priv *p, const char *module, enum priv_event event, const char *text, struct err *e)
{
	p->notified[event]++;
	snprintf(p->notice, sizeof p->notice, "%s", text);
	return 0;
}

int priv_hold(struct priv *p, const char *module, bool held, struct err *e)
{
	struct fake_file *f = fake_find(p, module);

	if (f)
		f->held = held;
	return 0;
}

int priv_reload(struct priv *p, const char **path, struct err *e)
{
	return err_set(e, "this parent has no policy");
}

bool priv_held(struct priv *p, const char *module)
{
	struct fake_file *f = fake_find(p, module);

	return f && f->held;
}
