/*
 * What the manager may ask for. The form of a request is checked first; what is not
 * of it is refused without an inspection at the disk.
 */
#include "common/publish.h"
#include "managerd/priv/verbs.h"
#include "managerd/parent/holds.h"
#include "managerd/parent/swap/swap.h"
#include "managerd/parent/task.h"

#include <stdlib.h>
#include <string.h>

struct call {
	struct parent *p;
	struct message q, a; /* asked, answered */
	struct frame *f;
	struct arena mem;
	struct err e;
};

static int malformed(struct call *c)
{
	return err_set(&c->e, "refused: a request that is not of its verb's form");
}

/* The task that was begun, 0 = it was not. */
static int begun(struct call *c, uint64_t task)
{
	c->a.task = task;
	return task ? 0 : -1;
}

static int do_stamp(struct call *c)
{
	struct stat st;

	if (trust_stat(c->q.path, &st) < 0)
		return err_sys(&c->e, "%s", c->q.path);
	c->a.stamp = task_stamp(&st);
	return 0;
}

static int do_cpu(struct call *c)
{
	struct task *t = task_find(c->p, c->q.task);

	if (!t || t->kind > TASK_COMMAND || !t->child.pid)
		return 1;
	c->a.amount = task_cpu_us(t);
	return 0;
}

static int do_signal(struct call *c)
{
	struct task *t = task_find(c->p, c->q.task);

	if (!t)
		return err_set(&c->e, "refused: no such task");
	return task_signal(t, (int)c->q.number, &c->e);
}

static int do_drop(struct call *c)
{
	struct task *t = task_find(c->p, c->q.task);

	if (t)
		task_drop(c->p, t);
	return 0;
}

static int do_done(struct call *c)
{
	struct swap_outcome *o = c->p->recovered.v;
	size_t i, n = 0, all = c->p->recovered.n;

	if (task_swaps(c->p, c->q.path))
		return err_set(&c->e, "refused: %s: a swap of it is under way", c->q.path);
	if (swap_done(c->p->state, c->q.path, &c->e) < 0)
		return -1;
	for (i = 0; i < all; i++)
		if (strcmp(o[i].module, c->q.path))
			o[n++] = o[i];
		else
			free((char *)o[i].module);
	c->p->recovered.n = n;
	return 0;
}

static int do_recovered(struct call *c)
{
	const struct swap_outcome *o;

	if (c->q.number >= c->p->recovered.n)
		return 1;
	o = &c->p->recovered.v[c->q.number];
	c->a = (struct message){.path = o->module,
	    .id = o->from,
	    .origin = o->to,
	    .flag = o->rollback,
	    .number = o->end};
	return 0;
}

static int do_kept(struct call *c)
{
	size_t n = swap_kept(c->p->state, c->q.path, &c->mem, &c->a.kept);

	c->a.nkept = n < KEPT_MAX ? n : KEPT_MAX;
	return 0;
}

static int do_hold(struct call *c)
{
	return holds_set(c->p->state, c->q.path, c->q.flag, &c->e);
}

static int do_held(struct call *c)
{
	c->a.flag = holds_have(c->p->state, c->q.path);
	return 0;
}

static int do_reload(struct call *c)
{
	if (policy_reload(c->p, &c->e))
		return -1;
	c->a.path = c->p->conf->path ? c->p->conf->path : "";
	return 0;
}

static int do_inspect(struct call *c)
{
	const struct build_id hint[] = {c->q.id, c->q.origin};

	return begun(c, task_inspect_path(c->p, c->q.path, hint, c->q.number, &c->e));
}

static int do_fetch(struct call *c)
{
	return begun(c, task_fetch(c->p, c->q.path, &c->e));
}

static int do_notify(struct call *c)
{
	if (c->q.number >= PRIV_EVENTS)
		return malformed(c);
	return task_notify(c->p, c->q.path, (enum priv_event)c->q.number, c->q.why, &c->e);
}

static int do_job(struct call *c)
{
	struct priv_job j = {.kind = c->q.number,
	    .module = c->q.path,
	    .edit = c->q.task,
	    .id = c->q.id,
	    .origin = c->q.origin,
	    .samples = -1,
	    .shapes = -1};
	bool carry = j.kind == PRIV_CARRY;
	uint64_t task;

	/* Two streams, and the samples where the job takes any. */
	if (j.kind < PRIV_BUILD || j.kind >= PRIV_JOBS ||
	    c->f->nfd != 2u + priv_takes_samples(j.kind) + carry)
		return malformed(c);
	j.out = c->f->fd[0];
	j.err = c->f->fd[1];
	if (c->f->nfd >= 3)
		j.samples = c->f->fd[2];
	if (c->f->nfd == 4)
		j.shapes = c->f->fd[3];
	task = task_job(c->p, &j, &c->e);
	if (task)
		c->f->nfd = 0; /* they are the task's now */
	return begun(c, task);
}

static int do_swap(struct call *c)
{
	return begun(c, task_swap(c->p, c->q.task, &c->e));
}

static int do_rollback(struct call *c)
{
	if (!c->q.id.n)
		return malformed(c);
	return begun(c, task_rollback(c->p, c->q.path, &c->q.id, &c->e));
}

static int dispatch(struct call *c, uint32_t verb, struct frame_in *in)
{
	static int (*const handler[FRAME_VERBS])(struct call *) = {
#define V(verb, handler, request, answer, fds) [FRAME_##verb] = do_##handler,
	    VERBS(V)
#undef V
	};
	const struct verb *v = in->bad ? NULL : verb_row(verb);

	if (!v)
		return err_set(&c->e, "refused: no such verb");
	/* Of its form, and where that says so a path that could be a module's. */
	if (c->f->nfd > v->fds || !message_get(in, v->request, &c->q) ||
	    (strchr(v->request, 'p') && !path_is_plain(c->q.path)))
		return malformed(c);
	return handler[verb](c);
}

void parent_handle(struct parent *p, struct frame *f, struct buf *reply)
{
	struct frame_in in = {.p = f->bytes, .end = f->bytes + f->n};
	struct call c = {.p = p, .f = f};
	uint32_t verb = frame_get_u32(&in);
	int status = dispatch(&c, verb, &in);

	frame_u32(reply, verb);
	frame_u32(reply, (uint32_t)status);
	frame_str(reply, status < 0 ? c.e.text : "");
	if (!status)
		message_put(reply, verb_row(verb)->answer, &c.a);
	frame_close_fds(f);
	arena_free(&c.mem);
	arena_free(&in.mem);
}
