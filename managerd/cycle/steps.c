/*
 * What is done for one module at a time. Each step ends in a callback, which
 * takes the next one:
 *
 *	score -> decide again, with the gain known
 *	edit -> [verify] -> swap -> remap -> store
 *	rollback -> store
 */
#include "common/log.h"
#include "managerd/cycle/manager.h"
#include "managerd/store/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void job_done(const struct edit_result *r, void *arg);

static void work_end(struct manager *m)
{
	struct work *w = &m->work;

	if (w->build)
		edit_drop(m->o.priv, w->build);
	if (m->idle)
		idlewatch_own(m->idle, NULL, NULL);
	profile_free(&w->used);
	buf_free(&w->map);
	*w = (struct work){0};
	m->modules.working = 0;
}

/* The module that is worked on; NULL = its row is gone, or another owner's by now. */
static struct module *working(struct manager *m)
{
	return m->modules.working ? modules_get(&m->modules, m->modules.working) : NULL;
}

void work_cancel(struct manager *m)
{
	if (m->work.job)
		edit_cancel(m->work.job);
	if (m->table && m->stopping)
		edit_cancel(m->table);
	m->work.cancelled = m->work.step != STEP_NONE;
}

static double cpu_of_work(void *manager)
{
	const struct manager *m = manager;

	return m->work.job ? edit_cpu(m->work.job) : -1;
}

static void step_over(struct manager *m)
{
	manager_rest(m);
	cycle_soon(m);
}

/* ---- begin and end ---- */

/* 1: not now. */
static int start_job(struct manager *m, struct module *mod, enum edit_kind kind, struct err *e)
{
	struct work *w = &m->work;
	struct buf samples = {0};
	struct edit_request q = {.kind = kind,
	    .module = mod->row.path,
	    .build = w->build,
	    .id = mod->row.current,
	    .origin = mod->row.origin,
	    .huge = conf_huge_pages_for(m->o.conf, mod->row.path),
	    .deadline_s = m->o.conf->edit.deadline_s};

	if (kind != EDIT_VERIFY) {
		if (edit_print_samples(&w->used, modules_decay(&m->modules), &samples, e))
			return -1;
		q.samples = samples.p;
		q.nsamples = samples.n;
	}
	w->job = edit_start(m->loop, m->o.priv, &q, job_done, m, e);
	buf_free(&samples);
	if (!w->job)
		return 1;
	idlewatch_own(m->idle, cpu_of_work, m);
	return 0;
}

static void begin_work(
    struct manager *m, struct module *mod, struct change_entry *c, enum step step)
{
	static const char *const name[] = {"", "score", "edit", "verify", "swap"};
	struct work *w = &m->work;
	struct decay at = modules_decay(&m->modules);

	if (w->step == STEP_NONE) {
		w->module = m->modules.working = mod->row.id;
		w->change = c;
		profile_copy(&w->used, &mod->now);
		w->samples = profile_total(&w->used, at).samples;
	}
	w->step = step;
	w->since_ms = at.now_ms;
	change_step(c, name[step]);
}

/* The end of what was begun for a module, without a new layout. */
static void give_up(struct manager *m, enum change_status status, const char *why)
{
	struct change_entry *c = m->work.change;

	work_end(m);
	change_ended(m, c, status, "%s", why);
}

/* A failure is remembered, and the module held for a while. */
static void failed(struct manager *m, struct module *mod, const char *why)
{
	int64_t now = clock_now_ms();
	double hold = m->o.conf->decide.hold_s;
	const struct change_entry *c = m->work.change;
	struct err e;
	int rc;

	log_warn("%s: %s", mod->row.path, why);
	cycle_later(m, mod);
	rc = store_begin(m->store, &e);
	if (rc == 0 && hold > 0) {
		mod->row.held_until_ms = now + (int64_t)(hold * 1000);
		module_text(&mod->row.held_why, why);
		mod->row.state = MODULE_HELD;
		module_text(&mod->row.text, why);
		rc = module_save(&m->modules, mod, &e);
	}
	if (rc == 0)
		rc = event_failed(m->store, &mod->row, now, &m->work.to, m->work.samples,
		    c ? c->c.id : 0, why, &e);
	manager_end(m, rc, &e);
	give_up(m, CHANGE_FAILED, why);
}

/* What the module is not to blame for. */
static void later(struct manager *m, struct module *mod, const char *why)
{
	cycle_later(m, mod);
	log_info("%s: %s; to be tried later", mod->row.path, why);
	give_up(m, CHANGE_FAILED, why);
}

void work_begin(struct manager *m, struct module *mod, struct change_entry *c, enum step step)
{
	static const enum edit_kind kind[] = {
	    [STEP_SCORE] = EDIT_SCORE, [STEP_EDIT] = EDIT_BUILD, [STEP_VERIFY] = EDIT_VERIFY};
	struct err e;
	int rc;

	begin_work(m, mod, c, step);
	rc = start_job(m, mod, kind[step], &e);
	if (rc > 0)
		later(m, mod, e.text);
	else if (rc)
		failed(m, mod, e.text);
}

/* ---- swap ---- */

/* The block map of the new build must name the very blocks the profile knows. */
static int check_remap(struct module *mod, const struct work *w, struct err *e)
{
	struct blockmap b;
	struct map map = {0};
	size_t i;
	int rc = 0;

	if (w->map.n > MODULE_BYTES_MAX)
		return err_set(e, "the editor's build has a block map of more than %d bytes",
		    MODULE_BYTES_MAX);
	if (blockmap_decode(w->map.p, w->map.n, &b, e))
		return err_wrap(e, "the editor's build");
	for (i = 0; rc == 0 && i < mod->origin.n; i++)
		if (build_id_equal(&mod->origin.v[i].id, &mod->row.origin)) {
			rc = map_make(&b, &mod->origin.v[i].table, &map, e);
			if (rc == 0 && map.unknown)
				rc = err_set(e,
				    "the editor's build names %zu blocks that the program"
				    " does not have",
				    map.unknown);
			map_free(&map);
		}
	blockmap_free(&b);
	return rc;
}

/* The module's row is gone, or the work is for nothing: what there is goes. */
static void no_module(struct manager *m)
{
	give_up(
	    m, CHANGE_FAILED, m->work.cancelled ? "cancelled" : "the module is not known any more");
}

static void put_back(const struct priv_swapped *r, void *arg)
{
	struct manager *m = arg;
	struct module *mod = working(m);
	const char *why = "swapped, but it could not be recorded, and was put back";

	if (!mod) {
		no_module(m);
	} else {
		if (r->status != SWAP_OK)
			log_error("%s: cannot be put back: %s", mod->row.path, r->why);
		record_done(m, mod->row.path);
		mod = working(m);
		if (mod)
			failed(m, mod, why);
		else
			no_module(m);
	}
	step_over(m);
}

/* What was swapped but cannot be recorded goes back. */
static void undo_swap(struct manager *m, const char *path, const struct build_id *from)
{
	struct err e;

	record_done(m, path);
	if (priv_rollback(m->o.priv, path, from, put_back, m, &e))
		return;
	log_error("%s: cannot be put back: %s", path, e.text);
	give_up(m, CHANGE_FAILED, e.text);
}

static void record(struct manager *m, struct module *mod, const struct priv_swapped *r)
{
	struct work *w = &m->work;
	struct change_entry *c = w->change;
	char *path = xstrdup(mod->row.path);
	struct err e;

	if (store_begin(m->store, &e) || manager_end(m, record_swap(m, mod, &e), &e)) {
		undo_swap(m, path, &r->from);
	} else {
		record_done(m, path);
		mod = modules_of_path(&m->modules, path);
		if (mod)
			manager_load_pages(m, mod);
		log_info("%s: swapped: %u function%s laid out in %.1f s", path, w->edited,
		    w->edited == 1 ? "" : "s", w->seconds);
		work_end(m);
		change_ended(m, c, CHANGE_DONE, "laid out");
	}
	free(path);
}

static void swapped(const struct priv_swapped *r, void *arg)
{
	struct manager *m = arg;
	struct module *mod = working(m);

	if (!mod) {
		no_module(m);
	} else if (r->status == SWAP_CHANGED) {
		mod->stamped = false;
		give_up(m, CHANGE_REFUSED, r->why);
	} else if (r->status != SWAP_OK) {
		failed(m, mod, r->why);
	} else {
		record(m, mod, r);
	}
	step_over(m);
}

static void swap(struct manager *m, struct module *mod)
{
	struct work *w = &m->work;
	struct err e;

	begin_work(m, mod, w->change, STEP_SWAP);
	if (check_remap(mod, w, &e) || !priv_swap(m->o.priv, w->build, swapped, m, &e))
		failed(m, mod, e.text);
}

/* ---- rollback ---- */

static void record_back(struct manager *m, struct module *mod, const struct priv_swapped *r)
{
	struct change_entry *c = m->work.change;
	char *path = xstrdup(mod->row.path);
	struct err e;
	int rc;

	if (priv_hold(m->o.priv, path, true, &e))
		log_warn("%s", e.text);
	rc = store_begin(m->store, &e);
	if (rc == 0)
		rc = manager_end(m, record_rollback(m, mod, &r->from, &r->to, c, &e), &e);
	record_done(m, path);
	mod = modules_of_path(&m->modules, path);
	if (mod) {
		mod->decided_ms = 0;
		cycle_inspect(m, mod);
	}
	log_info("%s: rolled back", path);
	work_end(m);
	if (rc)
		change_ended(m, c, CHANGE_FAILED, "%s", e.text);
	else
		change_ended(m, c, CHANGE_DONE, "rolled back");
	free(path);
}

static void rolled_back(const struct priv_swapped *r, void *arg)
{
	struct manager *m = arg;
	struct module *mod = working(m);

	if (!mod)
		no_module(m);
	else if (r->status != SWAP_OK)
		give_up(m, CHANGE_FAILED, r->why);
	else
		record_back(m, mod, r);
	step_over(m);
}

void work_roll_back(struct manager *m, struct module *mod, struct change_entry *c)
{
	struct build_id to;
	struct err e;

	begin_work(m, mod, c, STEP_SWAP);
	err_set(&e, "%s: there is no kept build to go back to", mod->row.path);
	if (!record_rollback_target(m, mod, &to, &e) ||
	    !priv_rollback(m->o.priv, mod->row.path, &to, rolled_back, m, &e))
		give_up(m, CHANGE_FAILED, e.text);
}

/* ---- after a step ---- */

static void after_score(struct manager *m, struct module *mod, const struct edit_result *r)
{
	struct change_entry *c = m->work.change;
	struct store_module *row = &mod->row;
	uint64_t id = row->id;
	struct err e;

	judge_score(row, &r->before, &r->after);
	mod->scored = true;
	mod->scored_at = row->mapped;
	work_end(m);
	/* With the gain known it is decided again. */
	mod->decided_ms = 0;
	if (store_begin(m->store, &e) || manager_end(m, module_save(&m->modules, mod, &e), &e))
		change_ended(m, c, CHANGE_FAILED, "%s", e.text);
	else if (c)
		vec_push(&c->todo, id);
}

static void after_edit(struct manager *m, struct module *mod, const struct edit_result *r)
{
	struct work *w = &m->work;
	struct err e;
	int rc;

	w->build = r->task;
	buf_add(&w->map, r->blob->p, r->blob->n);
	w->to = r->build_id;
	w->before = r->before;
	w->after = r->after;
	w->seconds = r->ran_s;
	w->size_before = r->size_before;
	w->size_after = r->size_after;
	w->edited = r->edited;
	log_info(
	    "%s: %u of %u functions laid out, %u opaque (%.1f %% of the samples); %u of %u"
	    " units assembled; %.1f s",
	    mod->row.path, r->edited, r->functions, r->opaque, 100 * r->opaque_share,
	    r->tus_assembled, r->tus, r->ran_s);
	if (build_id_equal(&w->to, &mod->row.current)) {
		rc = store_begin(m->store, &e);
		if (rc == 0)
			rc = module_set_layout(&m->modules, mod, &w->used, &e);
		manager_end(m, rc, &e);
		give_up(m, CHANGE_DONE, "the present layout is the best one already");
	} else if (conf_verify_for(m->o.conf, mod->row.path)) {
		work_begin(m, mod, w->change, STEP_VERIFY);
	} else {
		swap(m, mod);
	}
}

static void job_failed(struct manager *m, struct module *mod, const struct edit_result *r)
{
	static const char *const what[] = {"", "prediction", "edit", "verification", "swap"};
	char why[1100], wrote[1000];

	snprintf(why, sizeof why, "%s failed: %s", what[m->work.step], r->error);
	if (r->end == EDIT_LATER) {
		later(m, mod, why);
		return;
	}
	snprintf(wrote, sizeof wrote, "%s", r->log);
	if (*wrote)
		log_info("%s: it wrote: %s", mod->row.path, err_line(wrote));
	failed(m, mod, why);
}

static void job_done(const struct edit_result *r, void *arg)
{
	struct manager *m = arg;
	struct work *w = &m->work;
	struct module *mod = working(m);
	enum step step = w->step;

	w->job = NULL;
	if (m->idle)
		idlewatch_own(m->idle, NULL, NULL);
	if (r->end == EDIT_CANCELLED || w->cancelled || !mod || m->stopping)
		give_up(m, CHANGE_FAILED, "cancelled");
	else if (r->end != EDIT_DONE)
		job_failed(m, mod, r);
	else if (step == STEP_SCORE)
		after_score(m, mod, r);
	else if (step == STEP_EDIT)
		after_edit(m, mod, r);
	else
		swap(m, mod);
	step_over(m);
}
