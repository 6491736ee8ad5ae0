#include "managerd/cycle/learning.h"
#include "common/log.h"
#include "managerd/os/pool.h"

#include <stdlib.h>
#include <string.h>

/* An inspection that has ended, and what the pool makes of it. */
struct learn {
	struct learning *of;
	struct inspection inspection;
	struct priv_inspected r; /* path, strings and blobs are its own, in mem */
	struct arena mem;
	struct joined j;
	struct err why;
	int rc; /* of module_join() */
};

static bool is_learning(const struct learning *l, const char *path)
{
	size_t i;

	for (i = 0; i < l->learn.n; i++)
		if (!strcmp(l->learn.v[i]->inspection.path, path))
			return true;
	return false;
}

bool learning_inspect(struct learning *l, const struct store_module *row)
{
	if (l->core->stopping)
		return false;
	/* A later inspection might be learned from before. */
	if (is_learning(l, row->path))
		return true;
	return inspections_ask(l->inspections, &(struct inspection){.path = row->path,
						   .uid = row->uid,
						   .judge = true,
						   .hint = {row->current, row->origin}});
}

/* Not now; whoever asked is answered why. */
static void put_off(struct learning *l, struct module *mod, const char *why)
{
	struct change_entry *c = change_waits_for(l->changes, mod->row.id);

	mod->schedule.inspection = INSPECTION_NONE;
	core_later(l->core, &mod->schedule);
	if (!c)
		return;
	c->todo.n--;
	change_ended(c, CHANGE_FAILED, "%s: %s", mod->row.path, why);
}

static void inspected_as_wanted(struct learning *l, struct module *mod)
{
	mod->schedule.inspection = INSPECTION_DONE;
	change_waits(change_waits_for(l->changes, mod->row.id));
}

void learning_ask(struct learning *l, struct module *mod, struct change_entry *c)
{
	change_step(c, "inspect");
	if (learning_inspect(l, &mod->row))
		mod->schedule.inspection = INSPECTION_ASKED;
	else
		put_off(l, mod, "too many files wait to be inspected");
}

/* What was estimated of a layout with another list says nothing of it. */
static void take_list(struct module *mod, uint64_t list)
{
	if (mod->list.wanted == list)
		return;
	mod->list = (struct module_list){.wanted = list};
	mod->schedule.scored = false;
}

/* j: its table and map, NULL where there are none or with why they are of no use. */
static void learn(struct learning *l, const struct inspection *q, const struct priv_inspected *r,
    struct joined *j, const char *why)
{
	struct modules *ms = &l->core->modules;
	/* By the policy of now. */
	bool judged = q->judge && q->begun_ns > ms->policy_ns;
	struct module *mod;
	struct err e;
	int rc = core_end(l->core,
	    core_begin(l->core, &e) || modules_learn(ms, q->path, q->asked, q->nasked, q->shallow,
					   r, j, why, clock_now_ms(), &e),
	    &e);

	mod = modules_of_path(ms, q->path);
	if (mod && judged && !rc && r->status != PRIV_LATER) {
		mod->file.judged = true;
		take_list(mod, r->list);
	}
	if (mod && mod->schedule.inspection == INSPECTION_ASKED && !judged) {
		/* Another one, for a batch or by the policy of before, was under way. */
		if (!learning_inspect(l, &mod->row))
			put_off(l, mod, "too many files wait to be inspected");
	} else if (mod && mod->schedule.inspection == INSPECTION_ASKED) {
		if (rc || r->status == PRIV_LATER)
			put_off(l, mod, rc ? e.text : r->why);
		else
			inspected_as_wanted(l, mod);
	}
	/* Not from here: who drops the last one may be in the middle of the list. */
	if (learning_settled(l))
		l->settled(l->arg);
	core_soon(l->core);
}

/* It began before a swap or rollback of the manager's own had ended, and saw the file of
 * before it, or what is to be recorded only after it: it would pass for somebody's rebuild. */
static bool is_outdated(
    const struct learning *l, const struct inspection *q, const struct priv_inspected *r)
{
	const struct module *mod = modules_of_path(&l->core->modules, q->path);

	return mod && r->status != PRIV_LATER && q->begun_ns <= mod->file.placed_ns &&
	       !modules_known(&l->core->modules, q->path, r);
}

static void inspect_again(struct learning *l, const struct inspection *q)
{
	static const struct priv_inspected later = {.status = PRIV_LATER,
	    .why = "too many files wait to be inspected",
	    .artifact = "",
	    .refused = ""};
	struct inspection none = *q;

	if (inspections_ask(l->inspections, q))
		return;
	none.nasked = 0;
	learn(l, &none, &later, NULL, "");
}

static void run_learn(void *arg)
{
	struct learn *n = arg;

	n->rc = module_join(n->r.table, n->r.ntable, n->r.map, n->r.nmap, &n->j, &n->why);
}

static void learn_ready(void *arg)
{
	struct learn *n = arg;
	struct learning *l = n->of;
	size_t i, k = 0;

	for (i = 0; i < l->learn.n; i++)
		if (l->learn.v[i] != n)
			l->learn.v[k++] = l->learn.v[i];
	l->learn.n = k;
	if (!l->core->stopping) {
		if (is_outdated(l, &n->inspection, &n->r))
			inspect_again(l, &n->inspection);
		else
			learn(l, &n->inspection, &n->r, n->rc ? NULL : &n->j, n->why.text);
		inspections_done(l->inspections, n->inspection.uid);
	}
	if (!n->rc)
		joined_free(&n->j);
	arena_free(&n->mem);
	free(n);
}

static struct learn *keep_inspection(
    struct learning *l, const struct inspection *q, const struct priv_inspected *r)
{
	struct learn *n = xcalloc(1, sizeof *n);

	*n = (struct learn){.of = l, .inspection = *q, .r = *r};
	n->inspection.path = arena_strdup(&n->mem, q->path);
	n->r.why = arena_strdup(&n->mem, r->why);
	n->r.artifact = arena_strdup(&n->mem, r->artifact);
	n->r.refused = arena_strdup(&n->mem, r->refused);
	n->r.table = arena_copy(&n->mem, r->table, r->ntable, 1);
	n->r.map = arena_copy(&n->mem, r->map, r->nmap, 1);
	vec_push(&l->learn, n);
	return n;
}

static bool inspected(void *learning, const struct inspection *q, const struct priv_inspected *r)
{
	struct learning *l = learning;
	struct joined j;
	struct err why;
	int rc;

	if (is_outdated(l, q, r)) {
		inspect_again(l, q);
		return false;
	}
	if (r->status != PRIV_FOLLOWED || modules_known(&l->core->modules, q->path, r)) {
		learn(l, q, r, NULL, "");
		return false;
	}
	if (r->ntable + r->nmap < MODULE_LONG || r->ntable > MODULE_BYTES_MAX ||
	    r->nmap > MODULE_BYTES_MAX) {
		/* It is short, or refused before its first byte is read. */
		rc = module_join(r->table, r->ntable, r->map, r->nmap, &j, &why);
		learn(l, q, r, rc ? NULL : &j, why.text);
		if (!rc)
			joined_free(&j);
		return false;
	}
	pool_run(l->core->modules.pool.loop, run_learn, learn_ready, keep_inspection(l, q, r));
	return true;
}

bool learning_wanted(struct learning *l, const struct inspection *q)
{
	return is_learning(l, q->path) || inspections_ask(l->inspections, q);
}

bool learning_settled(const struct learning *l)
{
	return !inspections_awaited(l->inspections) && !l->learn.n;
}

void learning_start(struct learning *l)
{
	l->inspections = inspections_new(l->core->priv, inspected, l);
}

void learning_stop(struct learning *l)
{
	inspections_free(l->inspections);
	l->inspections = NULL;
}

void learning_free(struct learning *l)
{
	vec_free(&l->learn);
}
