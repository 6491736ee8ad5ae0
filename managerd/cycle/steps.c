#include "managerd/cycle/steps.h"
#include "common/log.h"
#include "common/number.h"
#include "managerd/cycle/judge.h"
#include "managerd/cycle/lifting.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* ---- the slot ---- */

const char *work_step(const struct work *w)
{
	return w->now.name;
}

/* Of all runs of the policy's benchmark. */
static double bench_left(const struct work *w)
{
	const struct trial *t = &w->now.bench;
	struct trial_estimate est = trial_estimate(t);

	return outlook(t, &est, w->core->conf->measure.pairs, 0, (uint64_t)clock_now_ms() * 1000000)
	    .left_s;
}

double work_left(const struct work *w)
{
	const struct module *mod = modules_get(&w->core->modules, w->now.module);
	double left, ran = (double)(clock_now_ms() - w->now.since_ms) / 1000;

	if (!w->now.job || !mod || edit_paused(w->now.job))
		return NAN;
	if (w->now.kind == PRIV_MEASURE_OLD || w->now.kind == PRIV_MEASURE_NEW)
		return bench_left(w);
	left = durations_expect(&w->durations, mod->row.id, w->now.name,
		   durations_bytes(w->core->store, &mod->row)) -
	       ran;
	return left >= 0 ? left : NAN;
}

struct module *work_module(const struct work *w)
{
	return modules_get(&w->core->modules, w->core->modules.working);
}

void work_cancel(struct work *w)
{
	if (w->now.job)
		edit_cancel(w->now.job);
	w->now.cancelled = w->now.step != STEP_NONE;
}

void work_pause(struct work *w, bool pause)
{
	if (w->now.job && !w->now.change)
		edit_pause(w->now.job, pause);
}

void work_end(struct work *w)
{
	struct doing d = w->now;

	if (d.build)
		priv_drop(w->core->priv, d.build);
	profile_free(&d.made.used);
	buf_free(&d.made.map);
	trial_free(&d.bench);
	w->now = (struct doing){0};
	w->core->modules.working = 0;
	if (d.end.set)
		change_ended(d.change, d.end.status, "%s", d.end.text);
}

static void begin(struct work *w, const char *name)
{
	w->now.name = name;
	w->now.since_ms = clock_now_ms();
	change_step(w->now.change, name);
}

/* ---- ends of a round ---- */

__attribute__((format(printf, 3, 4))) static enum progress over(
    struct work *w, enum change_status status, const char *fmt, ...)
{
	struct end *end = &w->now.end;
	va_list ap;

	end->set = true;
	end->status = status;
	va_start(ap, fmt);
	vsnprintf(end->text, sizeof end->text, fmt, ap);
	va_end(ap);
	return OVER;
}

/* Its row is gone, or the work is for nothing. */
static enum progress no_module(struct work *w)
{
	return over(w, CHANGE_FAILED, "%s",
	    w->now.cancelled ? "cancelled" : "the module is not known any more");
}

/* A failure is remembered, and the module held for a while. */
static enum progress failed(struct work *w, struct module *mod, const char *why)
{
	struct core *c = w->core;
	struct err e;

	log_warn("%s: %s", mod->row.path, why);
	core_later(c, &mod->schedule);
	core_end(c, core_begin(c, &e) || record_failure(c, mod, &w->now.made, why, &e), &e);
	return over(w, CHANGE_FAILED, "%s", why);
}

/* What the module is not to blame for. */
static enum progress later(struct work *w, struct module *mod, const char *why)
{
	core_later(w->core, &mod->schedule);
	log_info("%s: %s; to be tried later", mod->row.path, why);
	return over(w, CHANGE_FAILED, "%s", why);
}

/* ---- decide ---- */

bool step_is_known(const struct work *w, struct module *mod)
{
	/* A person may have changed what was wrong, and waits. */
	return mod->schedule.inspection == INSPECTION_DONE ||
	       (!w->now.change && mod->file.judged && module_unchanged(&w->core->modules, mod));
}

enum progress step_inspect(struct work *w, struct module *mod)
{
	learning_ask(w->learning, mod, w->now.change);
	return OVER;
}

/* Without a hold that has run out; loaded. */
static int freshen(struct modules *ms, struct module *mod, int64_t now, struct err *e)
{
	if (mod->row.held_until_ms > 0 && mod->row.held_until_ms <= now) {
		mod->row.held_until_ms = 0;
		module_text(&mod->row.held_why, NULL);
		mod->row.state = store_laid_out(&mod->row) ? MODULE_LAID_OUT : MODULE_ORIGINAL;
		if (module_save(ms, mod, e))
			return -1;
	}
	return module_load(ms, mod, e);
}

/* The ladder, its answer stored. */
static int climb(struct work *w, struct module *mod, struct decision *d, struct err *e)
{
	struct core *c = w->core;
	struct decay at = modules_decay(&c->modules);

	if (freshen(&c->modules, mod, at.now_ms, e))
		return -1;
	if (schedule_outdated(&mod->schedule, mod->row.estimate.samples, mod->row.mapped,
		store_density(&mod->row)))
		mod->schedule.scored = mod->schedule.made = false;
	judge(c, w->trials, idlewatch_state(w->idle), mod, w->now.change, at, d);
	/* Without an inspection it is not the last word. */
	if (d->verdict != VERDICT_WAIT && mod->schedule.inspection != INSPECTION_DONE)
		return 0;
	return store_put_decision(c->store, mod->row.id, at.now_ms, d, e);
}

/* What has no artifact is lifted first for who asks, and decided about again, once. */
static bool to_be_lifted(struct work *w, struct module *mod)
{
	struct change_entry *asker = w->now.change;

	if (!asker || mod->row.state != MODULE_NO_ARTIFACT || asker->lifted == mod->row.id ||
	    !lifting_ask(w->core, mod))
		return false;
	asker->lifted = mod->row.id;
	mod->schedule.inspection = INSPECTION_NONE;
	change_step(asker, "lift");
	return true;
}

enum progress step_decide(struct work *w, struct module *mod, struct decision *d)
{
	struct change_entry *asker = w->now.change;
	struct core *c = w->core;
	bool carries;
	struct err e;
	int rc;

	*d = (struct decision){.verdict = VERDICT_WAIT};
	rc = module_load(&c->modules, mod, &e);
	carries = !rc && mod->profile.before.func.n;
	if (!rc && !carries)
		rc = core_end(c, core_begin(c, &e) || climb(w, mod, d, &e), &e);
	if (!rc && d->verdict != VERDICT_WAIT && mod->schedule.inspection != INSPECTION_DONE)
		return DONE;
	if (!rc && to_be_lifted(w, mod))
		return OVER;
	if (asker)
		asker->todo.n--;
	if (rc)
		return over(w, CHANGE_FAILED, "%s", e.text);
	mod->schedule.inspection = INSPECTION_NONE;
	mod->schedule.decided_ms = clock_now_ms();
	if (carries)
		return over(w, CHANGE_FAILED,
		    "%s: it was built again, and its profile is being carried over: ask again",
		    mod->row.path);
	judge_log(c, mod, d);
	mod->schedule.rung = d->verdict == VERDICT_WAIT ? d->rung : RUNG_NONE;
	if (d->verdict == VERDICT_WAIT)
		return over(w, CHANGE_REFUSED, "%s: %s", rung_name(d->rung), d->text);
	/* A person asks for what a person had forbidden. */
	if (asker && d->verdict == VERDICT_EDIT && mod->row.held_until_ms < 0 &&
	    priv_hold(c->priv, mod->row.path, false, &e))
		log_warn("%s", e.text);
	return DONE;
}

/* ---- jobs ---- */

static const struct {
	const char *name, *what; /* of the step, of its job */
} jobs[] = {
    [PRIV_SCORE] = {"score", "prediction"},
    [PRIV_BUILD] = {"edit", "edit"},
    [PRIV_VERIFY] = {"verify", "verification"},
    [PRIV_MEASURE_OLD] = {"measure", "measurement of the present build"},
    [PRIV_MEASURE_NEW] = {"measure", "measurement of the new build"},
};

int work_remember(struct work *w, struct err *e)
{
	return durations_load(&w->durations, w->core->store, jobs[PRIV_BUILD].name, e);
}

static double cpu_of_work(void *arg)
{
	const struct work *w = arg;

	return w->now.job ? edit_cpu(w->now.job) : -1;
}

static void job_done(const struct edit_result *r, void *arg)
{
	struct work *w = arg;

	struct module *mod = work_module(w);

	w->now.job = NULL;
	if (w->idle)
		idlewatch_own(w->idle, NULL, NULL);
	if (mod && (w->now.kind == PRIV_SCORE || w->now.kind == PRIV_BUILD))
		recording_job(w->recording, mod, jobs[w->now.kind].name, r->ran_s);
	if (mod && r->end == EDIT_DONE && w->now.kind <= PRIV_VERIFY)
		durations_add(&w->durations, mod->row.id, jobs[w->now.kind].name, r->ran_s,
		    durations_bytes(w->core->store, &mod->row));
	w->now.ran = r;
	cycle_round(w);
}

/* 1: not now. */
static int start_job(struct work *w, struct module *mod, struct err *e)
{
	struct decay at = modules_decay(&w->core->modules);
	const struct profile *now = &mod->profile.now;
	struct made *made = &w->now.made;
	struct buf samples = {0};
	double density;
	struct edit_request q = {.job = {.kind = w->now.kind,
				     .module = mod->row.path,
				     .edit = w->now.build,
				     .id = mod->row.current,
				     .origin = mod->row.origin},
	    .deadline_s = w->core->conf->edit.deadline_s};

	if (w->now.kind < PRIV_VERIFY) {       /* commands are over what was made before */
		if (w->now.kind == PRIV_BUILD) /* to be remembered; the present one goes on */
			profile_copy_used(&made->used, now);
		made->list = mod->list.wanted;
		made->mapped = mod->row.mapped;
		made->lifted = mod->memory.lifted;
		density = store_density(&mod->row);
		made->swap.samples = density * profile_total(now, at).samples;
		made->swap.change = change_id(w->now.change);
		if (edit_print_samples(now, density, at, &samples, e))
			return -1;
		q.samples = samples.p;
		q.nsamples = samples.n;
	}
	w->now.job = edit_start(w->core->loop, w->core->priv, &q, job_done, w, e);
	buf_free(&samples);
	if (!w->now.job)
		return 1;
	idlewatch_own(w->idle, cpu_of_work, w);
	return 0;
}

enum progress step_job(struct work *w, struct module *mod, enum priv_job_kind kind)
{
	struct err e;
	int rc;

	w->now.kind = kind;
	begin(w, jobs[kind].name);
	rc = start_job(w, mod, &e);
	return rc > 0 ? later(w, mod, e.text) : rc ? failed(w, mod, e.text) : BEGUN;
}

static enum progress job_failed(struct work *w, struct module *mod, const struct edit_result *r)
{
	char why[1100], wrote[1000];

	snprintf(why, sizeof why, "%s failed: %s", jobs[w->now.kind].what, r->error);
	if (r->end == EDIT_LATER)
		return later(w, mod, why);
	snprintf(wrote, sizeof wrote, "%s", r->log);
	if (*wrote)
		log_info("%s: it wrote: %s", mod->row.path, err_line(wrote));
	return failed(w, mod, why);
}

/* It was lifted again meanwhile: what was made is of a profile of other functions. */
static enum progress outdated(struct work *w, struct module *mod)
{
	log_info("%s: was lifted again; the decision is made again", mod->row.path);
	mod->schedule.decided_ms = 0;
	if (w->now.change)
		vec_push(&w->now.change->todo, w->now.module);
	return OVER;
}

enum progress step_ended(struct work *w, struct module *mod)
{
	const struct edit_result *r = w->now.ran;

	if (r && (r->end == EDIT_CANCELLED || w->now.cancelled || !mod || w->core->stopping))
		return over(w, CHANGE_FAILED, "cancelled");
	if (!mod)
		return no_module(w);
	if (r && w->now.made.lifted != mod->memory.lifted)
		return outdated(w, mod);
	return r && r->end != EDIT_DONE ? job_failed(w, mod, r) : DONE;
}

/* What its list names in vain is said once. */
static void note_list(struct work *w, struct module *mod, const struct editanswer_list *said)
{
	bool news = said->names != mod->list.said.names || said->missed != mod->list.said.missed;
	const char *path = conf_order_for(w->core->conf, mod->row.path);

	mod->list.said = *said;
	if (news && said->missed)
		log_warn("%s: %s: %u of %u names are of no function of the program that can move, "
			 "such as '%s'",
		    mod->row.path, path ? path : "order", said->missed, said->names, said->example);
}

enum progress step_take_score(struct work *w, struct module *mod)
{
	const struct editanswer *a = &w->now.ran->answer;
	struct change_entry *asker = w->now.change;
	struct core *c = w->core;
	struct err e;

	note_list(w, mod, &a->list);
	judge_score(mod, w->trials, a, &w->now.made, modules_decay(&w->core->modules));
	mod->schedule.decided_ms = 0;
	if (core_end(c, core_begin(c, &e) || module_save(&c->modules, mod, &e), &e))
		return over(w, CHANGE_FAILED, "%s", e.text);
	if (asker)
		vec_push(&asker->todo, w->now.module);
	return OVER;
}

/* A plan does not know all addresses; of a small program that may be most of the gain. */
static enum progress no_gain(struct work *w, struct module *mod)
{
	const struct decide_estimate *g = &mod->row.estimate;
	char gain[NUMBER_RANGE];
	struct err e;

	number_range(g->gain, g->low, g->high, gain);
	log_info("%s: not taken: as built it gains %s", mod->row.path, gain);
	core_end(w->core, core_begin(w->core, &e) || module_save(&w->core->modules, mod, &e), &e);
	return over(w, CHANGE_REFUSED, "as built it gains %s, not enough", gain);
}

enum progress step_take_build(struct work *w, struct module *mod)
{
	bool forced = w->now.change && w->now.change->force;
	const struct edit_result *r = w->now.ran;
	const struct editanswer *a = &r->answer;
	struct made *b = &w->now.made;
	struct core *c = w->core;
	struct err e;

	note_list(w, mod, &a->list);
	w->now.build = r->task;
	buf_add(&b->map, r->blob->p, r->blob->n);
	b->id = r->build_id;
	b->before = a->score.before;
	b->after = a->score.after;
	b->swap.seconds = r->ran_s;
	b->swap.size_before = a->size.before;
	b->swap.size_after = a->size.after;
	b->swap.edited = a->edited;
	log_info("%s: %u of %u functions laid out, %u opaque (%.1f %% of the samples); %u of %u"
		 " units assembled; %.1f s",
	    mod->row.path, a->edited, a->functions, a->opaque, 100 * a->opaque_share,
	    a->tus_assembled, a->tus, r->ran_s);
	if (build_id_equal(&b->id, &mod->row.current)) {
		if (!core_end(c,
			core_begin(c, &e) ||
			    module_set_layout(&c->modules, mod, &b->used, b->list, &e),
			&e))
			record_made(mod, b);
		return over(w, CHANGE_DONE, "the present layout is the best one already");
	}
	judge_build(mod, w->trials, b);
	return forced || judge_reordered(mod) ||
		       !(mod->row.estimate.low < decide_limit(c->conf, store_laid_out(&mod->row)))
		   ? DONE
		   : no_gain(w, mod);
}

/* ---- the policy's benchmark ---- */

enum progress step_measure(struct work *w, struct module *mod)
{
	uint64_t now_ns = (uint64_t)clock_now_ms() * 1000000, seed;
	struct trial *t = &w->now.bench;

	if (!t->began_ns) {
		if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
			return later(w, mod, "no random numbers are to be had");
		trial_begin(t, TRIAL_BY_COMMAND, seed, now_ns);
	}
	trial_turned(t, now_ns);
	return step_job(w, mod, trial_arm(t) == TRIAL_NEW ? PRIV_MEASURE_NEW : PRIV_MEASURE_OLD);
}

static int record_loss(struct work *w, struct module *mod, struct err *e)
{
	mod->row.predicted = false;
	return module_set_layout(&w->core->modules, mod, &w->now.made.used, w->now.made.list, e);
}

enum progress step_take_measured(struct work *w, struct module *mod, bool *more)
{
	struct trial *t = &w->now.bench;
	struct made *made = &w->now.made;
	struct wire_run run = {.start_ns = t->turn.v[t->turn.n - 1].start_ns,
	    .cpu_ns = (uint64_t)(w->now.ran->cpu_s * 1e9),
	    .class = 1};
	char text[TRIALS_TEXT], why[TRIALS_TEXT + 64];
	struct trial_estimate est;
	enum trial_verdict v;
	struct err e;

	trial_add(t, trial_arm(t), &run);
	est = trial_estimate(t);
	v = trial_verdict(t, &est, w->core->conf->measure.pairs);
	*more = v == TRIAL_OPEN || t->turn.n % 2;
	if (*more)
		return DONE;
	if (core_end(w->core,
		core_begin(w->core, &e) ||
		    trials_by_command(
			w->trials, mod, &made->id, t, v, &made->before, &made->after, text, &e) ||
		    (v == TRIAL_SLOWER && record_loss(w, mod, &e)),
		&e))
		return over(w, CHANGE_FAILED, "%s", e.text);
	*t = (struct trial){0}; /* it is the trials' now */
	if (v == TRIAL_SLOWER) {
		snprintf(why, sizeof why, "the new layout is not taken: %s", text);
		return failed(w, mod, why);
	}
	log_info("%s: %s", mod->row.path, text);
	return DONE;
}

/* ---- swap ---- */

/* From here to swap_done() the file is the old or the new one. */
static enum progress placing(struct module *mod)
{
	if (mod)
		mod->file.placed_ns = UINT64_MAX;
	return BEGUN;
}

static void swap_done(const struct priv_swapped *r, void *arg)
{
	struct work *w = arg;
	struct module *mod = work_module(w);

	if (mod)
		mod->file.placed_ns = uv_hrtime();
	w->now.swapped = r;
	cycle_round(w);
}

/* The block map of the new build must name the very blocks the profile knows. */
static int check_remap(const struct origin *origin, const struct buf *bytes, struct err *e)
{
	struct blockmap b;
	struct map map = {0};
	int rc = 0;

	if (bytes->n > MODULE_BYTES_MAX)
		return err_set(e, "the editor's build has a block map of more than %d bytes",
		    MODULE_BYTES_MAX);
	if (blockmap_decode(bytes->p, bytes->n, &b, e))
		return err_wrap(e, "the editor's build");
	if (origin) {
		rc = map_make(&b, &origin->table, &map, e);
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

enum progress step_swap(struct work *w, struct module *mod)
{
	struct err e;

	begin(w, "swap");
	w->now.made.asked_ms = w->now.since_ms;
	if (check_remap(builds_origin(&mod->builds, &mod->row.origin), &w->now.made.map, &e) ||
	    !priv_swap(w->core->priv, w->now.build, swap_done, w, &e))
		return failed(w, mod, e.text);
	return placing(mod);
}

/* What was swapped but cannot be recorded goes back. */
static enum progress put_back(struct work *w, const char *path)
{
	struct err e;

	record_done(w->core, path);
	if (priv_rollback(w->core->priv, path, &w->now.swapped->from, swap_done, w, &e))
		return placing(work_module(w));
	log_error("%s: cannot be put back: %s", path, e.text);
	return over(w, CHANGE_FAILED, "%s", e.text);
}

enum progress step_record(struct work *w, struct module *mod)
{
	const struct priv_swapped *r = w->now.swapped;
	const struct made *b = &w->now.made;
	struct core *c = w->core;
	enum progress end;
	struct err e;
	char *path;

	if (r->status == SWAP_CHANGED) {
		mod->file.stamped = false;
		return over(w, CHANGE_REFUSED, "%s", r->why);
	}
	if (r->status != SWAP_OK)
		return failed(w, mod, r->why);
	path = xstrdup(mod->row.path);
	if (core_end(c, core_begin(c, &e) || record_swap(c, w->trials, mod, b, &e), &e)) {
		end = put_back(w, path);
	} else {
		record_done(c, path);
		log_info("%s: swapped: %u function%s laid out in %.1f s", path, b->swap.edited,
		    b->swap.edited == 1 ? "" : "s", b->swap.seconds);
		end = over(w, CHANGE_DONE, "laid out");
	}
	free(path);
	return end;
}

enum progress step_note_put_back(struct work *w, struct module *mod)
{
	const struct priv_swapped *r = w->now.swapped;
	struct err e;

	if (r->status != SWAP_OK)
		log_error("%s: cannot be put back: %s", mod->row.path, r->why);
	record_done(w->core, mod->row.path);
	core_end(w->core,
	    core_begin(w->core, &e) || trials_drop(w->trials, w->core->modules.working, &e), &e);
	mod = work_module(w);
	return mod ? failed(w, mod, "swapped, but it could not be recorded, and was put back")
		   : no_module(w);
}

/* ---- rollback ---- */

/* To the build before, or, in a trial, to the old one of the two: which may be in place. */
static bool rollback_target(
    const struct work *w, const struct module *mod, struct build_id *to, struct err *e)
{
	const struct module_trial *x = trials_open_of(w->trials, mod->row.id);

	err_set(e, "%s: there is no kept build to go back to", mod->row.path);
	if (!x)
		return record_rollback_target(w->core, &mod->row, to, e);
	*to = x->build[TRIAL_OLD];
	return true;
}

static enum progress rolled_back(
    struct work *w, struct module *mod, const struct build_id *from, const struct build_id *to)
{
	struct core *c = w->core;
	char *path = xstrdup(mod->row.path);
	struct err e;
	int rc;

	if (priv_hold(c->priv, path, true, &e))
		log_warn("%s", e.text);
	rc = core_end(c,
	    core_begin(c, &e) || record_rollback(c, mod, from, to, w->now.change, &e) ||
		trials_drop(w->trials, mod->row.id, &e),
	    &e);
	record_done(c, path);
	mod = work_module(w);
	if (mod) {
		mod->schedule.decided_ms = 0;
		learning_inspect(w->learning, &mod->row);
	}
	log_info("%s: rolled back", path);
	free(path);
	return rc ? over(w, CHANGE_FAILED, "%s", e.text) : over(w, CHANGE_DONE, "rolled back");
}

enum progress step_roll_back(struct work *w, struct module *mod)
{
	struct build_id to;
	struct err e;

	begin(w, "swap");
	if (!rollback_target(w, mod, &to, &e))
		return over(w, CHANGE_FAILED, "%s", e.text);
	if (build_id_equal(&mod->row.current, &to))
		return rolled_back(w, mod, &to, &to);
	if (!priv_rollback(w->core->priv, mod->row.path, &to, swap_done, w, &e))
		return over(w, CHANGE_FAILED, "%s", e.text);
	return placing(mod);
}

enum progress step_record_rollback(struct work *w, struct module *mod)
{
	const struct priv_swapped *r = w->now.swapped;

	if (r->status != SWAP_OK)
		return over(w, CHANGE_FAILED, "%s", r->why);
	return rolled_back(w, mod, &r->from, &r->to);
}

/* ---- trials ---- */

/* What is in place is as the trial wants it. */
static int record_placed(
    struct work *w, struct module *mod, const struct build_id *now, struct err *e)
{
	struct module_trial *x = trials_open_of(w->trials, mod->row.id);

	if (!build_id_equal(&mod->row.current, now) && record_turn(w->core, mod, now, e))
		return -1;
	return x ? trials_placed(w->trials, x, mod, e) : 0;
}

static void turned(struct work *w, struct module *mod, const struct build_id *now)
{
	struct err e;

	if (core_end(w->core, core_begin(w->core, &e) || record_placed(w, mod, now, &e), &e))
		return;
	mod = work_module(w);
	if (mod)
		trials_notify(w->trials, mod);
}

/* A build that is not kept any more, or whatever else. */
static enum progress give_up(struct work *w, struct module *mod, const char *why)
{
	struct core *c = w->core;
	struct err e;

	log_warn("%s: its gain is not measured: %s", mod->row.path, why);
	core_later(c, &mod->schedule);
	core_end(c, core_begin(c, &e) || trials_drop(w->trials, mod->row.id, &e), &e);
	return over(w, CHANGE_FAILED, "%s", why);
}

enum progress step_turn(struct work *w, struct module *mod)
{
	const struct module_trial *x = trials_open_of(w->trials, mod->row.id);
	struct core *c = w->core;
	struct build_id to;
	struct err e;

	begin(w, "turn");
	if (!x)
		return over(w, CHANGE_FAILED, "its trial is over");
	if (!trials_wants(w->trials, x, &to)) {
		turned(w, mod, &mod->row.current);
		return over(w, CHANGE_DONE, "in place");
	}
	if (!priv_rollback(c->priv, mod->row.path, &to, swap_done, w, &e))
		return give_up(w, mod, e.text);
	return placing(mod);
}

enum progress step_record_turn(struct work *w, struct module *mod)
{
	const struct priv_swapped *r = w->now.swapped;
	struct core *c = w->core;
	char *path;

	if (r->status != SWAP_OK)
		return give_up(w, mod, r->why);
	path = xstrdup(mod->row.path);
	turned(w, mod, &r->to);
	record_done(c, path);
	free(path);
	return over(w, CHANGE_DONE, "in place");
}
