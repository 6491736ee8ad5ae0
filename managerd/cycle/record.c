#include "managerd/cycle/record.h"
#include "common/log.h"
#include "managerd/cycle/judge.h"

#include <stdio.h>
#include <stdlib.h>

/* Builds whose file is no longer kept can only be mapped. */
static int note_kept(struct core *c, const struct store_module *row, struct err *e)
{
	const struct swap_kept *kept;
	struct store_build *b;
	struct arena a = {0};
	size_t i, k, n, nkept = priv_kept(c->priv, row->path, &a, &kept);
	int rc = store_builds(c->store, row->id, NULL, &a, &b, &n, e), state;

	for (i = 0; rc == 0 && i < n; i++) {
		state = build_id_equal(&b[i].id, &row->current) ? BUILD_CURRENT : BUILD_PAST;
		for (k = 0; k < nkept && state == BUILD_PAST; k++)
			if (build_id_equal(&kept[k].id, &b[i].id))
				state = BUILD_KEPT;
		if (state != b[i].state)
			rc = store_set_build_state(c->store, row->id, &b[i].id, state, e);
	}
	arena_free(&a);
	return rc;
}

/* Remap and store: the module is the new build now, under the same profile. */
void record_made(struct module *mod, const struct made *b)
{
	mod->schedule.made = true;
	mod->schedule.scored_at = b->mapped;
}

int record_swap(
    struct core *c, struct trials *ts, struct module *mod, const struct made *b, struct err *e)
{
	struct build_id from = mod->row.current;
	int64_t now = clock_now_ms();

	mod->row.layout_ms = now;
	mod->row.held_until_ms = 0;
	module_text(&mod->row.held_why, NULL);
	if (module_place(&c->modules, mod, &b->id, b->map.p, b->map.n, now, e) ||
	    module_set_layout(&c->modules, mod, &b->used, b->list, e) ||
	    event_swapped(c->store, &mod->row, now, &from, &b->swap, e) ||
	    trials_begin(ts, mod, &from, b->asked_ms, &b->before, &b->after, e) ||
	    note_kept(c, &mod->row, e))
		return -1;
	record_made(mod, b);
	return 0;
}

void record_done(struct core *c, const char *path)
{
	struct module *mod = modules_of_path(&c->modules, path);
	struct err e;

	/* Only then may the journal forget it. */
	if (store_sync(c->store, &e) || priv_swap_done(c->priv, path, &e))
		log_warn("%s", e.text);
	/* It has dropped the kept builds beyond the bound. */
	if (mod)
		core_end(c, core_begin(c, &e) || note_kept(c, &mod->row, &e), &e);
}

static int note_all_kept(struct core *c, struct err *e)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < c->modules.module.n; i++)
		if (c->modules.module.v[i]->row.layout_ms)
			rc = note_kept(c, &c->modules.module.v[i]->row, e);
	return rc;
}

bool record_rollback_target(
    const struct core *c, const struct store_module *row, struct build_id *to, struct err *e)
{
	struct store_build *b;
	struct store_event *ev;
	struct arena a = {0};
	struct build_id want = row->origin;
	size_t i, n;
	bool found = false;

	if (!store_laid_out(row) || row->state == MODULE_GONE)
		goto out;
	if (store_events(c->store, row->id, -1, 100, &a, &ev, &n, e))
		goto out;
	for (i = 0; i < n; i++)
		if (ev[i].kind == EVENT_SWAPPED && build_id_equal(&ev[i].to, &row->current)) {
			want = ev[i].from;
			break;
		}
	if (store_builds(c->store, row->id, NULL, &a, &b, &n, e))
		goto out;
	/* The build before, else the newest kept one: with keep_builds the
	 * original is always there. */
	for (i = 0; i < n; i++)
		if (b[i].state == BUILD_KEPT && (build_id_equal(&b[i].id, &want) || !found)) {
			*to = b[i].id;
			found = true;
			if (build_id_equal(&b[i].id, &want))
				break;
		}
out:
	arena_free(&a);
	return found;
}

int record_rollback(struct core *c, struct module *mod, const struct build_id *from,
    const struct build_id *to, const struct change_entry *asker, struct err *e)
{
	int64_t now = clock_now_ms();
	char text[128];

	snprintf(text, sizeof text, "rolled back by uid %u", asker ? asker->c.uid : 0);
	mod->row.predicted = false;
	if (module_place(&c->modules, mod, to, NULL, 0, now, e) ||
	    module_clear_layout(&c->modules, mod, e))
		return -1;
	module_hold(&mod->row, text);
	if (module_save(&c->modules, mod, e) ||
	    event_rolled_back(c->store, &mod->row, now, from, change_id(asker), text, e))
		return -1;
	return note_kept(c, &mod->row, e);
}

int record_turn(struct core *c, struct module *mod, const struct build_id *to, struct err *e)
{
	if (module_place(&c->modules, mod, to, NULL, 0, clock_now_ms(), e))
		return -1;
	return note_kept(c, &mod->row, e);
}

int record_failure(
    struct core *c, struct module *mod, const struct made *b, const char *why, struct err *e)
{
	double hold = c->conf->decide.hold_s;
	int64_t now = clock_now_ms();

	if (hold > 0) {
		mod->row.held_until_ms = now + (int64_t)(hold * 1000);
		module_text(&mod->row.held_why, why);
		mod->row.state = MODULE_HELD;
		module_text(&mod->row.text, why);
		if (module_save(&c->modules, mod, e))
			return -1;
	}
	return event_failed(c->store, &mod->row, now, &b->id, &b->swap, why, e);
}

/* ---- at start ---- */

/* The file is what the swap or rollback made of it; the row may not say so yet. */
static int take_over(
    struct core *c, struct module *mod, const struct swap_outcome *o, int64_t now, struct err *e)
{
	if (o->end != SWAP_FINISHED || build_id_equal(&mod->row.current, &o->to))
		return 0;
	mod->row.layout_ms = now;
	mod->row.predicted = false;
	if (o->rollback)
		module_hold(&mod->row, "rolled back");
	if (module_place(&c->modules, mod, &o->to, NULL, 0, now, e) ||
	    (o->rollback ? module_clear_layout(&c->modules, mod, e)
			 : module_set_layout(&c->modules, mod, NULL, 0, e)))
		return -1;
	/* About: it is from before the manager was killed. With which list is not known: it is made
	 * again where the policy names one, and is the same. */
	mod->schedule.made = !o->rollback;
	mod->schedule.scored_at = mod->row.mapped;
	return module_save(&c->modules, mod, e);
}

static void record_recovered(struct core *c, const struct swap_outcome *o)
{
	static const char *const how[] = {"", "finished", "undone", "overtaken by another file"};
	struct module *mod = modules_of_path(&c->modules, o->module);
	int64_t now = clock_now_ms();
	char text[128];
	struct err e;

	snprintf(text, sizeof text, "an interrupted %s was %s", o->rollback ? "rollback" : "swap",
	    how[o->end]);
	log_info("%s: %s", o->module, text);
	if (mod)
		core_end(c,
		    core_begin(c, &e) || take_over(c, mod, o, now, &e) ||
			event_recovered(c->store, &mod->row, now, &o->from, &o->to, text, &e) ||
			note_kept(c, &mod->row, &e),
		    &e);
}

struct outcomes {
	VEC(struct swap_outcome) v;
};

static void note_outcome(const struct swap_outcome *o, void *arg)
{
	struct outcomes *all = arg;

	vec_push(&all->v, *o);
	all->v.v[all->v.n - 1].module = xstrdup(o->module);
}

/* Journals go only once the store knows how they ended. */
void record_recover(struct core *c)
{
	struct outcomes all = {0};
	struct err e;
	size_t i;

	if (priv_recovered(c->priv, note_outcome, &all, &e))
		log_error("%s", e.text);
	for (i = 0; i < all.v.n; i++) {
		record_recovered(c, &all.v.v[i]);
		record_done(c, all.v.v[i].module);
		free((char *)all.v.v[i].module);
	}
	vec_free(&all.v);
	if (core_end(c, core_begin(c, &e) || note_all_kept(c, &e), &e))
		log_warn("which builds are kept is not known: %s", e.text);
}
