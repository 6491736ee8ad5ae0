#include "managerd/simulate/parent.h"
#include "common/log.h"
#include "common/publish.h"
#include "managerd/samples/map.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK_BYTES = 16 };

struct task {
	uint64_t id;
	enum { INSPECT, JOB, SWAP } what;
	size_t file;
	enum priv_job_kind kind;
	struct layout *made; /* of a BUILD, and to be swapped in */
	struct buf answer, data;
	char *error;
	int out, err;
	double left_s, used_s;   /* CPU time */
	int status;              /* as of waitpid(2) */
	bool paused, done, over; /* over: its callback was called */
	union {
		priv_inspected_fn *inspected;
		priv_ended_fn *ended;
		priv_swapped_fn *swapped;
	} fn;
	void *arg;
};

struct priv {
	int epoll, event;
	struct parent_ops ops;
	VEC(struct parent_file) file;
	VEC(struct task *) task;
	uint64_t last;
};

struct priv *parent_new(const struct parent_ops *ops)
{
	struct priv *p = xcalloc(1, sizeof *p);

	p->ops = *ops;
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	p->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->event, &(struct epoll_event){.events = EPOLLIN});
	return p;
}

struct parent_file *parent_add(struct priv *p, struct subject *s)
{
	vec_push(&p->file, (struct parent_file){.subject = s, .present = s->layout.v[0]});
	return &p->file.v[p->file.n - 1];
}

struct parent_file *parent_file(struct priv *p, size_t file)
{
	return &p->file.v[file];
}

/* The index of a file; file.n: there is none. */
static size_t find(const struct priv *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->file.n && (!path || strcmp(p->file.v[i].subject->path, path)); i++)
		;
	return i;
}

/* ---- tasks ---- */

static void ring(struct priv *p)
{
	eventfd_write(p->event, 1);
}

static struct task *begin(struct priv *p, int what, size_t file, void *arg)
{
	struct task *t = xcalloc(1, sizeof *t);

	t->id = ++p->last;
	t->what = what;
	t->file = file;
	t->out = t->err = -1;
	t->arg = arg;
	vec_push(&p->task, t);
	return t;
}

static void forget(struct priv *p, struct task *t)
{
	size_t i, n = 0;

	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i] != t)
			p->task.v[n++] = p->task.v[i];
	p->task.n = n;
	fd_close(&t->out);
	fd_close(&t->err);
	buf_free(&t->answer);
	buf_free(&t->data);
	free(t->error);
	free(t);
}

static struct task *task_of(const struct priv *p, uint64_t id)
{
	size_t i;

	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->id == id)
			return p->task.v[i];
	return NULL;
}

void priv_close(struct priv *p)
{
	while (p->task.n)
		forget(p, p->task.v[0]);
	vec_free(&p->task);
	vec_free(&p->file);
	close(p->event);
	close(p->epoll);
	free(p);
}

static bool runs(const struct task *t)
{
	return t->what == JOB && !t->done && !t->paused;
}

double parent_next(const struct priv *p)
{
	double next = INFINITY;
	size_t i;

	for (i = 0; i < p->task.n; i++)
		if (runs(p->task.v[i]))
			next = fmin(next, p->task.v[i]->left_s);
	return next;
}

double parent_pass(struct priv *p, double seconds)
{
	double all = 0, used;
	struct task *t;
	size_t i;

	for (i = 0; i < p->task.n; i++) {
		t = p->task.v[i];
		if (!runs(t))
			continue;
		used = fmin(seconds, t->left_s);
		t->left_s -= used;
		t->used_s += used;
		all += used;
		p->ops.worked(t->file, used, p->ops.arg);
		if (t->left_s <= 1e-9) {
			t->done = true;
			ring(p);
		}
	}
	return all;
}

void parent_rebuilt(struct priv *p, size_t file)
{
	struct parent_file *f = &p->file.v[file];
	size_t i;

	f->present = f->subject->layout.v[0];
	f->ino++;
	/* What was made of the program before is of no use. */
	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->file == file)
			p->task.v[i]->made = NULL;
}

/* ---- what files are ---- */

/* A block every 16 bytes, in every layout. */
static void describe(
    const struct parent_file *f, const struct build_id *id, struct buf *table, struct buf *map)
{
	const struct subject *s = f->subject;
	struct blockmap m = {.id = *id};
	struct map_table t = {0};
	struct profile p;
	uint32_t i, b, slot = 0, at;

	if (!build_id_equal(id, &s->origin))
		m.origin = s->origin;
	vec_push(&m.seg, (struct elf_segment){0, 0, (uint64_t)s->nslot * BLOCK_BYTES});
	subject_profile(s, &p);
	for (i = 0; i < p.func.n; i++) {
		map_table_add(&t, &(struct map_func){.key = p.func.v[i].key,
				      .tu = 1,
				      .ord = i,
				      .nblock = p.func.v[i].nblock,
				      .name = p.func.v[i].name,
				      .tu_name = p.func.v[i].tu,
				      .opaque = p.func.v[i].opaque});
		vec_push(&m.frag, (struct bm_frag){.addr = (uint64_t)slot * BLOCK_BYTES,
				      .tu = 1,
				      .size = p.func.v[i].nblock * BLOCK_BYTES,
				      .func = i,
				      .first = slot,
				      .n = p.func.v[i].nblock});
		for (b = 0; b < p.func.v[i].nblock; b++, slot++) {
			at = slot * BLOCK_BYTES;
			vec_push(&m.block, (struct bm_block){at, BLOCK_BYTES, b, i});
		}
	}
	if (map_table_end(&t, NULL))
		die(1, "%s: its functions are no table", s->program->name);
	if (table)
		map_table_encode(&t, table);
	blockmap_encode(&m, map);
	map_table_free(&t);
	blockmap_free(&m);
	profile_free(&p);
}

static void end_inspection(struct priv *p, struct task *t)
{
	struct priv_inspected r = {
	    .status = PRIV_GONE, .why = "No such file", .artifact = "", .refused = ""};
	priv_inspected_fn *fn = t->fn.inspected;
	struct buf table = {0}, map = {0};
	const struct parent_file *f;
	void *arg = t->arg;

	if (t->file < p->file.n) {
		f = &p->file.v[t->file];
		describe(f, &f->present->id, &table, &map);
		r = (struct priv_inspected){.why = "",
		    .id = f->present->id,
		    .origin = f->subject->origin,
		    .uid = geteuid(),
		    .bytes = 1 << 20,
		    .stamp.ino = f->ino,
		    .artifact = "/simulated",
		    .refused = "",
		    .table = table.p,
		    .ntable = table.n,
		    .map = map.p,
		    .nmap = map.n};
	}
	forget(p, t);
	fn(&r, arg);
	buf_free(&table);
	buf_free(&map);
}

/* ---- jobs ---- */

static struct blob blob_of(const struct buf *b)
{
	int fd = memfd_create("blob", MFD_CLOEXEC);
	struct blob blob = {0};

	if (fd >= 0 && !file_write_all(fd, b->p, b->n))
		blob = blob_of_fd(fd);
	fd_close(&fd);
	return blob;
}

static void say(int fd, const char *p, size_t n)
{
	if (fd >= 0 && n && file_write_all(fd, p, n))
		log_warn("an answer of a job is lost");
}

static void end_job(struct priv *p, struct task *t)
{
	const struct parent_file *f = &p->file.v[t->file];
	bool cut = t->kind == PRIV_BUILD && !t->status && !t->made;
	struct priv_ended r = {.why = cut ? "the program was built again meanwhile" : "",
	    .later = cut,
	    .status = t->status,
	    .cpu_s = t->used_s};
	priv_ended_fn *fn = t->fn.ended;
	struct blob blob;

	t->over = true;
	if (t->made && !t->status) {
		r.id = t->made->id;
		r.origin = f->subject->origin;
		describe(f, &r.id, NULL, &t->data);
	}
	blob = blob_of(&t->data);
	r.blob = &blob;
	if (!t->status)
		say(t->out, t->answer.p, t->answer.n);
	if (t->error)
		say(t->err, t->error, strlen(t->error));
	fd_close(&t->out);
	fd_close(&t->err);
	fn(&r, t->arg);
	blob_free(&blob);
}

static void read_samples(int fd, struct buf *out)
{
	char path[32];
	struct err e;

	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	if (file_read(path, 0, out, &e))
		die(1, "%s", e.text);
}

/* All that will be said when its time is over. */
static void work_out(struct priv *p, struct task *t, const struct buf *samples)
{
	struct parent_file *f = &p->file.v[t->file];
	struct subject *s = f->subject;
	struct err e;
	int rc = 0;

	t->left_s = t->kind == PRIV_BUILD ? s->program->edit_s : s->program->score_s;
	if (t->kind == PRIV_SCORE)
		rc = subject_ask(s, f->present, samples, NULL, &t->answer, &e);
	else if (t->kind == PRIV_BUILD)
		rc = subject_ask(s, f->present, samples, &t->made, &t->answer, &e);
	else if (t->kind == PRIV_CARRY)
		subject_carry(s, samples, &t->data);
	else if (t->kind == PRIV_SHAPES)
		buf_str(&t->data, "shapes");
	else
		rc = err_set(&e, "not in a simulation");
	if (rc) {
		t->status = 1 << 8;
		t->error = xstrdup(e.text);
	}
}

uint64_t priv_job(
    struct priv *p, const struct priv_job *j, priv_ended_fn *fn, void *arg, struct err *e)
{
	size_t file = find(p, j->module);
	struct buf samples = {0};
	struct task *t;

	if (file == p->file.n) {
		err_set(e, "there is no such program");
		return 0;
	}
	t = begin(p, JOB, file, arg);
	t->fn.ended = fn;
	t->kind = j->kind;
	t->out = fcntl(j->out, F_DUPFD_CLOEXEC, 3);
	t->err = fcntl(j->err, F_DUPFD_CLOEXEC, 3);
	if (j->samples >= 0)
		read_samples(j->samples, &samples);
	work_out(p, t, &samples);
	buf_free(&samples);
	return t->id;
}

double priv_job_cpu(struct priv *p, uint64_t task)
{
	const struct task *t = task_of(p, task);

	return t && !t->over ? t->used_s : -1;
}

int priv_signal(struct priv *p, uint64_t task, int sig, struct err *e)
{
	struct task *t = task_of(p, task);

	if (!t || t->over)
		return 0;
	if (sig == SIGSTOP || sig == SIGCONT) {
		t->paused = sig == SIGSTOP;
		return 0;
	}
	t->status = sig;
	t->done = true;
	ring(p);
	return 0;
}

void priv_drop(struct priv *p, uint64_t task)
{
	struct task *t = task_of(p, task);

	if (t)
		forget(p, t);
}

/* ---- swaps ---- */

static void end_swap(struct priv *p, struct task *t)
{
	struct parent_file *f = &p->file.v[t->file];
	struct priv_swapped r = {.why = "", .from = f->present->id};
	priv_swapped_fn *fn = t->fn.swapped;
	void *arg = t->arg;

	if (t->made) {
		r.to = t->made->id;
		f->present = t->made;
		f->ino++;
		p->ops.swapped(t->file, t->made, p->ops.arg);
	} else {
		r.status = SWAP_CHANGED;
		r.why = "the program was built again meanwhile";
	}
	forget(p, t);
	fn(&r, arg);
}

uint64_t priv_swap(struct priv *p, uint64_t edit, priv_swapped_fn *fn, void *arg, struct err *e)
{
	const struct task *build = task_of(p, edit);
	struct task *t = begin(p, SWAP, build->file, arg);

	t->fn.swapped = fn;
	t->made = build->made;
	ring(p);
	return t->id;
}

uint64_t priv_rollback(struct priv *p, const char *module, const struct build_id *to,
    priv_swapped_fn *fn, void *arg, struct err *e)
{
	size_t file = find(p, module), i;
	struct subject *s = p->file.v[file].subject;
	struct task *t;

	for (i = 0; i < s->layout.n; i++)
		if (build_id_equal(&s->layout.v[i]->id, to)) {
			t = begin(p, SWAP, file, arg);
			t->fn.swapped = fn;
			t->made = s->layout.v[i];
			ring(p);
			return t->id;
		}
	err_set(e, "there is no such build");
	return 0;
}

/* ---- events ---- */

int priv_events(const struct priv *p)
{
	return p->epoll;
}

/* Those that are there now; what comes of them takes its turn later. */
void priv_dispatch(struct priv *p)
{
	VEC(uint64_t) now = {0};
	struct task *t;
	eventfd_t n;
	size_t i;

	eventfd_read(p->event, &n);
	for (i = 0; i < p->task.n; i++)
		vec_push(&now, p->task.v[i]->id);
	for (i = 0; i < now.n; i++) {
		t = task_of(p, now.v[i]);
		if (!t || t->over)
			continue;
		if (t->what == INSPECT)
			end_inspection(p, t);
		else if (t->what == SWAP)
			end_swap(p, t);
		else if (t->done)
			end_job(p, t);
	}
	vec_free(&now);
}

uint64_t priv_inspect(struct priv *p, const char *path, const struct build_id hint[2], unsigned how,
    priv_inspected_fn *fn, void *arg, struct err *e)
{
	struct task *t = begin(p, INSPECT, find(p, path), arg);

	t->fn.inspected = fn;
	ring(p);
	return t->id;
}

/* ---- short answers ---- */

int priv_stamp(struct priv *p, const char *path, struct priv_stamp *out)
{
	size_t file = find(p, path);

	if (file == p->file.n)
		return -1;
	*out = (struct priv_stamp){.ino = p->file.v[file].ino};
	return 0;
}

bool priv_stamp_equal(const struct priv_stamp *a, const struct priv_stamp *b)
{
	return a->ino == b->ino;
}

int priv_swap_done(struct priv *p, const char *module, struct err *e)
{
	return 0;
}

int priv_recovered(
    struct priv *p, void (*fn)(const struct swap_outcome *o, void *arg), void *arg, struct err *e)
{
	return 0;
}

/* All of a program's layouts are kept. */
size_t priv_kept(struct priv *p, const char *module, struct arena *a, const struct swap_kept **out)
{
	size_t file = find(p, module), i, n = 0;
	const struct subject *s = file < p->file.n ? p->file.v[file].subject : NULL;
	struct swap_kept *k = arena_array(a, s ? s->layout.n : 0, sizeof *k);

	for (i = 0; s && i < s->layout.n; i++)
		if (s->layout.v[i] != p->file.v[file].present)
			k[n++].id = s->layout.v[i]->id;
	*out = k;
	return n;
}

int priv_hold(struct priv *p, const char *module, bool held, struct err *e)
{
	size_t file = find(p, module);

	if (file < p->file.n)
		p->file.v[file].held = held;
	return 0;
}

bool priv_held(struct priv *p, const char *module)
{
	size_t file = find(p, module);

	return file < p->file.n && p->file.v[file].held;
}

int priv_notify(
    struct priv *p, const char *module, enum priv_event event, const char *text, struct err *e)
{
	return 0;
}

uint64_t priv_fetch(
    struct priv *p, const char *module, priv_fetched_fn *fn, void *arg, struct err *e)
{
	err_set(e, "not in a simulation");
	return 0;
}

int priv_reload(struct priv *p, const char **path, struct err *e)
{
	return err_set(e, "not in a simulation");
}
