#include "managerd/cycle/judge.h"
#include "managerd/cycle/lifting.h"
#include "common/log.h"
#include "common/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DAY_MS = 86400000, WHY_MAX = 256, HELD_MAX = 200 };

/* Why a module may not be changed at all; NULL = it may. The parent, which knows
 * more (the file's rights, its package, whether it was changed by hand), has said
 * so when it inspected it. */
static const char *excluded(const struct core *c, const struct module *mod, char *text, size_t n)
{
	const struct store_module *row = &mod->row;
	struct manager_legacy legacy;
	struct err e;

	if (!conf_lets_optimize(c->conf, row->path, &e)) {
		err_fit(text, n, e.text);
		return text;
	}
	if (lifting_explain(c, mod, &legacy)) {
		err_set(&e, "%.400s; %.400s", legacy.text, row->text);
		err_fit(text, n, e.text);
		return text;
	}
	if (row->state == MODULE_GONE)
		return row->text;
	if (c->user && row->uid != c->uid) {
		snprintf(text, n, "belongs to uid %u, this manager works for uid %u", row->uid,
		    (unsigned)c->uid);
		return text;
	}
	return mod->file.refused;
}

void judge_idle(const struct conf *conf, const struct idle *i, char *text, size_t n)
{
	double wait = idle_wait(i, conf->idle.after_s);
	char more[NUMBER_TEXT];

	snprintf(text, n, "%.0f %% of the processors idle, policy requires %.4g %%: %s%s%s%s",
	    100 * (1 - i->busy_share), 100 * conf->idle.cpu, i->reason ? i->reason : "",
	    wait > 0 ? ", " : "", wait > 0 ? number_span(ceil(wait), more) : "",
	    wait > 0 ? " more" : "");
}

static void note_taken(struct store_module *row, const struct editanswer_score *before,
    const struct editanswer_score *after)
{
	row->taken_before = before->taken;
	row->taken_after = after->taken;
	row->predicted_ms = clock_now_ms();
}

void judge_score(struct module *mod, const struct trials *ts, const struct editanswer *a,
    const struct made *from, struct decay at)
{
	struct store_module *row = &mod->row;
	double model = promises_model_gain(&a->score.before, &a->score.after);
	double gain = promises_gain(&ts->promises, row, &a->score.before, &a->score.after);
	/* A layout from samples that are in the profile still fits their accidents, too. */
	double shared = store_laid_out(row) ? decay_since(at, row->layout_ms) : 0;
	double shift = gain - model + shared * a->estimate.optimism;

	row->predicted = !isnan(gain);
	row->estimate = (struct decide_estimate){0};
	if (row->predicted)
		row->estimate =
		    (struct decide_estimate){a->estimate.gain + shift, a->estimate.low + shift,
			a->estimate.high + shift, fmax(0, a->estimate.missed), from->swap.samples};
	mod->schedule.scored = true;
	mod->schedule.scored_at = from->mapped;
	mod->schedule.too_much = row->predicted ? gain - row->estimate.gain : 0;
	mod->schedule.corrected = row->predicted ? gain - model : 0;
	note_taken(row, &a->score.before, &a->score.after);
}

void judge_build(struct module *mod, const struct trials *ts, const struct made *b)
{
	struct decide_estimate *g = &mod->row.estimate;
	double gain = promises_gain(&ts->promises, &mod->row, &b->before, &b->after), shift;

	if (!mod->schedule.scored)
		*g = (struct decide_estimate){.low = NAN, .high = NAN, .samples = b->swap.samples};
	mod->row.predicted = !isnan(gain);
	shift = mod->row.predicted
		    ? gain - (mod->schedule.scored ? mod->schedule.too_much : 0) - g->gain
		    : 0;
	g->gain += shift;
	g->low += shift;
	g->high += shift;
	note_taken(&mod->row, &b->before, &b->after);
}

/* Mapped samples a second, of those that the aged profile has, as if they had come evenly since
 * the module is known. */
static double rate_of(const struct store_module *r, double samples, struct decay at)
{
	double age = (double)(at.now_ms - r->first_ms) / 1000, life = at.half_life_s / M_LN2;

	return age > 0 ? samples / (life * -expm1(-age / life)) : 0;
}

/* Of the programs of one user: nobody's failures use up what others have. */
static uint64_t edits_today(const struct core *c, uint32_t uid, int64_t now)
{
	uint64_t swapped = 0, failed = 0;
	struct err e;

	if (store_count_events(c->store, 0, uid, EVENT_SWAPPED, now - DAY_MS, &swapped, &e) ||
	    store_count_events(c->store, 0, uid, EVENT_FAILED, now - DAY_MS, &failed, &e))
		log_error("%s", e.text);
	return swapped + failed;
}

bool judge_reordered(const struct module *mod)
{
	const struct editanswer_list *l = &mod->list.said;

	return mod->list.wanted != mod->row.list && (!l->names || l->missed < l->names);
}

void judge(struct core *c, const struct trials *ts, const struct idle *idle, struct module *mod,
    const struct change_entry *asker, struct decay at, struct decision *d)
{
	const struct module_trial *trial = trials_of(ts, mod->row.id);
	struct store_module *r = &mod->row;
	struct profile_sum sum = profile_total(&mod->profile.now, at);
	double noise, density = store_density(r), samples = density * sum.samples;
	char why[WHY_MAX], fit[WHY_MAX], held[HELD_MAX], idle_text[256], measured[WHY_MAX],
	    progress[WHY_MAX];
	struct decide_in in = {.held = r->held_why ? held : NULL,
	    .held_left_s =
		r->held_until_ms < 0 ? -1 : (double)(r->held_until_ms - at.now_ms) / 1000,
	    .samples = samples,
	    .understood = density * sum.understood,
	    .outside = density * r->outside_aged * decay_since(at, r->outside_ms),
	    .uid = r->uid,
	    .laid_out = store_laid_out(r),
	    .change = 1,
	    .rate = rate_of(r, samples, at),
	    .estimate = mod->schedule.scored ? &r->estimate : NULL,
	    .corrected = mod->schedule.corrected,
	    .since_swap_s = r->layout_ms ? (double)(at.now_ms - r->layout_ms) / 1000 : -1,
	    .edits_today = (unsigned)edits_today(c, r->uid, at.now_ms),
	    .idle = idle->state == IDLE_YES,
	    .idle_text = idle_text,
	    .reordered = judge_reordered(mod),
	    .missing = schedule_missing(&mod->schedule, r->estimate.samples, r->mapped, density),
	    .asked = asker != NULL,
	    .forced = asker && asker->force};

	/* Of what is too long the middle goes, which is of a path. */
	in.excluded = excluded(c, mod, why, sizeof why);
	if (in.excluded) {
		err_fit(fit, sizeof fit, in.excluded);
		in.excluded = fit;
	}
	if (in.held)
		err_fit(held, sizeof held, r->held_why);
	if (trial) {
		trials_text(trial, measured, sizeof measured);
		in.lost = trials_lost(ts, r) ? measured : NULL;
	}
	/* Before the first turn nothing is in doubt. */
	if (trial && !trial->ended_ms && trial->t.turn.n) {
		trials_progress(ts, trial, progress, sizeof progress);
		in.trial = progress;
	}
	in.made = mod->schedule.made && in.laid_out && !in.trial && !in.reordered;
	if (in.lost) {
		in.change = profile_distance(&mod->profile.now, &mod->profile.layout, at, &noise);
		if (in.change < 1)
			in.change = fmax(0, in.change - noise);
	}
	judge_idle(c->conf, idle, idle_text, sizeof idle_text);
	decide(c->conf, &in, d);
}

static const char *what_next(const struct decision *d)
{
	return d->verdict == VERDICT_EDIT    ? "editing"
	       : d->verdict == VERDICT_SCORE ? "estimating the gain"
					     : rung_name(d->rung);
}

void judge_log(const struct core *c, const struct module *mod, const struct decision *d)
{
	const struct store_module *r = &mod->row;
	double all = (double)(r->mapped + r->stale + r->outside);
	double samples =
	    store_density(r) * profile_total(&mod->profile.now, modules_decay(&c->modules)).samples;
	char count[NUMBER_TEXT];

	if (d->verdict == VERDICT_WAIT && mod->schedule.rung == d->rung)
		return;
	log_info("%s: %s samples, %.0f %% mapped; %s%s%s", r->path, number_text(samples, count),
	    all > 0 ? 100 * (double)r->mapped / all : 0, what_next(d),
	    d->verdict == VERDICT_WAIT   ? ": "
	    : d->step[RUNG_GAIN].text[0] ? ", "
					 : "",
	    d->verdict == VERDICT_WAIT ? d->text : d->step[RUNG_GAIN].text);
}
