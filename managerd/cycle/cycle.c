/*
 * Whose turn it is, and the round of that module. An inspection at the file, which the
 * privileged parent has made, does not take the work's slot: somebody else has their turn.
 */
#include "common/log.h"
#include "managerd/cycle/gathering.h"
#include "managerd/cycle/manager.h"

/* ---- the round ---- */

/* From top to bottom: each case does its step and says which one follows. Nobody else does. */
void cycle_round(struct work *w)
{
	enum progress now = step_ended(w, work_module(w));
	enum step *next = &w->now.step;
	struct module *mod;
	struct decision d;
	bool inspected, measure, more;

	while (now == DONE) {
		mod = work_module(w);
		switch (*next) {
		case STEP_INSPECT:
			now = step_is_known(w, mod) ? DONE : step_inspect(w, mod);
			*next = STEP_DECIDE;
			break;
		case STEP_DECIDE:
			inspected = mod->schedule.inspection == INSPECTION_DONE;
			now = step_decide(w, mod, &d);
			/* Always before a module is worked on; then it is decided again. */
			if (now == DONE && !inspected)
				now = step_inspect(w, mod);
			*next = d.verdict == VERDICT_EDIT ? STEP_EDIT : STEP_SCORE;
			break;
		case STEP_SCORE:
			now = step_job(w, mod, PRIV_SCORE);
			*next = STEP_TAKE_SCORE;
			break;
		case STEP_TAKE_SCORE:
			/* With the gain known it is decided again, in another round. */
			now = step_take_score(w, mod);
			break;
		case STEP_EDIT:
			now = step_job(w, mod, PRIV_BUILD);
			*next = STEP_TAKE_BUILD;
			break;
		case STEP_TAKE_BUILD:
			now = step_take_build(w, mod);
			*next = now == DONE && conf_verify_for(w->core->conf, mod->row.path)
				    ? STEP_VERIFY
				    : STEP_MEASURE;
			break;
		case STEP_VERIFY:
			now = step_job(w, mod, PRIV_VERIFY);
			*next = STEP_MEASURE;
			break;
		case STEP_MEASURE:
			/* Where the policy has no command for it there is nothing to measure by. */
			measure = conf_measure_for(w->core->conf, mod->row.path);
			now = measure ? step_measure(w, mod) : DONE;
			*next = measure ? STEP_TAKE_MEASURED : STEP_SWAP;
			break;
		case STEP_TAKE_MEASURED:
			/* By turns, until it is known which build is faster. */
			now = step_take_measured(w, mod, &more);
			*next = more ? STEP_MEASURE : STEP_SWAP;
			break;
		case STEP_SWAP:
			now = step_swap(w, mod);
			*next = STEP_RECORD;
			break;
		case STEP_RECORD:
			/* Remap and store; what cannot be recorded is put back. */
			now = step_record(w, mod);
			*next = STEP_NOTE_PUT_BACK;
			break;
		case STEP_NOTE_PUT_BACK:
			now = step_note_put_back(w, mod);
			break;
		case STEP_ROLL_BACK:
			/* A round of its own, which a person asks for. */
			now = step_roll_back(w, mod);
			*next = STEP_RECORD_ROLLBACK;
			break;
		case STEP_RECORD_ROLLBACK:
			now = step_record_rollback(w, mod);
			break;
		case STEP_TURN:
			/* Likewise, of a trial. */
			now = step_turn(w, mod);
			*next = STEP_RECORD_TURN;
			break;
		case STEP_RECORD_TURN:
			now = step_record_turn(w, mod);
			break;
		case STEP_NONE:
			now = OVER;
			break;
		}
	}
	w->now.ran = NULL;
	w->now.swapped = NULL;
	if (now == OVER)
		work_end(w);
	w->over(w->arg);
}

/* ---- the turn ---- */

void cycle_idle_changed(enum idle_state s, void *manager)
{
	struct manager *m = manager;
	struct schedule *of;
	size_t i;

	work_pause(&m->work, s == IDLE_BUSY);
	for (i = 0; s == IDLE_YES && i < m->core.modules.module.n; i++) {
		of = &m->core.modules.module.v[i]->schedule;
		if (of->rung == RUNG_IDLE)
			of->decided_ms = 0;
	}
	core_soon(&m->core);
}

static void begin_round(
    struct work *w, const struct module *mod, struct change_entry *c, enum step first)
{
	w->now.module = w->core->modules.working = mod->row.id;
	w->now.change = c;
	w->now.step = first;
	cycle_round(w);
}

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
		begin_round(&m->work, mod, c, STEP_INSPECT);
		return;
	}
	c->todo.n--;
	if (mod)
		begin_round(&m->work, mod, c, STEP_ROLL_BACK);
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
		if (mod->row.artifact && mod->row.mapped &&
		    schedule_due(&mod->schedule, now, every) &&
		    (!best || core_sooner(&m->turns, &mod->row, &best->row)))
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
	/* One of them at a time: a user has few jobs, and the work is one. */
	if (!m->carrying.job && !m->lifting.job)
		registers_table_turn(&m->registers);
	if (!m->registers.job && !m->lifting.job)
		carrying_turn(&m->carrying);
	if (!m->registers.job && !m->carrying.job)
		lifting_turn(&m->lifting);
	fetching_turn(&m->fetching);
	services_turn(&m->services);
	trials_watch(&m->trials);
	boosting_tell(&m->boosting);
	gathering_turn(&m->core);
	c = change_next(&m->changes, &m->core.modules);
	if (m->work.now.step != STEP_NONE) {
		/* Nobody waits for what waits for the machine. */
		if (c && m->work.now.job && !m->work.now.change && edit_paused(m->work.now.job))
			work_cancel(&m->work);
		return;
	}
	if (c) {
		serve_change(m, c);
	} else if (clock_now_ms() >= m->core.trouble_until_ms && (mod = trials_due(&m->trials))) {
		begin_round(&m->work, mod, NULL, STEP_TURN);
	} else if (clock_now_ms() >= m->core.trouble_until_ms && (mod = due(m, clock_now_ms()))) {
		turns_serve(&m->turns, mod->row.uid);
		begin_round(&m->work, mod, NULL, STEP_INSPECT);
	} else {
		return;
	}
	modules_trim(&m->core.modules, NULL);
	core_soon(&m->core);
}
