/*
 * What is done for one module at a time. Each step is a job whose end takes the next one:
 *
 *	score -> decide again, with the gain known
 *	edit -> [verify] -> swap -> remap -> store
 *	rollback -> store
 */
#include "managerd/cycle/steps.h"
#include "common/log.h"
#include "managerd/cycle/judge.h"

#include <stdio.h>
#include <stdlib.h>

typedef void after_fn(struct work *w, struct module *mod, const struct edit_result *r);

static after_fn after_score, after_edit, after_verify;
static edit_done_fn job_done;

static const struct {
	const char *name, *what; /* of the step, of its job */
	enum priv_job_kind job;
	after_fn *after;
} round[] = {
    [STEP_NONE] = {NULL, NULL, 0, NULL},
    [STEP_SCORE] = {"score", "prediction", PRIV_SCORE, after_score},
    [STEP_EDIT] = {"edit", "edit", PRIV_BUILD, after_edit},
    [STEP_VERIFY] = {"verify", "verification", PRIV_VERIFY, after_verify},
    [STEP_SWAP] = {"swap", NULL, 0, NULL}, /* of the parent alone */
};

static void work_end(struct work *w)
{
	struct doing *d = &w->now;

	if (d->build)
		priv_drop(w->core->priv, d->build);
	if (w->idle)
		idlewatch_own(w->idle, NULL, NULL);
	profile_free(&d->made.used);
	buf_free(&d->made.map);
	*d = (struct doing){0};
	w->core->modules.working = 0;
}

/* The module that is worked on; NULL = its row is gone, or another owner's by now. */
static struct module *working(const struct work *w)
{
	return modules_get(&w->core->modules, w->core->modules.working);
}

const char *work_step(const struct work *w)
{
	return round[w->now.step].name;
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

static double cpu_of_work(void *arg)
{
	const struct work *w = arg;

	return w->now.job ? edit_cpu(w->now.job) : -1;
}

/* ---- begin and end ---- */

/* 1: not now. */
static int start_job(struct work *w, struct module *mod, enum priv_job_kind kind, struct err *e)
{
	struct buf samples = {0};
	struct edit_request q = {.job = {.kind = kind,
				     .module = mod->row.path,
				     .edit = w->now.build,
				     .id = mod->row.current,
				     .origin = mod->row.origin},
	    .deadline_s = w->core->conf->edit.deadline_s};

	if (kind != PRIV_VERIFY) {
		if (edit_print_samples(
			&w->now.made.used, modules_decay(&w->core->modules), &samples, e))
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

static void begin_work(struct work *w, struct module *mod, struct change_entry *c, enum step step)
{
	struct decay at = modules_decay(&w->core->modules);

	if (w->now.step == STEP_NONE) {
		w->now.module = w->core->modules.working = mod->row.id;
		w->now.change = c;
		profile_copy(&w->now.made.used, &mod->now);
		w->now.made.swap.samples = profile_total(&w->now.made.used, at).samples;
		w->now.made.swap.change = change_id(c);
	}
	w->now.step = step;
	w->now.since_ms = at.now_ms;
	change_step(c, round[step].name);
}

/* The end of what was begun for a module, without a new layout. */
static void give_up(struct work *w, enum change_status status, const char *why)
{
	struct change_entry *c = w->now.change;

	work_end(w);
	change_ended(c, status, "%s", why);
}

/* A failure is remembered, and the module held for a while. */
static void failed(struct work *w, struct module *mod, const char *why)
{
	struct core *c = w->core;
	struct err e;

	log_warn("%s: %s", mod->row.path, why);
	core_later(c, mod);
	core_end(c, core_begin(c, &e) || record_failure(c, mod, &w->now.made, why, &e), &e);
	give_up(w, CHANGE_FAILED, why);
}

/* What the module is not to blame for. */
static void later(struct work *w, struct module *mod, const char *why)
{
	core_later(w->core, mod);
	log_info("%s: %s; to be tried later", mod->row.path, why);
	give_up(w, CHANGE_FAILED, why);
}

void work_begin(struct work *w, struct module *mod, struct change_entry *c, enum step step)
{
	struct err e;
	int rc;

	begin_work(w, mod, c, step);
	rc = start_job(w, mod, round[step].job, &e);
	if (rc > 0)
		later(w, mod, e.text);
	else if (rc)
		failed(w, mod, e.text);
}

/* ---- swap ---- */

/* The block map of the new build must name the very blocks the profile knows. */
static int check_remap(const struct module *mod, const struct buf *bytes, struct err *e)
{
	struct blockmap b;
	struct map map = {0};
	size_t i;
	int rc = 0;

	if (bytes->n > MODULE_BYTES_MAX)
		return err_set(e, "the editor's build has a block map of more than %d bytes",
		    MODULE_BYTES_MAX);
	if (blockmap_decode(bytes->p, bytes->n, &b, e))
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
static void no_module(struct work *w)
{
	give_up(
	    w, CHANGE_FAILED, w->now.cancelled ? "cancelled" : "the module is not known any more");
}

static void put_back(const struct priv_swapped *r, void *arg)
{
	struct work *w = arg;
	struct module *mod = working(w);
	const char *why = "swapped, but it could not be recorded, and was put back";

	if (mod) {
		if (r->status != SWAP_OK)
			log_error("%s: cannot be put back: %s", mod->row.path, r->why);
		record_done(w->core, mod->row.path);
		mod = working(w);
	}
	if (mod)
		failed(w, mod, why);
	else
		no_module(w);
	w->over(w->arg);
}

/* What was swapped but cannot be recorded goes back. */
static void undo_swap(struct work *w, const char *path, const struct build_id *from)
{
	struct err e;

	record_done(w->core, path);
	if (priv_rollback(w->core->priv, path, from, put_back, w, &e))
		return;
	log_error("%s: cannot be put back: %s", path, e.text);
	give_up(w, CHANGE_FAILED, e.text);
}

static void record(struct work *w, struct module *mod, const struct priv_swapped *r)
{
	const struct made *b = &w->now.made;
	struct change_entry *asker = w->now.change;
	struct core *c = w->core;
	char *path = xstrdup(mod->row.path);
	struct err e;

	if (core_end(c, core_begin(c, &e) || record_swap(c, mod, b, &e), &e)) {
		undo_swap(w, path, &r->from);
	} else {
		record_done(c, path);
		log_info("%s: swapped: %u function%s laid out in %.1f s", path, b->swap.edited,
		    b->swap.edited == 1 ? "" : "s", b->swap.seconds);
		work_end(w);
		change_ended(asker, CHANGE_DONE, "laid out");
	}
	free(path);
}

static void swapped(const struct priv_swapped *r, void *arg)
{
	struct work *w = arg;
	struct module *mod = working(w);

	if (!mod) {
		no_module(w);
	} else if (r->status == SWAP_CHANGED) {
		mod->stamped = false;
		give_up(w, CHANGE_REFUSED, r->why);
	} else if (r->status != SWAP_OK) {
		failed(w, mod, r->why);
	} else {
		record(w, mod, r);
	}
	w->over(w->arg);
}

static void swap(struct work *w, struct module *mod)
{
	struct err e;

	begin_work(w, mod, w->now.change, STEP_SWAP);
	if (check_remap(mod, &w->now.made.map, &e) ||
	    !priv_swap(w->core->priv, w->now.build, swapped, w, &e))
		failed(w, mod, e.text);
}

/* ---- rollback ---- */

static void record_back(struct work *w, struct module *mod, const struct priv_swapped *r)
{
	struct change_entry *asker = w->now.change;
	struct core *c = w->core;
	char *path = xstrdup(mod->row.path);
	struct err e;
	int rc;

	if (priv_hold(c->priv, path, true, &e))
		log_warn("%s", e.text);
	rc = core_end(
	    c, core_begin(c, &e) || record_rollback(c, mod, &r->from, &r->to, asker, &e), &e);
	record_done(c, path);
	mod = working(w);
	if (mod) {
		mod->decided_ms = 0;
		learning_inspect(w->learning, mod);
	}
	log_info("%s: rolled back", path);
	work_end(w);
	if (rc)
		change_ended(asker, CHANGE_FAILED, "%s", e.text);
	else
		change_ended(asker, CHANGE_DONE, "rolled back");
	free(path);
}

static void rolled_back(const struct priv_swapped *r, void *arg)
{
	struct work *w = arg;
	struct module *mod = working(w);

	if (!mod)
		no_module(w);
	else if (r->status != SWAP_OK)
		give_up(w, CHANGE_FAILED, r->why);
	else
		record_back(w, mod, r);
	w->over(w->arg);
}

void work_roll_back(struct work *w, struct module *mod, struct change_entry *c)
{
	struct build_id to;
	struct err e;

	begin_work(w, mod, c, STEP_SWAP);
	err_set(&e, "%s: there is no kept build to go back to", mod->row.path);
	if (!record_rollback_target(w->core, mod, &to, &e) ||
	    !priv_rollback(w->core->priv, mod->row.path, &to, rolled_back, w, &e))
		give_up(w, CHANGE_FAILED, e.text);
}

/* ---- after a step ---- */

static void after_score(struct work *w, struct module *mod, const struct edit_result *r)
{
	struct change_entry *asker = w->now.change;
	uint64_t id = mod->row.id;
	struct core *c = w->core;
	struct err e;

	judge_score(&mod->row, &r->answer.score.before, &r->answer.score.after);
	mod->scored = true;
	mod->scored_at = mod->row.mapped;
	work_end(w);
	/* With the gain known it is decided again. */
	mod->decided_ms = 0;
	if (core_end(c, core_begin(c, &e) || module_save(&c->modules, mod, &e), &e))
		change_ended(asker, CHANGE_FAILED, "%s", e.text);
	else if (asker)
		vec_push(&asker->todo, id);
}

static void after_edit(struct work *w, struct module *mod, const struct edit_result *r)
{
	const struct editanswer *a = &r->answer;
	struct made *b = &w->now.made;
	struct core *c = w->core;
	struct err e;

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
		core_end(
		    c, core_begin(c, &e) || module_set_layout(&c->modules, mod, &b->used, &e), &e);
		give_up(w, CHANGE_DONE, "the present layout is the best one already");
	} else if (conf_verify_for(c->conf, mod->row.path)) {
		work_begin(w, mod, w->now.change, STEP_VERIFY);
	} else {
		swap(w, mod);
	}
}

static void after_verify(struct work *w, struct module *mod, const struct edit_result *r)
{
	swap(w, mod);
}

static void job_failed(struct work *w, struct module *mod, const struct edit_result *r)
{
	char why[1100], wrote[1000];

	snprintf(why, sizeof why, "%s failed: %s", round[w->now.step].what, r->error);
	if (r->end == EDIT_LATER) {
		later(w, mod, why);
		return;
	}
	snprintf(wrote, sizeof wrote, "%s", r->log);
	if (*wrote)
		log_info("%s: it wrote: %s", mod->row.path, err_line(wrote));
	failed(w, mod, why);
}

static void job_done(const struct edit_result *r, void *arg)
{
	struct work *w = arg;
	struct module *mod = working(w);

	w->now.job = NULL;
	if (w->idle)
		idlewatch_own(w->idle, NULL, NULL);
	if (r->end == EDIT_CANCELLED || w->now.cancelled || !mod || w->core->stopping)
		give_up(w, CHANGE_FAILED, "cancelled");
	else if (r->end != EDIT_DONE)
		job_failed(w, mod, r);
	else
		round[w->now.step].after(w, mod, r);
	w->over(w->arg);
}
