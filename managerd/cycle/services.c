#include "managerd/cycle/services.h"
#include "common/log.h"

#include <stdio.h>

enum { TRIES = 3 };

/* Which command it needs, or 0. */
static enum priv_job_kind needs(const struct module_trial *x, int64_t now_ms)
{
	const struct trial_service *s = &x->service;

	if (!trial_of_service(&x->t) || now_ms < s->next_ms)
		return 0;
	if (s->restart)
		return PRIV_RESTART;
	return !x->ended_ms && !x->t.trouble && !x->t.cycles && s->processes ? PRIV_COUNT : 0;
}

static struct module_trial *due(const struct services *s)
{
	struct module_trial *x, *best = NULL;
	size_t i;

	for (i = 0; i < s->trials->of.n; i++) {
		x = s->trials->of.v[i];
		if (needs(x, clock_now_ms()) &&
		    (!best || x->service.next_ms < best->service.next_ms))
			best = x;
	}
	return best;
}

static void tried(
    struct services *s, struct module_trial *x, enum trial_trouble trouble, const char *why)
{
	struct trial_service *of = &x->service;
	struct core *c = s->core;
	struct err e;

	of->next_ms = clock_now_ms() + (int64_t)(trials_window_s(s->trials) * 1000);
	of->failed = trouble ? of->failed + 1 : 0;
	if (of->failed < TRIES)
		return;
	of->restart = false;
	x->t.trouble = trouble;
	snprintf(of->why, sizeof of->why, "%s", why);
	err_line(of->why);
	x->unsaved = true;
	core_end(c, core_begin(c, &e) || trials_save(s->trials, &e), &e);
}

static void counted(struct services *s, struct module_trial *x, const struct edit_result *r)
{
	uint64_t now_ns = (uint64_t)clock_now_ms() * 1000000;
	double count;

	if (r->end != EDIT_DONE) {
		tried(s, x, TRIAL_UNCOUNTED, r->error);
	} else if (windows_number(r->said.p, r->said.n, &count)) {
		tried(s, x, TRIAL_NO_NUMBER, "");
	} else {
		tried(s, x, TRIAL_FINE, "");
		/* It was what it was some time while the command ran. */
		windows_read(&x->service.windows, s->began_ns + (now_ns - s->began_ns) / 2, count);
	}
}

static void restarted(struct services *s, struct module_trial *x, const struct edit_result *r)
{
	tried(s, x, r->end == EDIT_DONE ? TRIAL_FINE : TRIAL_UNSTARTED, r->error);
	if (r->end != EDIT_DONE)
		return;
	x->service.restart = false;
	windows_restarted(&x->service.windows);
}

static void done(const struct edit_result *r, void *arg)
{
	struct services *s = arg;
	struct module_trial *x = trials_find(s->trials, s->module);

	s->job = NULL;
	if (!x || x->began_ms != s->trial || r->end == EDIT_CANCELLED)
		;
	else if (s->kind == PRIV_COUNT)
		counted(s, x, r);
	else
		restarted(s, x, r);
	s->over(s->arg);
}

void services_turn(struct services *s)
{
	struct module_trial *x = s->job ? NULL : due(s);
	const struct module *mod = x ? modules_get(&s->core->modules, x->module) : NULL;
	struct edit_request q = {.job = {.samples = -1, .shapes = -1}};
	struct err e;

	if (!mod)
		return;
	s->module = x->module;
	s->trial = x->began_ms;
	s->kind = q.job.kind = needs(x, clock_now_ms());
	s->began_ns = (uint64_t)clock_now_ms() * 1000000;
	q.job.module = mod->row.path;
	q.deadline_s = s->core->conf->edit.deadline_s;
	s->job = edit_start(s->core->loop, s->core->priv, &q, done, s, &e);
	if (!s->job)
		tried(s, x, s->kind == PRIV_COUNT ? TRIAL_UNCOUNTED : TRIAL_UNSTARTED, e.text);
}
