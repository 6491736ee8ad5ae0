/*
 * Whose turn it is. One module is considered in a turn of the loop:
 *
 *	inspect -> decide -+-> wait
 *	                +-> score, edit (managerd/cycle/steps.c)
 *
 * An inspection at the file, which the privileged parent has made, comes first where
 * the file is not the one that was inspected last, and always before a module is
 * worked on. Inspections do not take the work's slot: somebody else has their turn.
 */
#include "common/log.h"
#include "managerd/cycle/manager.h"
#include "managerd/os/pool.h"

#include <stdlib.h>
#include <string.h>

static void on_soon(uv_timer_t *t)
{
	struct manager *m = t->data;

	if (m->resume) {
		m->resume = false;
		ingest_resume(m->ingest);
	}
	cycle_turn(m);
}

void cycle_soon(struct manager *m)
{
	/* 0 ms would be in this very turn, again and again (libuv before 1.45). */
	if (!m->stopping)
		uv_timer_start(&m->soon, on_soon, 1, 0);
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
	cycle_soon(m);
}

/* ---- inspections ---- */

/* An inspection that has ended, and what the pool makes of it. */
struct learn {
	struct manager *m;
	struct inspection inspection;
	struct priv_inspected r; /* path, strings and blobs are its own, in mem */
	struct arena mem;
	struct joined j;
	struct err why;
	int rc; /* of module_join() */
};

bool cycle_learning(const struct manager *m, const char *path)
{
	size_t i;

	for (i = 0; i < m->learn.n; i++)
		if (!strcmp(m->learn.v[i]->inspection.path, path))
			return true;
	return false;
}

bool cycle_inspect(struct manager *m, const struct module *mod)
{
	if (m->stopping)
		return false;
	/* A later inspection might be learned from before. */
	if (cycle_learning(m, mod->row.path))
		return true;
	return inspections_ask(m->inspections, &(struct inspection){.path = mod->row.path,
						       .uid = mod->row.uid,
						       .judge = true,
						       .hint = {mod->row.current, mod->row.origin}});
}

void cycle_later(const struct manager *m, struct module *mod)
{
	mod->not_before_ms = clock_now_ms() + (int64_t)(m->o.conf->decide.every_s * 1000);
}

/* Not now; whoever asked hears why. */
static void put_off(struct manager *m, struct module *mod, const char *why)
{
	struct change_entry *c = change_waits_for(m, mod->row.id);

	mod->inspection = INSPECTION_NONE;
	cycle_later(m, mod);
	if (!c)
		return;
	c->todo.n--;
	change_ended(m, c, CHANGE_FAILED, "%s: %s", mod->row.path, why);
}

static void ask_inspection(struct manager *m, struct module *mod, struct change_entry *c)
{
	change_step(c, "inspect");
	if (cycle_inspect(m, mod))
		mod->inspection = INSPECTION_ASKED;
	else
		put_off(m, mod, "too many files wait to be inspected");
}

void cycle_loaded(void *manager)
{
	struct manager *m = manager;

	m->resume = true;
	cycle_soon(m);
}

/* j: its table and map, NULL where there are none or with why they are of no use. */
static void learn(struct manager *m, const struct inspection *l, const struct priv_inspected *r,
    struct joined *j, const char *why)
{
	struct module *mod;
	struct err e;
	int rc = store_begin(m->store, &e);

	if (rc == 0)
		rc = modules_learn(&m->modules, l->path, l->asked, l->nasked, l->shallow, r, j, why,
		    clock_now_ms(), &e);
	rc = manager_end(m, rc, &e);
	mod = modules_of_path(&m->modules, l->path);
	if (mod && l->judge && !rc && r->status != PRIV_LATER)
		mod->judged = true;
	if (mod && mod->inspection == INSPECTION_ASKED && !l->judge) {
		/* Another one, for a batch, was under way. */
		if (!cycle_inspect(m, mod))
			put_off(m, mod, "too many files wait to be inspected");
	} else if (mod && mod->inspection == INSPECTION_ASKED) {
		if (rc || r->status == PRIV_LATER)
			put_off(m, mod, rc ? e.text : r->why);
		else
			mod->inspection = INSPECTION_DONE;
	}
	/* Not from here: who drops the last one may be in the middle of the list. */
	if (!inspections_awaited(m->inspections) && !m->learn.n)
		m->resume = true;
	cycle_soon(m);
}

static void run_learn(void *arg)
{
	struct learn *n = arg;

	n->rc = module_join(n->r.table, n->r.ntable, n->r.map, n->r.nmap, &n->j, &n->why);
}

static void learn_ready(void *arg)
{
	struct learn *n = arg;
	struct manager *m = n->m;
	size_t i, k = 0;

	for (i = 0; i < m->learn.n; i++)
		if (m->learn.v[i] != n)
			m->learn.v[k++] = m->learn.v[i];
	m->learn.n = k;
	if (!m->stopping) {
		learn(m, &n->inspection, &n->r, n->rc ? NULL : &n->j, n->why.text);
		inspections_done(m->inspections, n->inspection.uid);
	}
	if (!n->rc)
		joined_free(&n->j);
	arena_free(&n->mem);
	free(n);
}

static struct learn *keep_inspection(
    struct manager *m, const struct inspection *l, const struct priv_inspected *r)
{
	struct learn *n = xcalloc(1, sizeof *n);

	*n = (struct learn){.m = m, .inspection = *l, .r = *r};
	n->inspection.path = arena_strdup(&n->mem, l->path);
	n->r.why = arena_strdup(&n->mem, r->why);
	n->r.artifact = arena_strdup(&n->mem, r->artifact);
	n->r.refused = arena_strdup(&n->mem, r->refused);
	n->r.table = arena_copy(&n->mem, r->table, r->ntable, 1);
	n->r.map = arena_copy(&n->mem, r->map, r->nmap, 1);
	vec_push(&m->learn, n);
	return n;
}

/* What is short, or refused before its first byte is read. */
static void learn_now(struct manager *m, const struct inspection *l, const struct priv_inspected *r)
{
	struct joined j;
	struct err why;
	int rc = module_join(r->table, r->ntable, r->map, r->nmap, &j, &why);

	learn(m, l, r, rc ? NULL : &j, why.text);
	if (!rc)
		joined_free(&j);
}

bool cycle_inspected(void *manager, const struct inspection *l, const struct priv_inspected *r)
{
	struct manager *m = manager;

	if (r->status != PRIV_FOLLOWED || modules_known(&m->modules, l->path, r)) {
		learn(m, l, r, NULL, "");
		return false;
	}
	if (r->ntable + r->nmap < MODULE_LONG || r->ntable > MODULE_BYTES_MAX ||
	    r->nmap > MODULE_BYTES_MAX) {
		learn_now(m, l, r);
		return false;
	}
	pool_run(m->modules.loop, run_learn, learn_ready, keep_inspection(m, l, r));
	return true;
}

/* ---- decide ---- */

/* Without a hold that has run out; loaded. */
static int freshen(struct manager *m, struct module *mod, int64_t now, struct err *e)
{
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

/* The ladder, its answer stored; -1 with why not. */
static int decide_about(struct manager *m, struct module *mod, const struct change_entry *c,
    bool inspected, struct decision *d, struct err *e)
{
	struct decay at = modules_decay(&m->modules);
	int rc = store_begin(m->store, e);

	if (rc == 0)
		rc = freshen(m, mod, at.now_ms, e);
	if (rc == 0) {
		if (mod->scored &&
		    (double)(mod->row.mapped - mod->scored_at) >= m->o.conf->decide.min_samples)
			mod->scored = false;
		judge(m, mod, c, at, d);
		/* Without an inspection it is not the last word. */
		if (d->verdict == VERDICT_WAIT || inspected)
			rc = store_put_decision(m->store, mod->row.id, at.now_ms, d, e);
	}
	return manager_end(m, rc, e);
}

/* A person asks for what a person had forbidden. */
static void release(struct manager *m, const struct module *mod)
{
	struct err e;

	if (mod->row.held_until_ms < 0 && priv_hold(m->o.priv, mod->row.path, false, &e))
		log_warn("%s", e.text);
}

/* c, whose next module this is: who asks, or NULL. */
static void consider(struct manager *m, struct module *mod, struct change_entry *c)
{
	bool inspected = mod->inspection == INSPECTION_DONE;
	struct decision d = {0};
	struct err e;
	int rc;

	/* A person may have changed what was wrong, and waits. */
	if (!inspected && (c || !mod->judged || !module_unchanged(&m->modules, mod))) {
		ask_inspection(m, mod, c);
		return;
	}
	rc = decide_about(m, mod, c, inspected, &d, &e);
	if (rc == 0 && d.verdict != VERDICT_WAIT && !inspected) {
		ask_inspection(m, mod, c);
		return;
	}
	if (c)
		c->todo.n--;
	if (rc) {
		change_ended(m, c, CHANGE_FAILED, "%s", e.text);
		return;
	}
	mod->inspection = INSPECTION_NONE;
	judge_log(m, mod, &d);
	mod->decided_ms = clock_now_ms();
	mod->rung = d.verdict == VERDICT_WAIT ? (int)d.rung : RUNG_NONE;
	if (d.verdict == VERDICT_WAIT) {
		change_ended(m, c, CHANGE_REFUSED, "%s: %s", rung_name(d.rung), d.text);
		return;
	}
	if (c && d.verdict == VERDICT_EDIT)
		release(m, mod);
	work_begin(m, mod, c, d.verdict == VERDICT_EDIT ? STEP_EDIT : STEP_SCORE);
}

/* ---- the turn ---- */

static void serve_change(struct manager *m, struct change_entry *c)
{
	struct module *mod = NULL;

	turns_serve(&m->change_turns, c->c.uid);
	if (!c->todo.n) {
		change_ended(m, c, CHANGE_REFUSED, "no module has an artifact and samples yet");
		return;
	}
	mod = modules_get(&m->modules, c->todo.v[c->todo.n - 1]);
	if (mod && c->c.kind == CHANGE_REOPTIMIZE) {
		consider(m, mod, c);
		return;
	}
	c->todo.n--;
	if (mod)
		work_roll_back(m, mod, c);
	else
		change_ended(m, c, CHANGE_REFUSED, "the module is not known any more");
}

static struct module *due(struct manager *m, int64_t now)
{
	int64_t every = (int64_t)(m->o.conf->decide.every_s * 1000);
	struct module *mod, *best = NULL;
	size_t i;

	for (i = 0; i < m->modules.module.n; i++) {
		mod = m->modules.module.v[i];
		if (mod->row.artifact && mod->row.mapped && now >= mod->not_before_ms &&
		    mod->inspection != INSPECTION_ASKED &&
		    (now - mod->decided_ms >= every || now < mod->decided_ms) &&
		    (!best || manager_sooner(&m->due_turns, mod, best)))
			best = mod;
	}
	return best;
}

void cycle_turn(struct manager *m)
{
	struct change_entry *c;
	struct module *mod;

	if (m->stopping)
		return;
	inspections_turn(m->inspections);
	table_turn(m);
	c = change_next(m);
	if (m->work.step != STEP_NONE) {
		/* Nobody waits for what waits for the machine. */
		if (c && m->work.job && !m->work.change && edit_paused(m->work.job))
			work_cancel(m);
		return;
	}
	if (c) {
		serve_change(m, c);
	} else if (clock_now_ms() >= m->trouble_until_ms && (mod = due(m, clock_now_ms()))) {
		turns_serve(&m->due_turns, mod->row.uid);
		consider(m, mod, NULL);
	} else {
		return;
	}
	modules_trim(&m->modules, NULL);
	cycle_soon(m);
}
