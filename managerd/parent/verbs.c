/*
 * What the manager may ask for. Each verb checks the form of its arguments
 * first; what is not of it is refused without an inspection at the disk.
 */
#include "common/log.h"
#include "managerd/priv/frame.h"
#include "managerd/parent/trust/fault.h"
#include "managerd/parent/holds.h"
#include "managerd/parent/swap/swap.h"
#include "managerd/parent/task.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct call {
	struct parent *p;
	struct frame_in in;
	struct frame *f;
	struct buf result; /* after status and error in the reply */
	struct err e;
};

static int malformed(struct call *c)
{
	return err_set(&c->e, "refused: a request that is not of its verb's form");
}

/* A path that could be a module's, and nothing after it. */
static const char *only_path(struct call *c)
{
	const char *path = frame_get_str(&c->in);

	if (frame_whole(&c->in) && trust_plain_path(path))
		return path;
	malformed(c);
	return NULL;
}

/* The task that was begun, 0 = it was not. */
static int begun(struct call *c, uint64_t task)
{
	frame_u64(&c->result, task);
	return task ? 0 : -1;
}

static int do_stamp(struct call *c)
{
	const char *path = only_path(c);
	struct stat st;

	if (!path)
		return -1;
	if (trust_stat(path, &st) < 0)
		return err_sys(&c->e, "%s", path);
	frame_u64(&c->result, st.st_dev);
	frame_u64(&c->result, st.st_ino);
	frame_u64(&c->result, (uint64_t)st.st_size);
	frame_u64(&c->result, (uint64_t)(st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec));
	frame_u64(&c->result, (uint64_t)(st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec));
	return 0;
}

static int do_cpu(struct call *c)
{
	struct task *t = task_find(c->p, frame_get_u64(&c->in));

	if (!frame_whole(&c->in))
		return malformed(c);
	if (!t || t->kind > TASK_VERIFY || !t->child.pid)
		return 1;
	frame_u64(&c->result, task_cpu_us(t));
	return 0;
}

static int do_signal(struct call *c)
{
	uint64_t id = frame_get_u64(&c->in);
	int sig = (int)frame_get_u32(&c->in);
	struct task *t = task_find(c->p, id);

	if (!frame_whole(&c->in))
		return malformed(c);
	return t ? task_signal(t, sig, &c->e) : err_set(&c->e, "refused: no such task");
}

static int do_drop(struct call *c)
{
	struct task *t = task_find(c->p, frame_get_u64(&c->in));

	if (!frame_whole(&c->in))
		return malformed(c);
	if (t)
		task_drop(c->p, t);
	return 0;
}

static void forget_recovered(struct parent *p, const char *module)
{
	size_t i, n = 0;

	for (i = 0; i < p->recovered.n; i++)
		if (strcmp(p->recovered.v[i].module, module))
			p->recovered.v[n++] = p->recovered.v[i];
		else
			free((char *)p->recovered.v[i].module);
	p->recovered.n = n;
}

static int do_done(struct call *c)
{
	const char *path = only_path(c);

	if (!path)
		return -1;
	if (task_swaps(c->p, path))
		return err_set(&c->e, "refused: %s: a swap of it is under way", path);
	if (swap_done(c->p->state, path, &c->e) < 0)
		return -1;
	forget_recovered(c->p, path);
	return 0;
}

static int do_recovered(struct call *c)
{
	uint32_t i = frame_get_u32(&c->in);
	const struct swap_outcome *o;

	if (!frame_whole(&c->in))
		return malformed(c);
	if (i >= c->p->recovered.n)
		return 1;
	o = &c->p->recovered.v[i];
	frame_str(&c->result, o->module);
	frame_id(&c->result, &o->from);
	frame_id(&c->result, &o->to);
	frame_u32(&c->result, o->rollback);
	frame_u32(&c->result, o->end);
	return 0;
}

static int do_kept(struct call *c)
{
	enum { KEPT_MAX = 500 };
	const char *path = only_path(c);
	const struct swap_kept *kept;
	struct arena a = {0};
	size_t i, n;

	if (!path)
		return -1;
	n = swap_kept(c->p->state, path, &a, &kept);
	n = n < KEPT_MAX ? n : KEPT_MAX;
	frame_u32(&c->result, (uint32_t)n);
	for (i = 0; i < n; i++) {
		frame_id(&c->result, &kept[i].id);
		frame_u64(&c->result, kept[i].bytes);
		frame_u64(&c->result, (uint64_t)kept[i].since);
	}
	arena_free(&a);
	return 0;
}

static int do_hold(struct call *c)
{
	const char *path = frame_get_str(&c->in);
	bool held = frame_get_u32(&c->in) != 0;

	if (!frame_whole(&c->in) || !trust_plain_path(path))
		return malformed(c);
	return holds_set(c->p->state, path, held, &c->e);
}

static int do_held(struct call *c)
{
	const char *path = only_path(c);

	if (!path)
		return -1;
	frame_u32(&c->result, holds_have(c->p->state, path));
	return 0;
}

static int do_inspect(struct call *c)
{
	const char *path = frame_get_str(&c->in);
	struct build_id hint[2];
	unsigned how;

	hint[0] = frame_get_id(&c->in);
	hint[1] = frame_get_id(&c->in);
	how = frame_get_u32(&c->in);
	if (!frame_whole(&c->in))
		return malformed(c);
	return begun(c, task_inspect_path(c->p, path, hint, how, &c->e));
}

/* Two streams, and the samples where the job takes any. */
static bool right_fds(const struct call *c, const struct priv_job *j)
{
	unsigned want = j->kind == PRIV_BUILD || j->kind == PRIV_SCORE ? 3 : 2;

	return j->kind >= PRIV_BUILD && j->kind <= PRIV_VERIFY && c->f->nfd == want;
}

static int do_job(struct call *c)
{
	struct priv_job j = {.samples = -1};
	uint64_t task;

	j.kind = frame_get_u32(&c->in);
	j.module = frame_get_str(&c->in);
	j.edit = frame_get_u64(&c->in);
	j.id = frame_get_id(&c->in);
	j.origin = frame_get_id(&c->in);
	j.huge = frame_get_u32(&c->in) != 0;
	if (!frame_whole(&c->in) || !right_fds(c, &j))
		return malformed(c);
	j.out = c->f->fd[0];
	j.err = c->f->fd[1];
	if (c->f->nfd == 3)
		j.samples = c->f->fd[2];
	task = task_job(c->p, &j, &c->e);
	if (task)
		c->f->nfd = 0; /* they are the task's now */
	return begun(c, task);
}

static int do_swap(struct call *c)
{
	uint64_t edit = frame_get_u64(&c->in);

	return frame_whole(&c->in) ? begun(c, task_swap(c->p, edit, &c->e)) : malformed(c);
}

static int do_rollback(struct call *c)
{
	const char *path = frame_get_str(&c->in);
	struct build_id to = frame_get_id(&c->in);

	if (!frame_whole(&c->in) || !to.n)
		return malformed(c);
	return begun(c, task_rollback(c->p, path, &to, &c->e));
}

static int do_pages(struct call *c)
{
	const char *path = only_path(c);

	return path ? begun(c, task_pages(c->p, path, &c->e)) : -1;
}

static const struct {
	int (*fn)(struct call *c);
	unsigned fds; /* at most */
} VERB[FRAME_VERBS] = {
	[FRAME_STAMP] = {do_stamp, 0},
	[FRAME_CPU] = {do_cpu, 0},
	[FRAME_SIGNAL] = {do_signal, 0},
	[FRAME_DROP] = {do_drop, 0},
	[FRAME_DONE] = {do_done, 0},
	[FRAME_RECOVERED] = {do_recovered, 0},
	[FRAME_KEPT] = {do_kept, 0},
	[FRAME_HOLD] = {do_hold, 0},
	[FRAME_HELD] = {do_held, 0},
	[FRAME_INSPECT] = {do_inspect, 0},
	[FRAME_JOB] = {do_job, FRAME_FDS},
	[FRAME_SWAP] = {do_swap, 0},
	[FRAME_ROLLBACK] = {do_rollback, 0},
	[FRAME_PAGES] = {do_pages, 0},
};

static int dispatch(struct call *c, uint32_t verb)
{
	if (c->in.bad || verb >= FRAME_VERBS || !VERB[verb].fn)
		return err_set(&c->e, "refused: no such verb");
	if (c->f->nfd > VERB[verb].fds)
		return malformed(c);
	return VERB[verb].fn(c);
}

void parent_handle(struct parent *p, struct frame *f, struct buf *reply)
{
	struct call c = {.p = p, .f = f, .in = {.p = f->bytes, .end = f->bytes + f->n}};
	uint32_t verb = frame_get_u32(&c.in);
	int status = dispatch(&c, verb);

	frame_u32(reply, verb);
	frame_u32(reply, (uint32_t)status);
	frame_str(reply, status < 0 ? c.e.text : "");
	buf_add(reply, c.result.p, c.result.n);
	frame_close_fds(f);
	buf_free(&c.result);
	arena_free(&c.in.mem);
}
