/*
 * Swaps and rollbacks, each in a process of its own: of an edit that this
 * parent saw through, or of a build it kept.
 */
#include "common/log.h"
#include "managerd/parent/holds.h"
#include "managerd/parent/swap/swap.h"
#include "managerd/parent/stages.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct swapping {
	const char *state;
	struct swap_order o;
};

static void do_swap(void *arg, struct worked *w)
{
	struct swapping *s = arg;

	w->status = (int32_t)swap_run(s->state, &s->o, &w->why);
}

static void swapped(struct parent *p, struct task *t, int status)
{
	struct worked w;
	struct err e;

	child_worked(&t->child, &w);
	if (w.status < 0 || w.status > SWAP_FAILED) {
		/* It died in the middle. */
		w.status = SWAP_FAILED;
		if (swap_recover_one(p->state, t->path, &e) < 0)
			log_error("%s; will be settled at the next start", e.text);
	}
	task_swapped(p, t, (enum swap_status)w.status, w.why.text);
}

bool task_is_swapping(const struct task *t)
{
	return t->then == swapped;
}

static void start(struct parent *p, struct task *t, const struct trusted *module, int source)
{
	enum { SWAP_WAIT_S = 3600 };
	struct swapping s = {p->state, {.module = module,
					   .source = source,
					   .rollback = t->kind == TASK_ROLLBACK,
					   .from = t->is,
					   .to = t->made,
					   .origin = t->origin,
					   .perf_links = p->conf->perf_links,
					   .keep = (unsigned)p->conf->keep_builds}};
	struct err e;

	t->then = swapped;
	if (child_work(&t->child, do_swap, &s, SWAP_WAIT_S, &e) < 0)
		task_failed(p, t, e.text);
}

bool task_swaps(const struct parent *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->task.n; i++)
		if ((p->task.v[i]->kind == TASK_SWAP || p->task.v[i]->kind == TASK_ROLLBACK) &&
		    !p->task.v[i]->reported && !strcmp(p->task.v[i]->path, path))
			return true;
	return false;
}

/* What the policy asks of an edit before its build may go in. */
static int may_go_in(struct parent *p, const struct task *edit, struct err *e)
{
	if (!edit || edit->kind != TASK_BUILD || !edit->built)
		return err_set(e, "refused: no edit that ended well");
	if (edit->policy != p->policy.reads)
		return err_set(
		    e, "refused: %s: the policy was read again since the edit began", edit->path);
	if (conf_verify_for(p->conf, edit->path) && !edit->verified)
		return err_set(e, "refused: %s: not verified as the policy wants it", edit->path);
	if (holds_have(p->state, edit->path))
		return err_set(
		    e, "refused: %s: was rolled back, and nobody asked for it since", edit->path);
	if (task_swaps(p, edit->path))
		return err_set(e, "refused: %s: a swap of it is under way", edit->path);
	return 0;
}

uint64_t task_swap(struct parent *p, uint64_t id, struct err *e)
{
	struct task *edit = task_find(p, id), *t;

	if (may_go_in(p, edit, e) < 0 || !(t = task_new(p, TASK_SWAP, edit->path, e)))
		return 0;
	t->edit = edit;
	t->is = edit->is;
	t->origin = edit->origin;
	t->made = edit->made;
	start(p, t, &edit->mod, edit->snapshot);
	return t->id;
}

/* What the module's owner built since, or a package brought, is not taken back. */
static void kept_known(struct parent *p, struct task *t, int status)
{
	struct inspect_head h;
	struct err e;

	if (task_answer(t, &h, &e) < 0)
		task_swapped(p, t, SWAP_FAILED, e.text);
	else if (!build_id_equal(&h.id, &t->made) || !build_id_equal(&h.origin, &t->origin))
		task_swapped(p, t, SWAP_CHANGED, "it was replaced by a rebuild or an upgrade");
	child_forget(&t->child);
	if (!t->reported)
		start(p, t, &t->mod, t->snapshot);
}

void task_rollback_start(struct parent *p, struct task *t)
{
	struct err e;

	t->snapshot = swap_open_kept(p->state, &t->mod, &t->made, &e);
	if (t->snapshot < 0)
		task_swapped(p, t, SWAP_FAILED, e.text);
	else if (build_id_equal(&t->is, &t->made))
		task_swapped(p, t, SWAP_CHANGED, "it is that build already");
	else
		task_inspect(p, t, INSPECT_MODULE, t->snapshot, -1, kept_known);
}

uint64_t task_rollback(struct parent *p, const char *path, const struct build_id *to, struct err *e)
{
	struct task *t;

	if (task_swaps(p, path)) {
		err_set(e, "refused: %s: a swap of it is under way", path);
		return 0;
	}
	t = task_new(p, TASK_ROLLBACK, path, e);
	if (!t)
		return 0;
	t->made = *to;
	task_find_begin(p, t);
	return t->id;
}
