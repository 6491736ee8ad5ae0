/*
 * A module's way round. Each step that runs beside the loop ends in
 * job_done(), which takes the next one:
 *
 *	consider: [package] -> consider again, once it is known whose it is
 *		  decide -+-> wait
 *	                  +-> score  -> consider again, with the gain known
 *	                  +-> edit   -> [verify] -> swap -> remap -> store
 *
 * Beside it, in a job of its own, a module that becomes hot gets its witness
 * table. That is short, and registers are to be evaluated while the machine is
 * busy: it does not wait for idleness, and is not paused.
 */
#include "common/log.h"
#include "managerd/manager.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void consider(struct manager *m, struct module *mod, struct change_entry *c);
static void job_done(const struct edit_result *r, void *arg);
static void package_told(const char *package, const char *error, void *arg);

/* ---- what is under way ---- */

static void work_end(struct manager *m)
{
	struct work *w = &m->work;
	struct err e;

	if (w->build && edit_drop(m->o.priv, w->build, &e))
		log_warn("%s", e.text);
	idlewatch_own(m->idle, 0);
	profile_free(&w->used);
	free(w->build);
	free(w->path);
	*w = (struct work){0};
}

void cycle_cancel(struct manager *m)
{
	if (m->work.job)
		edit_cancel(m->work.job);
	if (m->table)
		edit_cancel(m->table);
	if (m->work.ask)
		package_cancel(m->work.ask);
	m->work.cancelled = m->work.step != STEP_NONE;
}

void cycle_idle_changed(enum idle_state s, void *manager)
{
	struct manager *m = manager;
	size_t i;

	if (m->work.job && !m->work.change)
		edit_pause(m->work.job, s == IDLE_BUSY);
	if (s == IDLE_YES)
		for (i = 0; i < m->modules.module.n; i++)
			if (m->modules.module.v[i]->rung == RUNG_IDLE)
				m->modules.module.v[i]->decided_ms = 0;
	cycle_turn(m);
}

/* ---- decide ---- */

/* The file as it is now, and the hold that has run out; loaded. */
static int freshen(struct manager *m, struct module *mod, int64_t now, struct err *e)
{
	if (!module_unchanged(mod) && module_examine(&m->modules, mod, now, EVENT_REPLACED, e))
		return -1;
	if (mod->row.held_until_ms > 0 && mod->row.held_until_ms <= now) {
		mod->row.held_until_ms = 0;
		module_text(&mod->row.held_why, NULL);
		mod->row.state = build_id_equal(&mod->row.current, &mod->row.origin)
				     ? MODULE_ORIGINAL
				     : MODULE_LAID_OUT;
		if (module_save(&m->modules, mod, e))
			return -1;
	}
	return module_load(&m->modules, mod, e);
}

/* ---- edit ---- */

static int start_job(struct manager *m, struct module *mod, enum edit_kind kind, struct err *e)
{
	struct work *w = &m->work;
	struct buf samples = {0};
	struct edit_request q = {.kind = kind,
	    .module = mod->row.path,
	    .artifact = mod->row.artifact,
	    .job = w->build,
	    .layout = !build_id_equal(&mod->row.current, &mod->row.origin),
	    .huge = conf_huge_pages_for(m->o.conf, mod->row.path),
	    .origin = mod->row.origin,
	    .command = (char *const *)conf_verify_for(m->o.conf, mod->row.path),
	    .memory = m->o.conf->edit.memory,
	    .deadline_s = m->o.conf->edit.deadline_s};

	if (kind != EDIT_VERIFY) {
		profile_print(&w->used, manager_now_ms(), manager_half_life(m), &samples);
		q.samples = samples.p;
		q.nsamples = samples.n;
	}
	w->job = edit_start(m->loop, m->o.priv, &q, job_done, m, e);
	buf_free(&samples);
	if (!w->job)
		return -1;
	idlewatch_own(m->idle, edit_session(w->job));
	return 0;
}

static void begin_work(
    struct manager *m, struct module *mod, struct change_entry *c, enum step step)
{
	static const char *const name[] = {
	    "", "score", "edit", "verify", "swap", "package"};
	struct work *w = &m->work;
	int64_t now = manager_now_ms();

	if (w->step == STEP_NONE) {
		w->module = mod->row.id;
		w->change = c;
		profile_copy(&w->used, &mod->now);
		w->samples = profile_total(&w->used, now, manager_half_life(m)).samples;
	}
	w->step = step;
	w->since_ms = now;
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
	int64_t now = manager_now_ms();
	double hold = m->o.conf->decide.hold_s;
	struct store_event ev = {.module = mod->row.id,
	    .at_ms = now,
	    .kind = EVENT_FAILED,
	    .from = mod->row.current,
	    .to = m->work.to,
	    .text = why,
	    .samples = m->work.samples,
	    .gain = NAN,
	    .seconds = NAN,
	    .change = m->work.change ? m->work.change->c.id : 0};
	struct err e;
	int rc;

	log_warn("%s: %s", mod->row.path, why);
	mod->not_before_ms = now + (int64_t)(m->o.conf->decide.every_s * 1000);
	rc = store_begin(m->store, &e);
	if (rc == 0 && hold > 0) {
		mod->row.held_until_ms = now + (int64_t)(hold * 1000);
		module_text(&mod->row.held_why, why);
		mod->row.state = MODULE_HELD;
		module_text(&mod->row.text, why);
		rc = module_save(&m->modules, mod, &e);
	}
	if (rc == 0)
		rc = store_put_event(m->store, &ev, &e);
	manager_end(m, rc, &e);
	give_up(m, CHANGE_FAILED, why);
}

static void start_step(
    struct manager *m, struct module *mod, struct change_entry *c, enum step step)
{
	static const enum edit_kind kind[] = {
	    [STEP_SCORE] = EDIT_SCORE, [STEP_EDIT] = EDIT_BUILD, [STEP_VERIFY] = EDIT_VERIFY};
	struct err e;

	begin_work(m, mod, c, step);
	if (start_job(m, mod, kind[step], &e))
		failed(m, mod, e.text);
}

static bool must_ask(struct module *mod)
{
	if (!mod->package_known)
		mod->package_known = !package_possible(mod->row.path);
	return !mod->package_known;
}

static void consider(struct manager *m, struct module *mod, struct change_entry *c)
{
	int64_t now = manager_now_ms();
	struct decision d = {0};
	struct err e;
	int rc = store_begin(m->store, &e);
	bool ask;

	if (rc == 0)
		rc = freshen(m, mod, now, &e);
	ask = rc == 0 && must_ask(mod);
	if (rc == 0 && !ask) {
		if (mod->scored &&
		    (double)(mod->row.mapped - mod->scored_at) >= m->o.conf->decide.min_samples)
			mod->scored = false;
		judge(m, mod, c, now, &d);
		rc = store_put_decision(m->store, mod->row.id, now, &d, &e);
	}
	if (manager_end(m, rc, &e)) {
		change_ended(m, c, CHANGE_FAILED, "%s", e.text);
		return;
	}
	if (ask) {
		begin_work(m, mod, c, STEP_PACKAGE);
		m->work.ask = package_ask(m->loop, mod->row.path, package_told, m);
		return;
	}
	judge_log(m, mod, &d);
	mod->decided_ms = now;
	mod->rung = d.verdict == VERDICT_WAIT ? (int)d.rung : RUNG_NONE;
	switch (d.verdict) {
	case VERDICT_WAIT:
		change_ended(m, c, CHANGE_REFUSED, "%s: %s", rung_name(d.rung), d.text);
		break;
	case VERDICT_SCORE:
		start_step(m, mod, c, STEP_SCORE);
		break;
	case VERDICT_EDIT:
		start_step(m, mod, c, STEP_EDIT);
		break;
	}
}

/* ---- after a step ---- */

static void step_over(struct manager *m)
{
	if (m->stopping) {
		idlewatch_stop(m->idle);
		m->idle = NULL;
	}
	cycle_turn(m);
}

static void package_told(const char *package, const char *error, void *arg)
{
	struct manager *m = arg;
	struct work *w = &m->work;
	struct module *mod = modules_get(&m->modules, w->module);
	struct change_entry *c = w->change;

	w->ask = NULL;
	if (!mod || w->cancelled || m->stopping) {
		give_up(m, CHANGE_FAILED, "cancelled");
	} else {
		module_forget_package(mod);
		mod->package_known = true;
		mod->package = package ? xstrdup(package) : NULL;
		mod->package_unknown = error ? xstrdup(error) : NULL;
		work_end(m);
		consider(m, mod, c);
	}
	step_over(m);
}

static void after_score(struct manager *m, struct module *mod, const struct edit_result *r)
{
	struct change_entry *c = m->work.change;
	struct store_module *row = &mod->row;
	struct err e;

	judge_score(row, &r->before, &r->after);
	mod->scored = true;
	mod->scored_at = row->mapped;
	work_end(m);
	if (store_begin(m->store, &e) || manager_end(m, module_save(&m->modules, mod, &e), &e))
		change_ended(m, c, CHANGE_FAILED, "%s", e.text);
	else
		consider(m, mod, c);
}

/* The block map of the new build must name the very blocks the profile knows. */
static int check_remap(struct module *mod, const struct work *w, struct err *e)
{
	struct discovery d = {0};
	struct map map = {0};
	size_t i;
	int rc;

	if (access(w->path, R_OK))
		return 0; /* the owner's alone: looked at once it is in place */
	rc = discover_build(w->path, &d, e);
	if (rc == 0 &&
	    (!build_id_equal(&d.id, &w->to) || !build_id_equal(&d.origin, &mod->row.origin)))
		rc = err_set(e, "the editor's build does not come from this program");
	for (i = 0; rc == 0 && i < mod->origin.n; i++)
		if (build_id_equal(&mod->origin.v[i].id, &d.origin)) {
			rc = map_make(&d.map, &mod->origin.v[i].table, &map, e);
			if (rc == 0 && map.unknown)
				rc = err_set(e,
				    "the editor's build names %zu blocks that the program"
				    " does not have",
				    map.unknown);
			map_free(&map);
		}
	discovery_free(&d);
	return rc;
}

static void swap(struct manager *m, struct module *mod)
{
	struct work *w = &m->work;
	struct change_entry *c = w->change;
	uint64_t id = mod->row.id;
	struct priv_swap s = {.module = mod->row.path,
	    .job = w->build,
	    .from = mod->row.current,
	    .to = w->to,
	    .origin = mod->row.origin,
	    .keep = (unsigned)m->o.conf->keep_builds};
	enum swap_status status;
	struct err e;
	char *path;

	begin_work(m, mod, c, STEP_SWAP);
	if (check_remap(mod, w, &e)) {
		failed(m, mod, e.text);
		return;
	}
	status = priv_swap(m->o.priv, &s, &e);
	if (status == SWAP_CHANGED) {
		mod->stamped = false;
		give_up(m, CHANGE_REFUSED, e.text);
		return;
	}
	if (status != SWAP_OK) {
		failed(m, mod, e.text);
		return;
	}
	path = xstrdup(mod->row.path);
	if (store_begin(m->store, &e) || manager_end(m, record_swap(m, mod, &e), &e)) {
		record_undo_swap(m, path, &s.from);
		mod = modules_get(&m->modules, id);
		if (mod)
			failed(m, mod, e.text);
		else
			give_up(m, CHANGE_FAILED, e.text);
	} else {
		record_done(m, path);
		mod = modules_get(&m->modules, id);
		if (mod)
			manager_load_pages(m, mod);
		log_info("%s: swapped: %u function%s laid out anew in %.1f s", path, w->edited,
		    w->edited == 1 ? "" : "s", w->seconds);
		work_end(m);
		change_ended(m, c, CHANGE_DONE, "laid out anew");
	}
	free(path);
}

static void after_edit(struct manager *m, struct module *mod, const struct edit_result *r)
{
	struct work *w = &m->work;
	struct err e;
	int rc;

	w->build = xstrdup(r->job);
	w->path = xstrdup(r->out);
	w->to = r->build_id;
	w->before = r->before;
	w->after = r->after;
	w->seconds = r->ran_s;
	w->size_before = r->size_before;
	w->size_after = r->size_after;
	w->edited = r->edited;
	log_info(
	    "%s: %u of %u functions laid out anew, %u opaque (%.1f %% of the samples); %u of %u"
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
		start_step(m, mod, w->change, STEP_VERIFY);
	} else {
		swap(m, mod);
	}
}

/* What a program wrote, as one line. */
static void one_line(const char *log, char *out, size_t n)
{
	size_t i;

	snprintf(out, n, "%s", log);
	for (i = 0; out[i]; i++)
		if ((unsigned char)out[i] < ' ')
			out[i] = ' ';
}

static void job_failed(struct manager *m, struct module *mod, const struct edit_result *r)
{
	static const char *const what[] = {"", "prediction", "edit", "verification", "swap"};
	char why[700], wrote[1000];

	snprintf(why, sizeof why, "%s failed: %s", what[m->work.step], r->error);
	if (r->end == EDIT_LATER) {
		mod->not_before_ms = manager_now_ms() + (int64_t)(m->o.conf->decide.every_s * 1000);
		log_info("%s: %s; to be tried later", mod->row.path, why);
		give_up(m, CHANGE_FAILED, why);
		return;
	}
	one_line(r->log, wrote, sizeof wrote);
	if (*wrote)
		log_info("%s: it wrote: %s", mod->row.path, wrote);
	failed(m, mod, why);
}

/* ---- witness tables ---- */

static void no_table(struct module *mod, const char *why)
{
	mod->table = TABLE_FAILED;
	log_warn("%s: no witness table, registers of its samples are of no use: %s",
	    mod->row.path, why);
}

static void table_done(const struct edit_result *r, void *arg)
{
	struct manager *m = arg;
	struct module *mod = modules_get(&m->modules, m->table_module);
	struct err e;

	m->table = NULL;
	if (mod && !build_id_equal(&mod->row.origin, &m->table_origin))
		mod = NULL; /* another program by now */
	if (mod && r->end == EDIT_LATER)
		mod->not_before_ms = manager_now_ms() + (int64_t)(m->o.conf->decide.every_s * 1000);
	else if (mod && r->end != EDIT_DONE && r->end != EDIT_CANCELLED)
		no_table(mod, r->error);
	else if (mod && r->end == EDIT_DONE && module_take_table(&m->modules, mod, r->out, &e))
		no_table(mod, e.text);
	else if (mod && r->end == EDIT_DONE)
		log_info("%s: witness table made in %.1f s", mod->row.path, r->ran_s);
	if (r->end == EDIT_DONE && edit_drop(m->o.priv, r->job, &e))
		log_warn("%s", e.text);
	registers_want(m);
	cycle_turn(m);
}

static void start_table(struct manager *m, struct module *mod)
{
	struct edit_request q = {.kind = EDIT_TABLE,
	    .module = mod->row.path,
	    .artifact = mod->row.artifact,
	    .memory = m->o.conf->edit.memory,
	    .deadline_s = m->o.conf->edit.deadline_s};
	struct err e;

	m->table_module = mod->row.id;
	m->table_origin = mod->row.origin;
	m->table = edit_start(m->loop, m->o.priv, &q, table_done, m, &e);
	if (!m->table)
		no_table(mod, e.text);
}

static void job_done(const struct edit_result *r, void *arg)
{
	struct manager *m = arg;
	struct work *w = &m->work;
	struct module *mod = modules_get(&m->modules, w->module);
	enum step step = w->step;

	w->job = NULL;
	idlewatch_own(m->idle, 0);
	if (r->end == EDIT_CANCELLED || !mod || m->stopping)
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

/* ---- the turn ---- */

static void serve_change(struct manager *m, struct change_entry *c)
{
	struct module *mod = NULL;
	struct err e;

	if (!c->todo.n) {
		change_ended(m, c, CHANGE_REFUSED, "no module has an artifact and samples yet");
		return;
	}
	mod = modules_get(&m->modules, c->todo.v[--c->todo.n]);
	if (!mod)
		change_ended(m, c, CHANGE_REFUSED, "the module is not known any more");
	else if (c->c.kind == CHANGE_REOPTIMIZE)
		consider(m, mod, c);
	else if (record_roll_back(m, mod, c, &e))
		change_ended(m, c, CHANGE_FAILED, "%s", e.text);
	else
		change_ended(m, c, CHANGE_DONE, "rolled back");
}

/* The busiest module whose turn it is. */
static struct module *due(struct manager *m, int64_t now)
{
	int64_t every = (int64_t)(m->o.conf->decide.every_s * 1000);
	struct module *mod, *best = NULL;
	size_t i;

	for (i = 0; i < m->modules.module.n; i++) {
		mod = m->modules.module.v[i];
		if (mod->row.artifact && mod->row.mapped && now >= mod->not_before_ms &&
		    (now - mod->decided_ms >= every || now < mod->decided_ms) &&
		    (!best || mod->row.mapped > best->row.mapped))
			best = mod;
	}
	return best;
}

void cycle_turn(struct manager *m)
{
	struct change_entry *c;
	struct module *mod;

	if (!m->stopping && !m->table && (mod = registers_table_due(m)))
		start_table(m, mod);
	while (!m->stopping && m->work.step == STEP_NONE) {
		if ((c = change_next(m)))
			serve_change(m, c);
		else if (manager_now_ms() >= m->trouble_until_ms &&
			 (mod = due(m, manager_now_ms())))
			consider(m, mod, NULL);
		else
			return;
		modules_trim(&m->modules, NULL);
	}
}
