#include "managerd/cycle/lifting.h"
#include "managerd/cycle/fetching.h"
#include "common/log.h"
#include "common/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Those that came before there was a row of it are not among them. */
static double samples_of(const struct store_module *row, struct decay at)
{
	return row->outside_aged * decay_since(at, row->outside_ms) +
	       row->samples * decay_since(at, row->samples_ms);
}

/* ---- what may be lifted ---- */

/* Why it may not be, whatever the parent says of the file. */
static bool excluded(const struct core *c, const struct store_module *row, struct err *why)
{
	if (!conf_lets_optimize(c->conf, row->path, why))
		return true;
	if (c->user && row->uid != c->uid)
		err_set(why, "belongs to uid %u, this manager works for uid %u", row->uid,
		    (unsigned)c->uid);
	else if (!row->origin.n)
		err_set(why, "%s", row->text);
	else
		return false;
	return true;
}

static enum lift_state few_samples(
    const struct core *c, const struct store_module *row, double samples, struct err *why)
{
	bool observed = conf_legacy_most(c->conf, row->path) == LEGACY_OBSERVE;
	char least[NUMBER_TEXT];

	err_set(why, "would be lifted from %s samples on%s",
	    number_text(c->conf->decide.min_samples, least),
	    observed ? "; policy says observe (legacy)" : "");
	return samples < c->conf->decide.min_samples ? LIFT_FEW_SAMPLES : LIFT_UNJUDGED;
}

static enum lift_state state_of(
    const struct core *c, const struct module *mod, double samples, struct err *why)
{
	const struct store_module *row = &mod->row;

	if (conf_legacy_most(c->conf, row->path) == LEGACY_OFF) {
		err_set(why, "the policy leaves such programs alone (legacy: off)");
		return LIFT_OFF;
	}
	if (excluded(c, row, why))
		return LIFT_REFUSED;
	if (mod->file.judged && mod->file.refused) {
		err_set(why, "%s", mod->file.refused);
		return mod->file.observed ? LIFT_OBSERVED : LIFT_REFUSED;
	}
	if (row->lift_why && !mod->schedule.lift_asked) {
		err_set(why, "cannot be lifted: %s", row->lift_why);
		return LIFT_FAILED;
	}
	if (!mod->file.judged ||
	    (samples < c->conf->decide.min_samples && !mod->schedule.lift_asked))
		return few_samples(c, row, mod->schedule.lift_asked ? INFINITY : samples, why);
	err_set(why, "is to be lifted when the machine is idle");
	return LIFT_WAITING;
}

bool lifting_explain(const struct core *c, const struct module *mod, struct manager_legacy *out)
{
	struct err why;

	if (mod->row.state != MODULE_NO_ARTIFACT)
		return false;
	out->samples = samples_of(&mod->row, modules_decay(&c->modules));
	out->needed = c->conf->decide.min_samples;
	out->state = state_of(c, mod, out->samples, &why);
	snprintf(out->text, sizeof out->text, "%s", why.text);
	return true;
}

bool lifting_ask(const struct core *c, struct module *mod)
{
	struct err why;

	mod->schedule.lift_asked = true;
	mod->schedule.not_before_ms = 0;
	if (state_of(c, mod, INFINITY, &why) == LIFT_WAITING)
		return true;
	mod->schedule.lift_asked = false;
	return false;
}

/* ---- whose turn ---- */

/* It is lifted again when so great a share of its samples is in functions that were not. */
static const double OUTGROWN = 0.1;

/* A refusal may be outdated. */
static bool changed_since(struct core *c, struct module *mod, int64_t now)
{
	if (now - mod->schedule.decided_ms < (int64_t)(c->conf->decide.every_s * 1000))
		return false;
	mod->schedule.decided_ms = now;
	return !module_unchanged(&c->modules, mod);
}

static bool is_idle(const struct lifting *l)
{
	return l->idle && idlewatch_state(l->idle)->state == IDLE_YES;
}

/* Has it come to run what was not lifted? Looked at as often as it is decided about. */
static bool is_outgrown(const struct lifting *l, struct module *mod, double samples, int64_t now)
{
	const struct core *c = l->core;
	struct err why;

	if ((mod->row.state != MODULE_ORIGINAL && mod->row.state != MODULE_LAID_OUT) ||
	    !mod->memory.loaded || mod->row.lift_why || !is_idle(l) ||
	    mod->row.id == c->modules.working || samples < c->conf->decide.min_samples ||
	    now - mod->schedule.outgrown_ms < (int64_t)(c->conf->decide.every_s * 1000))
		return false;
	mod->schedule.outgrown_ms = now;
	return mod->file.judged && !mod->file.refused && !excluded(c, &mod->row, &why) &&
	       module_outgrown(mod, modules_decay(&c->modules)) > OUTGROWN;
}

static bool is_due(
    const struct lifting *l, struct module *mod, double samples, int64_t now, bool *judged)
{
	struct err why;

	if (now < mod->schedule.not_before_ms || mod->schedule.inspection == INSPECTION_ASKED)
		return false;
	*judged = true;
	if (mod->row.state != MODULE_NO_ARTIFACT)
		return is_outgrown(l, mod, samples, now);
	switch (state_of(l->core, mod, samples, &why)) {
	case LIFT_UNJUDGED:
		*judged = false;
		return true;
	case LIFT_OBSERVED:
	case LIFT_REFUSED:
		mod->schedule.lift_asked = false;
		*judged = false;
		return mod->file.judged && changed_since(l->core, mod, now);
	case LIFT_WAITING:
		return (is_idle(l) || mod->schedule.lift_asked) &&
		       !fetching_is_before(l->core, &mod->row);
	default:
		mod->schedule.lift_asked = false;
		return false;
	}
}

static struct module *due(const struct lifting *l, bool *judged)
{
	struct core *c = l->core;
	struct decay at = modules_decay(&c->modules);
	uint64_t turn, best_turn = 0;
	double samples, most = 0;
	struct module *mod, *best = NULL;
	bool is_judged;
	size_t i;

	for (i = 0; i < c->modules.module.n; i++) {
		mod = c->modules.module.v[i];
		samples = samples_of(&mod->row, at);
		turn = turns_last(&l->turns, mod->row.uid);
		if ((best && (turn > best_turn || (turn == best_turn && samples <= most))) ||
		    !is_due(l, mod, samples, at.now_ms, &is_judged))
			continue;
		best = mod;
		best_turn = turn;
		most = samples;
		*judged = is_judged;
	}
	return best;
}

/* ---- lifting ---- */

static void note(struct core *c, struct module *mod, const char *why)
{
	struct err e;

	module_text(&mod->row.lift_why, why);
	core_end(c, core_begin(c, &e) || store_put_module(c->store, &mod->row, &e), &e);
}

/* The editor was given a descriptor, whose name says nothing. */
static const char *reason(const char *error)
{
	const char *rest = strncmp(error, "/dev/fd/", 8) ? NULL : strstr(error, ": ");

	return rest ? rest + 2 : error;
}

static void failed(struct core *c, struct module *mod, const struct edit_result *r)
{
	if (r->end == EDIT_LATER) {
		log_info("%s: not lifted: %s; to be tried later", mod->row.path, r->error);
		mod->file.judged = false;
		core_later(c, &mod->schedule);
	} else if (r->end != EDIT_CANCELLED) {
		log_warn("%s: cannot be lifted: %s", mod->row.path, reason(r->error));
		note(c, mod, reason(r->error));
	}
}

static void done(const struct edit_result *r, void *arg)
{
	struct lifting *l = arg;
	struct module *mod = modules_get(&l->core->modules, l->module);

	l->job = NULL;
	if (mod && (mod->row.uid != l->uid || !build_id_equal(&mod->row.origin, &l->origin)))
		mod = NULL; /* not that program of that owner any more */
	if (mod) {
		mod->schedule.lift_asked = false;
		if (r->end != EDIT_DONE) {
			failed(l->core, mod, r);
		} else {
			log_info("%s: lifted%s in %.1f s", mod->row.path, l->again ? " again" : "",
			    r->ran_s);
			learning_inspect(l->learning, &mod->row);
			/* Unless it is learned now. */
			note(l->core, mod, "its artifact was made, and cannot be followed");
		}
	}
	l->over(l->arg);
}

/* Where it is to be lifted. */
static int put_places(struct lifting *l, struct module *mod, struct buf *out, struct err *e)
{
	struct modules *ms = &l->core->modules;
	int rc = l->again ? module_lifted(ms, mod, out, e)
			  : module_sampled(ms, mod, clock_now_ms(), out, e);

	return rc == 1 ? err_set(e, "the map of its blocks is being loaded") : rc;
}

static void start(struct lifting *l, struct module *mod)
{
	struct buf places = {0};
	struct edit_request q = {
	    .job = {.module = mod->row.path, .id = mod->row.current, .origin = mod->row.origin},
	    .deadline_s = l->core->conf->edit.deadline_s};
	struct err e;

	l->module = mod->row.id;
	l->origin = mod->row.origin;
	l->uid = mod->row.uid;
	l->again = mod->row.state != MODULE_NO_ARTIFACT;
	q.job.kind = l->again ? PRIV_LIFT_AGAIN : PRIV_LIFT;
	if (!put_places(l, mod, &places, &e)) {
		q.samples = places.p;
		q.nsamples = places.n;
		l->job = edit_start(l->core->loop, l->core->priv, &q, done, l, &e);
	}
	buf_free(&places);
	if (!l->job) {
		log_info("%s: not lifted yet: %s", mod->row.path, e.text);
		core_later(l->core, &mod->schedule);
	}
}

void lifting_turn(struct lifting *l)
{
	struct module *mod;
	bool judged;

	if (l->job || clock_now_ms() < l->core->trouble_until_ms || !(mod = due(l, &judged)))
		return;
	turns_serve(&l->turns, mod->row.uid);
	mod->schedule.inspection = INSPECTION_NONE;
	if (judged)
		start(l, mod);
	else
		learning_ask(l->learning, mod, NULL);
}

void lifting_free(struct lifting *l)
{
	turns_free(&l->turns);
}
