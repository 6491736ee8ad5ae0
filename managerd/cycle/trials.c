#include "managerd/cycle/trials.h"
#include "common/log.h"
#include "common/number.h"
#include "managerd/store/events.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* A turn of a service has so many; what has no cycles so often has none. */
enum { WINDOWS_PER_TURN = 10, UNCOUNTED = 10 };

static uint64_t now_ns(void)
{
	return (uint64_t)clock_now_ms() * 1000000;
}

/* ---- memory and store ---- */

static void forget(struct trials *ts, size_t i)
{
	trial_free(&ts->of.v[i]->t);
	free(ts->of.v[i]);
	ts->of.v[i] = ts->of.v[--ts->of.n];
}

int trials_open(struct trials *ts, struct err *e)
{
	struct module_trial *x;
	struct store_trial *row;
	struct arena a = {0};
	struct err why;
	size_t i, n = 0;
	int rc = promises_open(&ts->promises, e) || store_trials(ts->core->store, &a, &row, &n, e);

	for (i = 0; rc == 0 && i < n; i++) {
		x = xcalloc(1, sizeof *x);
		*x = (struct module_trial){.module = row[i].module,
		    .build = {row[i].build[TRIAL_OLD], row[i].build[TRIAL_NEW]},
		    .began_ms = row[i].began_ms,
		    .ended_ms = row[i].ended_ms,
		    .promised = row[i].promised,
		    .model = row[i].model};
		if (row[i].verdict >= 0 && row[i].verdict < TRIAL_VERDICTS)
			x->verdict = (enum trial_verdict)row[i].verdict;
		if (trial_decode(row[i].data, row[i].ndata, &x->t, &why)) {
			log_warn("a trial is given up: %s", why.text);
			free(x);
			continue;
		}
		vec_push(&ts->of, x);
	}
	arena_free(&a);
	return rc;
}

void trials_free(struct trials *ts)
{
	while (ts->of.n)
		forget(ts, 0);
	vec_free(&ts->of);
	promises_free(&ts->promises);
	free(ts->watched.id);
	free(ts->counted.id);
}

static int save(struct trials *ts, struct module_trial *x, struct err *e)
{
	struct buf data = {0};
	int rc;

	trial_encode(&x->t, &data);
	rc = store_put_trial(ts->core->store,
	    &(struct store_trial){.module = x->module,
		.build = {x->build[TRIAL_OLD], x->build[TRIAL_NEW]},
		.began_ms = x->began_ms,
		.ended_ms = x->ended_ms,
		.verdict = x->verdict,
		.promised = x->promised,
		.model = x->model,
		.data = data.p,
		.ndata = data.n},
	    e);
	buf_free(&data);
	x->unsaved = false;
	return rc;
}

static size_t index_of(const struct trials *ts, uint64_t module)
{
	size_t i;

	for (i = 0; i < ts->of.n && ts->of.v[i]->module != module; i++)
		;
	return i;
}

struct module_trial *trials_find(const struct trials *ts, uint64_t module)
{
	size_t i = index_of(ts, module);

	return i < ts->of.n ? ts->of.v[i] : NULL;
}

const struct module_trial *trials_of(const struct trials *ts, uint64_t module)
{
	return trials_find(ts, module);
}

struct module_trial *trials_open_of(const struct trials *ts, uint64_t module)
{
	struct module_trial *x = trials_find(ts, module);

	return x && !x->ended_ms ? x : NULL;
}

/* ---- begin and end ---- */

/* What was said of it, before it is measured. */
static void predicted(struct module_trial *x, const struct store_module *row,
    const struct editanswer_score *before, const struct editanswer_score *after)
{
	x->t.terms[TRIAL_OLD] = promises_terms(before);
	x->t.terms[TRIAL_NEW] = promises_terms(after);
	x->t.cpu = promises_cpu();
	x->promised = row->predicted ? row->estimate.gain : NAN;
	x->model = promises_model_gain(before, after);
}

static bool is_loss(enum trial_verdict v)
{
	return v == TRIAL_SLOWER || v == TRIAL_CRASHES;
}

int trials_drop(struct trials *ts, uint64_t module, struct err *e)
{
	size_t i = index_of(ts, module);

	if (i == ts->of.n)
		return 0;
	forget(ts, i);
	return store_drop_trial(ts->core->store, module, e);
}

static size_t count_open(const struct trials *ts)
{
	size_t i, n = 0;

	for (i = 0; i < ts->of.n; i++)
		n += !ts->of.v[i]->ended_ms;
	return n;
}

static bool is_by_command_of(const struct module_trial *x, const struct build_id *new)
{
	return x->t.kind == TRIAL_BY_COMMAND && build_id_equal(&x->build[TRIAL_NEW], new);
}

/* A program with a counter is a service. */
static enum trial_kind kind_of(const struct conf *c, const char *path)
{
	return !conf_counter_for(c, path)  ? TRIAL_IN_USE
	       : conf_restart_for(c, path) ? TRIAL_BY_RESTARTS
					   : TRIAL_BY_RESTART;
}

int trials_begin(struct trials *ts, const struct module *mod, const struct build_id *from,
    int64_t asked_ms, const struct editanswer_score *before, const struct editanswer_score *after,
    struct err *e)
{
	const struct module_trial *last = trials_of(ts, mod->row.id);
	bool compare = ts->core->conf->measure.switchback && count_open(ts) < TRIALS_MAX;
	struct module_trial *x;
	uint64_t seed;

	if (!compare && last && is_by_command_of(last, &mod->row.current))
		return 0;
	if (trials_drop(ts, mod->row.id, e))
		return -1;
	if (!compare || getrandom(&seed, sizeof seed, 0) != sizeof seed)
		return 0;
	x = xcalloc(1, sizeof *x);
	*x = (struct module_trial){
	    .module = mod->row.id, .build = {*from, mod->row.current}, .began_ms = clock_now_ms()};
	trial_begin(
	    &x->t, kind_of(ts->core->conf, mod->row.path), seed, (uint64_t)asked_ms * 1000000);
	x->t.cycles = conf_counts_cycles(ts->core->conf, mod->row.path);
	predicted(x, &mod->row, before, after);
	vec_push(&ts->of, x);
	return save(ts, x, e);
}

static enum trial_arm in_place(const struct module_trial *x, const struct store_module *row)
{
	return build_id_equal(&row->current, &x->build[TRIAL_OLD]) ? TRIAL_OLD : TRIAL_NEW;
}

static uint64_t runs_max(const struct trials *ts, const struct module_trial *x)
{
	const struct conf *c = ts->core->conf;

	return trial_of_service(&x->t) ? c->measure.pairs : c->measure.runs;
}

static double turn_of(const struct trials *ts, const struct module_trial *x)
{
	const struct conf *c = ts->core->conf;

	return trial_of_service(&x->t) ? c->measure.service_turn_s : c->measure.turn_s;
}

double trials_window_s(const struct trials *ts)
{
	return ts->core->conf->measure.service_turn_s / WINDOWS_PER_TURN;
}

static enum trial_verdict verdict(const struct trials *ts, const struct module_trial *x)
{
	struct trial_estimate est = trial_estimate(&x->t);

	return trial_verdict(&x->t, &est, runs_max(ts, x));
}

static bool is_over(const struct trials *ts, const struct module_trial *x)
{
	return verdict(ts, x) != TRIAL_OPEN || x->t.trouble ||
	       clock_now_ms() - x->began_ms > TRIAL_DAYS * INT64_C(86400000);
}

bool trials_wants(const struct trials *ts, const struct module_trial *x, struct build_id *to)
{
	const struct module *mod = modules_get(&ts->core->modules, x->module);
	enum trial_arm arm = trial_next(&x->t);

	if (is_over(ts, x))
		arm = is_loss(verdict(ts, x)) ? TRIAL_OLD : TRIAL_NEW;
	*to = x->build[arm];
	return mod && !build_id_equal(&mod->row.current, to);
}

/* Nothing is made again of the same usage: judge() asks trials_lost(). */
static int end_with_loss(
    struct trials *ts, const struct module_trial *x, struct module *mod, struct err *e)
{
	char text[TRIALS_TEXT];

	trials_text(x, text, sizeof text);
	mod->row.predicted = false;
	return event_rolled_back(
		   ts->core->store, &mod->row, x->ended_ms, &x->build[TRIAL_NEW], 0, text, e) ||
	       module_save(&ts->core->modules, mod, e);
}

/* Of a service that may be. */
static void restart_into(struct module_trial *x, enum trial_arm arm)
{
	enum trial_arm runs = x->t.turn.n ? trial_arm(&x->t) : TRIAL_OLD;

	if (x->t.kind == TRIAL_BY_RESTARTS && x->t.trouble != TRIAL_UNSTARTED)
		x->service.restart = arm != runs;
}

static int end(struct trials *ts, struct module_trial *x, struct module *mod, struct err *e)
{
	char text[TRIALS_TEXT];

	x->verdict = verdict(ts, x);
	x->ended_ms = clock_now_ms();
	mod->schedule.decided_ms = 0;
	restart_into(x, in_place(x, &mod->row));
	trials_text(x, text, sizeof text);
	if (is_loss(x->verdict)) {
		log_warn("%s: the layout is taken back: %s", mod->row.path, text);
		if (end_with_loss(ts, x, mod, e))
			return -1;
		x->news = true;
	} else {
		(x->t.trouble ? log_warn : log_info)("%s: %s", mod->row.path, text);
		if (event_measured(ts->core->store, &mod->row, x->ended_ms, x->build, text, e))
			return -1;
	}
	return promises_learn(&ts->promises, x->module, &x->t, e) || save(ts, x, e);
}

int trials_by_command(struct trials *ts, struct module *mod, const struct build_id *new,
    const struct trial *t, enum trial_verdict v, const struct editanswer_score *before,
    const struct editanswer_score *after, char text[TRIALS_TEXT], struct err *e)
{
	struct module_trial *x = xcalloc(1, sizeof *x);

	*x = (struct module_trial){.module = mod->row.id,
	    .build = {mod->row.current, *new},
	    .began_ms = (int64_t)(t->began_ns / 1000000),
	    .ended_ms = clock_now_ms(),
	    .verdict = v,
	    .t = *t};
	predicted(x, &mod->row, before, after);
	trials_text(x, text, TRIALS_TEXT);
	if (trials_drop(ts, mod->row.id, e)) {
		free(x);
		return -1;
	}
	vec_push(&ts->of, x);
	if (!is_loss(v) &&
	    event_measured(ts->core->store, &mod->row, x->ended_ms, x->build, text, e))
		return -1;
	return promises_learn(&ts->promises, x->module, &x->t, e) || save(ts, x, e);
}

int trials_placed(struct trials *ts, struct module_trial *x, struct module *mod, struct err *e)
{
	struct build_id to;

	/* What came while it was put there may have told which one is to be there. */
	if (is_over(ts, x))
		return trials_wants(ts, x, &to) ? 0 : end(ts, x, mod, e);
	restart_into(x, trial_next(&x->t));
	trial_turned(&x->t, now_ns());
	return save(ts, x, e);
}

void trials_notify(struct trials *ts, const struct module *mod)
{
	size_t i = index_of(ts, mod->row.id);
	struct module_trial *x = i < ts->of.n ? ts->of.v[i] : NULL;
	char text[TRIALS_TEXT];
	struct err e;

	if (!x || !x->news)
		return;
	x->news = false;
	trials_text(x, text, sizeof text);
	if (ts->core->conf->notify &&
	    priv_notify(ts->core->priv, mod->row.path,
		x->verdict == TRIAL_CRASHES ? PRIV_CRASHES : PRIV_SLOWER, text, &e))
		log_warn("%s: the notify command cannot run: %s", mod->row.path, e.text);
}

/* ---- runs ---- */

/* The same layout made again is the same build: what a process of it comes to that began before it
 * was to go in was of the trial before. A moment is for the kernel's clocks. */
static bool is_of_before(const struct module_trial *x, int arm, const struct wire_run *r)
{
	const uint64_t moment = 20000000;

	return arm == TRIAL_NEW && r->start_ns + moment < x->t.began_ns;
}

static void take_run(struct trials *ts, const struct build_id *id, const struct wire_run *r)
{
	struct module_trial *x;
	size_t i;
	int arm;

	for (i = 0; i < ts->of.n; i++) {
		x = ts->of.v[i];
		for (arm = 0; arm < TRIAL_ARMS && !x->ended_ms; arm++) {
			if (!build_id_equal(id, &x->build[arm]) || is_of_before(x, arm, r))
				continue;
			trial_add(&x->t, (enum trial_arm)arm, r);
			x->unsaved = true;
		}
	}
}

/* A layout that has fewer jumps executes fewer instructions for the same work: as many as the old
 * build would, by what the model counts of either. */
static double as_of_old(const struct trial *t, int arm, uint64_t instructions)
{
	double old = t->terms[TRIAL_OLD].insns, new = t->terms[TRIAL_NEW].insns;
	bool differs = arm == TRIAL_NEW && old > 0 && new > 0;

	return (double)instructions * (differs ? old / new : 1);
}

struct said { /* by a monitor, of the builds of a trial */
	uint64_t cpu_ns[TRIAL_ARMS], cycles[TRIAL_ARMS];
	double instructions; /* as_of_old() */
	uint32_t processes;
};

/* False: nothing. */
static bool said_of(const struct module_trial *x, const struct wire_batch *b, struct said *s)
{
	const struct wire_use *use;
	bool found = false;
	uint32_t i;
	int arm;

	*s = (struct said){0};
	for (i = 0; i < b->nuse; i++) {
		use = &b->use[i];
		for (arm = 0; arm < TRIAL_ARMS; arm++)
			if (build_id_equal(&use->id, &x->build[arm])) {
				s->cpu_ns[arm] = use->cpu_ns;
				s->cycles[arm] = use->cycles;
				s->instructions += as_of_old(&x->t, arm, use->instructions);
				s->processes += use->processes;
				found = true;
			}
	}
	return found;
}

/* The CPU's counters are read with each report. False: nothing is counted. */
static bool read_cycles(
    struct trials *ts, struct module_trial *x, const struct said *s, uint64_t now)
{
	struct trial_service *of = &x->service;
	double window = trials_window_s(ts) * 1e9;
	uint64_t cpu_ns = s->cpu_ns[TRIAL_OLD] + s->cpu_ns[TRIAL_NEW];

	if (s->cycles[TRIAL_OLD] || s->cycles[TRIAL_NEW]) {
		of->uncounted = 0;
		if ((double)now >= (double)of->windows.base.at_ns + window)
			windows_read(&of->windows, now, s->instructions);
		return true;
	}
	of->uncounted += cpu_ns > of->cpu_ns;
	of->cpu_ns = cpu_ns;
	if (of->uncounted >= UNCOUNTED)
		x->t.trouble = TRIAL_NO_CYCLES;
	return false;
}

static void take_uses(struct trials *ts, struct module_trial *x, const struct wire_batch *b)
{
	struct windows_report r = {.session = b->session, .at_ns = b->end_ns};
	struct trial_window w;
	struct said s;

	if (x->ended_ms || !trial_of_service(&x->t) || !said_of(x, b, &s))
		return;
	x->service.processes = s.processes;
	x->unsaved = true;
	if (x->t.cycles && !read_cycles(ts, x, &s, r.at_ns))
		return;
	memcpy(r.cpu_ns, x->t.cycles ? s.cycles : s.cpu_ns, sizeof r.cpu_ns);
	if (!windows_report(&x->service.windows, &r, &w, &x->t.trouble))
		return;
	trial_add_window(&x->t, &w, turn_of(ts, x));
	/* As after a manager that was killed before it asked for it. */
	if (x->t.kind == TRIAL_BY_RESTARTS && x->t.turn.n && w.arm != trial_arm(&x->t))
		x->service.restart = true;
}

void trials_take(struct trials *ts, const struct wire_batch *b)
{
	size_t k;
	uint32_t i;

	for (i = 0; i < b->nrun; i++)
		take_run(ts, &b->run_build[b->run[i].build], &b->run[i]);
	for (k = 0; k < ts->of.n; k++)
		take_uses(ts, ts->of.v[k], b);
}

int trials_save(struct trials *ts, struct err *e)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < ts->of.n; i++)
		if (ts->of.v[i]->unsaved)
			rc = save(ts, ts->of.v[i], e);
	return rc;
}

/* ---- turns ---- */

/* Somebody else has put another file there, or it is gone. */
static bool is_of_another(const struct trials *ts, const struct module_trial *x)
{
	const struct module *mod = modules_get(&ts->core->modules, x->module);
	const struct store_module *row = mod ? &mod->row : NULL;

	return !row || row->state == MODULE_GONE || row->state == MODULE_NO_ARTIFACT ||
	       (!build_id_equal(&row->current, &x->build[TRIAL_OLD]) &&
		   !build_id_equal(&row->current, &x->build[TRIAL_NEW]));
}

void trials_drop_held(struct trials *ts)
{
	const struct module *mod;
	struct err e;
	size_t i;

	for (i = ts->of.n; i-- > 0;) {
		mod = modules_get(&ts->core->modules, ts->of.v[i]->module);
		if (!ts->of.v[i]->ended_ms && mod && priv_held(ts->core->priv, mod->row.path) &&
		    core_end(
			ts->core, core_begin(ts->core, &e) || trials_drop(ts, mod->row.id, &e), &e))
			log_warn("%s", e.text);
	}
}

struct module *trials_due(struct trials *ts)
{
	struct module_trial *x;
	struct module *mod;
	struct err e;
	size_t i;

	for (i = ts->of.n; i-- > 0;) {
		x = ts->of.v[i];
		if (is_of_another(ts, x)) {
			core_end(ts->core,
			    core_begin(ts->core, &e) || trials_drop(ts, x->module, &e), &e);
			continue;
		}
		mod = modules_get(&ts->core->modules, x->module);
		if (!x->ended_ms && clock_now_ms() >= mod->schedule.not_before_ms &&
		    (is_over(ts, x) || trial_due(&x->t, now_ns(), turn_of(ts, x))))
			return mod;
	}
	return NULL;
}

static void tell(struct trials *ts, bool cycles, struct wire_want *told,
    void (*tell_all)(struct ingest *in, const struct wire_want *w))
{
	struct wire_want w = {.id = xcalloc(WIRE_RUN_BUILDS_MAX, sizeof *w.id)};
	const struct module_trial *x;
	size_t i;
	int arm;

	for (i = 0; i < ts->of.n; i++) {
		x = ts->of.v[i];
		for (arm = 0; arm < TRIAL_ARMS && !x->ended_ms && (x->t.cycles || !cycles); arm++)
			w.id[w.n++] = x->build[arm];
	}
	if (wire_want_equal(&w, told)) {
		free(w.id);
		return;
	}
	free(told->id);
	*told = w;
	tell_all(ts->ingest, &w);
}

void trials_watch(struct trials *ts)
{
	if (!ts->ingest)
		return;
	tell(ts, false, &ts->watched, ingest_watch);
	tell(ts, true, &ts->counted, ingest_cycles);
}

/* ---- what is said of it ---- */

bool trials_lost(const struct trials *ts, const struct store_module *row)
{
	const struct module_trial *x = trials_of(ts, row->id);

	return x && x->ended_ms && is_loss(x->verdict) && in_place(x, row) == TRIAL_OLD;
}

static const char *trouble_words(enum trial_trouble t)
{
	static const char *const words[TRIAL_TROUBLES] = {
	    [TRIAL_STILL] = "its counter stands still while it uses CPU time",
	    [TRIAL_BACK] = "its counter goes back",
	    [TRIAL_NO_NUMBER] = "its counter command does not print one number up to 2^53",
	    [TRIAL_UNCOUNTED] = "its counter command fails",
	    [TRIAL_UNSTARTED] = "its restart command fails",
	    [TRIAL_TOO_SOON] = "it was restarted too soon after the swap",
	    [TRIAL_NO_CYCLES] =
		"no monitor counts its cycles: the CPU shows no counters, or they may not be read"};

	return words[t];
}

/* "over" these; "12 runs of the command" */
static void text_of_runs(const struct trial *t, char *out, size_t n)
{
	static const char *const what[TRIAL_KINDS] = {[TRIAL_IN_USE] = "runs",
	    [TRIAL_BY_COMMAND] = "runs of the command",
	    [TRIAL_BY_RESTARTS] = "windows of its ",
	    [TRIAL_BY_RESTART] = "windows of its "};
	const char *by = !trial_of_service(t) ? ""
			 : t->cycles          ? "cycles per instruction"
					      : "counter";
	char all[NUMBER_TEXT];

	number_text((double)(t->runs[TRIAL_OLD].n + t->runs[TRIAL_NEW].n), all);
	snprintf(out, n, "%s %s%s%s", all, what[t->kind], by,
	    t->kind == TRIAL_BY_RESTART ? ", before and after one restart" : "");
}

static void crashes_text(const struct trial *t, char *out, size_t n)
{
	const struct trial_runs *old = &t->runs[TRIAL_OLD], *new = &t->runs[TRIAL_NEW];
	char runs[NUMBER_TEXT], crashes[NUMBER_TEXT];

	number_text((double)new->crashes, crashes);
	if (trial_of_service(t))
		snprintf(out, n, "crashed %s time%s, before the layout never", crashes,
		    new->crashes == 1 ? "" : "s");
	else
		snprintf(out, n, "crashed in %s of %s runs, before the layout in %llu of %llu",
		    crashes, number_text((double)new->n, runs), (unsigned long long)old->crashes,
		    (unsigned long long)old->n);
}

void trials_text(const struct module_trial *x, char *out, size_t n)
{
	struct trial_estimate est = trial_estimate(&x->t);
	char runs[128], gain[NUMBER_RANGE];

	text_of_runs(&x->t, runs, sizeof runs);
	if (x->verdict == TRIAL_CRASHES)
		crashes_text(&x->t, out, n);
	else if (x->t.trouble)
		snprintf(out, n, "not measured: %s%s%s", trouble_words(x->t.trouble),
		    *x->service.why ? ": " : "", x->service.why);
	else if (!est.known)
		snprintf(out, n, "%s%s", x->ended_ms ? "not measured: " : "", runs);
	else if (est.gain < 0)
		snprintf(out, n, "loss %s over %s",
		    number_range(-est.gain, -est.high, -est.low, gain), runs);
	else
		snprintf(out, n, "gain %s over %s", number_range(est.gain, est.low, est.high, gain),
		    runs);
}

struct outlook trials_outlook(const struct trials *ts, const struct module_trial *x)
{
	double days = TRIAL_DAYS * 86400. - (double)(clock_now_ms() - x->began_ms) / 1000;
	struct trial_estimate est = trial_estimate(&x->t);
	struct outlook o = outlook(&x->t, &est, runs_max(ts, x), turn_of(ts, x), now_ns());

	o.left_s = o.left_s > days ? fmax(0, days) : o.left_s;
	return o;
}

void trials_progress(const struct trials *ts, const struct module_trial *x, char *out, size_t n)
{
	struct trial_estimate est = trial_estimate(&x->t);
	struct outlook o = trials_outlook(ts, x);
	char left[NUMBER_TEXT];
	size_t at;

	trials_text(x, out, n);
	at = strlen(out);
	snprintf(out + at, n - at, "; %u of %s %u pairs of %s", est.pairs,
	    est.known ? "about" : "at least", o.wanted,
	    x->t.kind == TRIAL_BY_RESTART ? "blocks" : "turns");
	at = strlen(out);
	if (isfinite(o.left_s))
		snprintf(out + at, n - at, ", %s %s more", est.known ? "about" : "at least",
		    number_span(ceil(o.left_s), left));
}
