/*
 * Whose turn it is. One module is considered in a turn of the loop:
 *
 *	inspect -> decide -+-> wait
 *			   +-> score, edit (managerd/cycle/steps.c)
 *
 * An inspection at the file, which the privileged parent has made, comes first where
 * the file is not the one that was inspected last, and always before a module is
 * worked on. Inspections do not take the work's slot: somebody else has their turn.
 */
#include "common/log.h"
#include "managerd/cycle/judge.h"
#include "managerd/cycle/manager.h"

void cycle_idle_changed(enum idle_state s, void *manager)
{
	struct manager *m = manager;
	size_t i;

	work_pause(&m->work, s == IDLE_BUSY);
	if (s == IDLE_YES)
		for (i = 0; i < m->core.modules.module.n; i++)
			if (m->core.modules.module.v[i]->rung == RUNG_IDLE)
				m->core.modules.module.v[i]->decided_ms = 0;
	core_soon(&m->core);
}

/* ---- decide ---- */

/* Without a hold that has run out; loaded. */
static int freshen(struct modules *ms, struct module *mod, int64_t now, struct err *e)
{
	if (mod->row.held_until_ms > 0 && mod->row.held_until_ms <= now) {
		mod->row.held_until_ms = 0;
		module_text(&mod->row.held_why, NULL);
		mod->row.state = build_id_equal(&mod->row.current, &mod->row.origin)
				     ? MODULE_ORIGINAL
				     : MODULE_LAID_OUT;
		if (module_save(ms, mod, e))
			return -1;
	}
	return module_load(ms, mod, e);
}

/* The ladder, its answer stored. */
static int climb(struct manager *m, struct module *mod, const struct change_entry *asker,
    struct decision *d, struct err *e)
{
	struct core *c = &m->core;
	struct decay at = modules_decay(&c->modules);

	if (freshen(&c->modules, mod, at.now_ms, e))
		return -1;
	if (mod->scored &&
	    (double)(mod->row.mapped - mod->scored_at) >= c->conf->decide.min_samples)
		mod->scored = false;
	judge(c, idlewatch_state(m->idle), mod, asker, at, d);
	/* Without an inspection it is not the last word. */
	if (d->verdict != VERDICT_WAIT && mod->inspection != INSPECTION_DONE)
		return 0;
	return store_put_decision(c->store, mod->row.id, at.now_ms, d, e);
}

/* A person asks for what a person had forbidden. */
static void release(struct priv *p, const struct module *mod)
{
	struct err e;

	if (mod->row.held_until_ms < 0 && priv_hold(p, mod->row.path, false, &e))
		log_warn("%s", e.text);
}

/* c, whose next module this is: who asks, or NULL. */
static void consider(struct manager *m, struct module *mod, struct change_entry *c)
{
	bool inspected = mod->inspection == INSPECTION_DONE;
	struct decision d = {0};
	struct core *core = &m->core;
	struct err e;

	/* A person may have changed what was wrong, and waits. */
	if (!inspected && (c || !mod->judged || !module_unchanged(&core->modules, mod))) {
		learning_ask(&m->learning, mod, c);
		return;
	}
	if (core_end(core, core_begin(core, &e) || climb(m, mod, c, &d, &e), &e)) {
		if (c)
			c->todo.n--;
		change_ended(c, CHANGE_FAILED, "%s", e.text);
		return;
	}
	if (d.verdict != VERDICT_WAIT && !inspected) {
		learning_ask(&m->learning, mod, c);
		return;
	}
	if (c)
		c->todo.n--;
	mod->inspection = INSPECTION_NONE;
	judge_log(core, mod, &d);
	mod->decided_ms = clock_now_ms();
	mod->rung = d.verdict == VERDICT_WAIT ? (int)d.rung : RUNG_NONE;
	if (d.verdict == VERDICT_WAIT) {
		change_ended(c, CHANGE_REFUSED, "%s: %s", rung_name(d.rung), d.text);
		return;
	}
	if (c && d.verdict == VERDICT_EDIT)
		release(m->core.priv, mod);
	work_begin(&m->work, mod, c, d.verdict == VERDICT_EDIT ? STEP_EDIT : STEP_SCORE);
}

/* ---- the turn ---- */

static void serve_change(struct manager *m, struct change_entry *c)
{
	struct module *mod = NULL;

	turns_serve(&m->changes.turns, c->c.uid);
	if (!c->todo.n) {
		change_ended(c, CHANGE_REFUSED, "no module has an artifact and samples yet");
		return;
	}
	mod = modules_get(&m->core.modules, change_module(c));
	if (mod && c->c.kind == CHANGE_REOPTIMIZE) {
		consider(m, mod, c);
		return;
	}
	c->todo.n--;
	if (mod)
		work_roll_back(&m->work, mod, c);
	else
		change_ended(c, CHANGE_REFUSED, "the module is not known any more");
}

static struct module *due(struct manager *m, int64_t now)
{
	int64_t every = (int64_t)(m->core.conf->decide.every_s * 1000);
	struct module *mod, *best = NULL;
	size_t i;

	for (i = 0; i < m->core.modules.module.n; i++) {
		mod = m->core.modules.module.v[i];
		if (mod->row.artifact && mod->row.mapped && now >= mod->not_before_ms &&
		    mod->inspection != INSPECTION_ASKED &&
		    (now - mod->decided_ms >= every || now < mod->decided_ms) &&
		    (!best || core_sooner(&m->turns, mod, best)))
			best = mod;
	}
	return best;
}

void cycle_turn(struct manager *m)
{
	struct change_entry *c;
	struct module *mod;

	if (m->core.stopping)
		return;
	inspections_turn(m->learning.inspections);
	registers_table_turn(&m->registers);
	c = change_next(&m->changes, &m->core.modules);
	if (m->work.now.step != STEP_NONE) {
		/* Nobody waits for what waits for the machine. */
		if (c && m->work.now.job && !m->work.now.change && edit_paused(m->work.now.job))
			work_cancel(&m->work);
		return;
	}
	if (c) {
		serve_change(m, c);
	} else if (clock_now_ms() >= m->core.trouble_until_ms && (mod = due(m, clock_now_ms()))) {
		turns_serve(&m->turns, mod->row.uid);
		consider(m, mod, NULL);
	} else {
		return;
	}
	modules_trim(&m->core.modules, NULL);
	core_soon(&m->core);
}
