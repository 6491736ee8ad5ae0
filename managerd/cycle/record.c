/*
 * What became of a module's file, into the store: after a swap, a rollback,
 * or a crash in the middle of either. The journal entry goes last.
 */
#include "common/log.h"
#include "managerd/cycle/manager.h"
#include "managerd/store/events.h"

#include <stdio.h>
#include <stdlib.h>

/* Builds whose file is no longer kept can only be mapped. */
static int note_kept(struct manager *m, const struct module *mod, struct err *e)
{
	const struct swap_kept *kept;
	struct store_build *b;
	struct arena a = {0};
	size_t i, k, n, nkept = priv_kept(m->o.priv, mod->row.path, &a, &kept);
	int rc = store_builds(m->store, mod->row.id, NULL, &a, &b, &n, e), state;

	for (i = 0; rc == 0 && i < n; i++) {
		state = build_id_equal(&b[i].id, &mod->row.current) ? BUILD_CURRENT : BUILD_PAST;
		for (k = 0; k < nkept && state == BUILD_PAST; k++)
			if (build_id_equal(&kept[k].id, &b[i].id))
				state = BUILD_KEPT;
		if (state != b[i].state)
			rc = store_set_build_state(m->store, mod->row.id, &b[i].id, state, e);
	}
	arena_free(&a);
	return rc;
}

/* Remap and store: the module is the new build now, under the same profile. */
int record_swap(struct manager *m, struct module *mod, struct err *e)
{
	struct work *w = &m->work;
	int64_t now = clock_now_ms();
	struct event_swap ev = {.from = mod->row.current,
	    .samples = w->samples,
	    .seconds = w->seconds,
	    .edited = w->edited,
	    .size_before = w->size_before,
	    .size_after = w->size_after,
	    .change = w->change ? w->change->c.id : 0};

	mod->row.layout_ms = now;
	mod->row.held_until_ms = 0;
	module_text(&mod->row.held_why, NULL);
	/* Of the layout that was replaced and this one, until the next is scored. */
	judge_score(&mod->row, &w->before, &w->after);
	if (module_place(&m->modules, mod, &w->to, w->map.p, w->map.n, now, e) ||
	    module_set_layout(&m->modules, mod, &w->used, e) ||
	    event_swapped(m->store, &mod->row, now, &ev, e) || note_kept(m, mod, e))
		return -1;
	return 0;
}

void record_done(struct manager *m, const char *path)
{
	struct module *mod = modules_of_path(&m->modules, path);
	struct err e;
	int rc;

	/* Only then may the journal forget it. */
	if (store_sync(m->store, &e) || priv_swap_done(m->o.priv, path, &e))
		log_warn("%s", e.text);
	if (!mod)
		return;
	/* It has dropped the kept builds beyond the bound. */
	rc = store_begin(m->store, &e);
	if (rc == 0)
		rc = note_kept(m, mod, &e);
	manager_end(m, rc, &e);
}

int record_all_kept(struct manager *m, struct err *e)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < m->modules.module.n; i++)
		if (m->modules.module.v[i]->row.layout_ms)
			rc = note_kept(m, m->modules.module.v[i], e);
	return rc;
}

bool record_rollback_target(
    struct manager *m, const struct module *mod, struct build_id *to, struct err *e)
{
	struct store_build *b;
	struct store_event *ev;
	struct arena a = {0};
	struct build_id want = mod->row.origin;
	size_t i, n;
	bool found = false;

	if (build_id_equal(&mod->row.current, &mod->row.origin) || mod->row.state == MODULE_GONE)
		goto out;
	if (store_events(m->store, mod->row.id, -1, 100, &a, &ev, &n, e))
		goto out;
	for (i = 0; i < n; i++)
		if (ev[i].kind == EVENT_SWAPPED && build_id_equal(&ev[i].to, &mod->row.current)) {
			want = ev[i].from;
			break;
		}
	if (store_builds(m->store, mod->row.id, NULL, &a, &b, &n, e))
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

int record_rollback(struct manager *m, struct module *mod, const struct build_id *from,
    const struct build_id *to, const struct change_entry *c, struct err *e)
{
	int64_t now = clock_now_ms();
	char text[128];

	snprintf(text, sizeof text, "rolled back by uid %u", c ? c->c.uid : 0);
	mod->row.predicted = false;
	if (module_place(&m->modules, mod, to, NULL, 0, now, e) ||
	    module_clear_layout(&m->modules, mod, e))
		return -1;
	module_hold(mod, text);
	if (module_save(&m->modules, mod, e) ||
	    event_rolled_back(m->store, &mod->row, now, from, c ? c->c.id : 0, text, e))
		return -1;
	return note_kept(m, mod, e);
}

void record_recovered(struct manager *m, const struct swap_outcome *o)
{
	struct module *mod = modules_of_path(&m->modules, o->module);
	static const char *const how[] = {"", "finished", "undone", "overtaken by another file"};
	int64_t now = clock_now_ms();
	char text[128];
	struct err e;
	int rc;

	snprintf(text, sizeof text, "an interrupted %s was %s", o->rollback ? "rollback" : "swap",
	    how[o->end]);
	log_info("%s: %s", o->module, text);
	if (!mod)
		return;
	rc = store_begin(m->store, &e);
	if (rc == 0 && o->end == SWAP_FINISHED && !build_id_equal(&mod->row.current, &o->to)) {
		mod->row.layout_ms = now;
		mod->row.predicted = false;
		if (o->rollback)
			module_hold(mod, "rolled back");
		rc = module_place(&m->modules, mod, &o->to, NULL, 0, now, &e);
		if (rc == 0 && o->rollback)
			rc = module_clear_layout(&m->modules, mod, &e);
		else if (rc == 0)
			rc = module_set_layout(&m->modules, mod, NULL, &e);
		if (rc == 0)
			rc = module_save(&m->modules, mod, &e);
	}
	if (rc == 0)
		rc = event_recovered(m->store, &mod->row, now, &o->from, &o->to, text, &e);
	if (rc == 0)
		rc = note_kept(m, mod, &e);
	manager_end(m, rc, &e);
}
