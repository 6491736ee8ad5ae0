#include "managerd/api/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

json_t *json_text(const char *s)
{
	json_t *j;
	char *copy, *p;

	if (!s)
		return json_null();
	j = json_string(s);
	if (j)
		return j;
	copy = xstrdup(s);
	for (p = copy; *p; p++) {
		if (*p & 0x80)
			*p = '?';
	}
	j = json_string(copy);
	free(copy);
	return j;
}

/* Milliseconds of CLOCK_REALTIME as RFC 3339 in UTC; <= 0: null. */
static json_t *json_time(int64_t ms)
{
	time_t t = (time_t)(ms / 1000);
	struct tm tm;
	char s[64];

	if (ms <= 0 || !gmtime_r(&t, &tm) || !strftime(s, sizeof s, "%Y-%m-%dT%H:%M:%SZ", &tm))
		return json_null();
	return json_string(s);
}

/* Not a number: null. */
static json_t *json_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *json_module_id(uint64_t id)
{
	return json_sprintf("%016" PRIx64, id);
}

static json_t *build_id(const struct build_id *id)
{
	char hex[BUILD_ID_HEX];

	return id->n ? json_string(build_id_hex(id, hex)) : json_null();
}

static json_t *count(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* The id of a change; 0: null, nobody asked. */
static json_t *change_id(uint64_t id)
{
	return id ? json_sprintf("%" PRIu64, id) : json_null();
}

static json_t *share(double part, double whole)
{
	return json_number(whole > 0 ? part / whole : NAN);
}

static json_t *json_accounting(const struct accounting *a)
{
	return json_pack("{so so so so so s{so so so so}}", "taken", count(a->taken), "mapped",
	    count(a->mapped), "outside", count(accounting_outside(a)), "stale", count(a->stale),
	    "dropped", count(a->dropped), "outside_by", "kernel", count(a->kernel), "no_build_id",
	    count(a->no_build_id), "no_artifact", count(a->no_artifact), "no_block",
	    count(a->no_block));
}

static json_t *json_registers(const struct manager_status *s)
{
	const struct observe_count *c = &s->observed;

	return json_pack("{so so so so so so so so}", "wanted", count(s->wanted), "samples",
	    count(c->samples), "unsent", count(c->unsent), "evaluated", count(c->placed),
	    "outcomes", count(c->outcomes), "callers", count(c->callers), "charged",
	    count(c->charged), "uncharged", count(c->uncharged));
}

static json_t *json_monitor(const struct ingest_status *in)
{
	static const char *const source[] = {[WIRE_SRC_TICK] = "tick",
	    [WIRE_SRC_CPU_CLOCK] = "cpu-clock",
	    [WIRE_SRC_RECORDED] = "recorded"};
	bool known = in->hello.session != 0;
	const char *name = NULL;

	if (known && in->hello.source < sizeof source / sizeof *source)
		name = source[in->hello.source];
	return json_pack("{sb so so so}", "connected", in->connected, "source", json_text(name),
	    "period_s", json_number(known ? (double)in->hello.period_ns / 1e9 : NAN), "last_batch",
	    json_time(in->last_batch_ms));
}

json_t *json_working(const struct manager_status *s, bool visible)
{
	if (!s->working_step)
		return json_null();
	return json_pack("{so so ss so so so}", "module",
	    visible ? json_module_id(s->working_module) : json_null(), "path",
	    json_text(visible ? s->working_path : NULL), "step", s->working_step, "change",
	    change_id(s->working_change), "since", json_time(s->working_since_ms), "eta_s",
	    json_number(s->working_left_s));
}

json_t *json_status(const struct manager_status *s, bool working_visible)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return json_pack("{ss si ss so so so so so so so so s{sb so} so so}", "version",
	    MORPH_VERSION, "pid", (int)getpid(), "mode", s->mode, "uid", count(getuid()), "started",
	    json_time(s->started_ms), "now", json_time((int64_t)now.tv_sec * 1000), "state_dir",
	    json_text(s->state_dir), "policy", json_text(s->policy), "monitor",
	    json_monitor(&s->monitor), "samples", json_accounting(&s->samples), "registers",
	    json_registers(s), "idle", "idle", s->idle, "text", json_text(s->idle_text), "working",
	    json_working(s, working_visible), "modules", count(s->modules));
}

static json_t *json_predicted(const struct store_module *m)
{
	if (!m->predicted)
		return json_null();
	return json_pack("{so so so so so so so so}", "gain", json_number(m->estimate.gain), "low",
	    json_number(m->estimate.low), "high", json_number(m->estimate.high), "missed",
	    json_number(m->estimate.missed), "samples", json_number(m->estimate.samples),
	    "taken_before", json_number(m->taken_before), "taken_after",
	    json_number(m->taken_after), "at", json_time(m->predicted_ms));
}

/* Of a service by the CPU's counters, 10^9 cycles are in the place of seconds. */
static json_t *json_runs(const struct trial_runs *r, bool cycles)
{
	return json_pack("{so so so so so}", "runs", count(r->n), "crashes", count(r->crashes),
	    "cpu_s", json_number(cycles ? NAN : r->cpu_s), "cycles",
	    json_number(cycles ? r->cpu_s * 1e9 : NAN), "work", json_number(r->work));
}

static const char *measured_verdict(const struct manager_trial *t)
{
	if (!t->ended_ms || t->verdict != TRIAL_OPEN)
		return trial_verdict_name(t->verdict);
	return t->trouble ? "not-measured" : "too-few-runs";
}

/* What the layout gains. */
static json_t *json_measured(const struct manager_trial *t)
{
	static const char *const by[TRIAL_KINDS] = {[TRIAL_IN_USE] = "use",
	    [TRIAL_BY_COMMAND] = "command",
	    [TRIAL_BY_RESTARTS] = "counter",
	    [TRIAL_BY_RESTART] = "counter"};
	const struct trial_estimate *e;
	bool open;

	if (!t)
		return json_null();
	e = &t->estimate;
	open = !t->ended_ms;
	return json_pack("{ss sb ss so so so so so so so so so so so so so}", "by",
	    t->cycles ? "cycles" : by[t->kind], "randomised", t->kind != TRIAL_BY_RESTART,
	    "verdict", measured_verdict(t), "gain", json_number(e->known ? e->gain : NAN), "low",
	    json_number(e->known ? e->low : NAN), "high", json_number(e->known ? e->high : NAN),
	    "promised", json_number(t->promised), "model", json_number(t->model), "old",
	    json_runs(&t->runs[TRIAL_OLD], t->cycles), "new",
	    json_runs(&t->runs[TRIAL_NEW], t->cycles), "pairs", count(e->pairs), "pairs_wanted",
	    open ? count(t->outlook.wanted) : json_null(), "eta_s",
	    json_number(open ? t->outlook.left_s : NAN), "began", json_time(t->began_ms), "ended",
	    json_time(t->ended_ms), "text", json_text(t->text));
}

/* What came of fetching its artifact. */
static json_t *json_fetch(const struct store_module *m)
{
	if (!m->fetch_why)
		return json_null();
	return json_pack("{so so so}", "text", json_text(m->fetch_why), "tries",
	    json_integer(m->fetch_tries), "again", json_time(m->fetch_ms));
}

/* What keeps it from being lifted, where it has no artifact. */
static json_t *json_legacy(const struct manager_legacy *l)
{
	static const char *const state[LIFT_STATES] = {[LIFT_OFF] = "off",
	    [LIFT_REFUSED] = "refused",
	    [LIFT_OBSERVED] = "observed",
	    [LIFT_FEW_SAMPLES] = "few-samples",
	    [LIFT_UNJUDGED] = "unjudged",
	    [LIFT_WAITING] = "waiting",
	    [LIFT_RUNNING] = "lifting",
	    [LIFT_FAILED] = "failed"};

	if (!l)
		return json_null();
	return json_pack("{ss so so so}", "state", state[l->state], "text", json_text(l->text),
	    "samples", json_number(l->samples), "needed", json_number(l->needed));
}

json_t *json_module(const struct store_module *m, double samples, bool can_rollback,
    const struct manager_trial *trial, const struct manager_legacy *legacy,
    const struct store_decision *last)
{
	double all = (double)m->mapped + (double)m->stale + (double)m->outside;
	/* Rolled back to the origin, the time of the last swap is of no layout. */
	int64_t layout_ms = store_laid_out(m) ? m->layout_ms : 0;
	json_t *j;

	j = json_pack("{so so so ss so so so so so so so so so}", "id", json_module_id(m->id),
	    "path", json_text(m->path), "uid", count(m->uid), "state",
	    module_state_name((enum module_state)m->state), "text", json_text(m->text), "build_id",
	    build_id(&m->current), "origin", build_id(&m->origin), "artifact",
	    json_text(m->artifact), "layout_at", json_time(layout_ms), "first_seen",
	    json_time(m->first_ms), "last_seen", json_time(m->last_ms), "held",
	    json_text(m->held_why), "held_until", json_time(m->held_until_ms));
	json_object_set_new(j, "samples", json_number(samples));
	json_object_set_new(j, "mapped", count(m->mapped));
	json_object_set_new(j, "stale", count(m->stale));
	json_object_set_new(j, "outside", count(m->outside));
	json_object_set_new(j, "mapped_share", share((double)m->mapped, all));
	json_object_set_new(j, "rollback", json_boolean(can_rollback));
	json_object_set_new(j, "predicted", json_predicted(m));
	json_object_set_new(j, "measured", json_measured(trial));
	json_object_set_new(j, "fetch", json_fetch(m));
	json_object_set_new(j, "legacy", json_legacy(legacy));
	json_object_set_new(j, "decision", last ? json_decision(last) : json_null());
	return j;
}

static const char *verdict_name(int v)
{
	return v == VERDICT_EDIT ? "edit" : v == VERDICT_SCORE ? "score" : "wait";
}

json_t *json_decision(const struct store_decision *d)
{
	return json_pack("{so so so so so ss si ss so}", "at", json_time(d->last_ms), "since",
	    json_time(d->first_ms), "times", count(d->times), "module", json_module_id(d->module),
	    "path", json_text(d->path), "verdict", verdict_name(d->verdict), "rung", d->rung,
	    "reason", rung_name((enum rung)d->rung), "text", json_text(d->text));
}

json_t *json_ladder(const struct store_decision *d)
{
	json_t *list = json_array(), *j;
	int r;

	for (r = RUNG_NONE + 1; d->step && r < RUNG_COUNT; r++) {
		j = json_pack("{si ss ss}", "rung", r, "name", rung_name((enum rung)r), "outcome",
		    outcome_name(d->step[r].outcome));
		if (d->step[r].text[0])
			json_object_set_new(j, "text", json_text(d->step[r].text));
		if (d->step[r].numbers) {
			json_object_set_new(j, "value", json_number(d->step[r].value));
			json_object_set_new(j, "limit", json_number(d->step[r].limit));
		}
		json_array_append_new(list, j);
	}
	return list;
}

json_t *json_order(const struct manager_order *o)
{
	bool known = o->said->names > 0;

	return json_pack("{so so so so}", "path", json_text(o->path), "names",
	    known ? count(o->said->names) : json_null(), "missed",
	    known ? count(o->said->missed) : json_null(), "example",
	    json_text(o->said->missed ? o->said->example : NULL));
}

json_t *json_event(const struct store_event *ev)
{
	json_t *before = ev->size_before ? count(ev->size_before) : json_null();
	json_t *after = ev->size_after ? count(ev->size_after) : json_null();

	return json_pack("{so so so so ss so so so so so so so so so}", "at", json_time(ev->at_ms),
	    "module", json_module_id(ev->module), "path", json_text(ev->path), "uid",
	    count(ev->uid), "event", event_name((enum event_kind)ev->kind), "from",
	    build_id(&ev->from), "to", build_id(&ev->to), "change", change_id(ev->change), "text",
	    json_text(ev->text), "samples", json_number(ev->samples), "gain", json_number(ev->gain),
	    "seconds", json_number(ev->seconds), "size_before", before, "size_after", after);
}

json_t *json_file(const struct address_file *f, bool module_visible)
{
	bool in_memory = f->kind == ADDRESS_ANONYMOUS;

	return json_pack("{so ss so so so so so so so so sf}", "id", json_module_id(f->id), "kind",
	    address_kind_name((enum address_kind)f->kind), "path",
	    json_text(in_memory ? NULL : f->path), "build_id", build_id(&f->build), "origin",
	    build_id(&f->origin), "module",
	    f->module && module_visible ? json_module_id(f->module) : json_null(), "uid",
	    address_kind_is_total((enum address_kind)f->kind) ? json_null() : count(f->uid), "pid",
	    in_memory ? count(f->pid) : json_null(), "comm", json_text(in_memory ? f->path : NULL),
	    "samples", count(f->samples), "cpu_s", (double)f->ns / 1e9);
}

json_t *json_change(const struct change *c, double left_s)
{
	bool one = c->module != 0;

	return json_pack("{so ss so so so ss sb so so so so so so}", "id", change_id(c->id), "kind",
	    c->kind == CHANGE_ROLLBACK ? "rollback" : "reoptimize", "module",
	    one ? json_module_id(c->module) : json_null(), "path", json_text(one ? c->path : NULL),
	    "uid", count(c->uid), "status", change_status_name((enum change_status)c->status),
	    "ready", c->status >= CHANGE_DONE, "step", json_text(c->step[0] ? c->step : NULL),
	    "step_since", json_time(c->step_ms), "eta_s", json_number(left_s), "text",
	    json_text(c->text), "started", json_time(c->started_ms), "ended",
	    json_time(c->ended_ms));
}

/* ---- profile ---- */

static double func_samples(const struct profile_func *f, size_t *sampled)
{
	double sum = 0;
	uint32_t i;

	*sampled = 0;
	for (i = 0; f->block && i < f->nblock; i++) {
		sum += f->block[i];
		*sampled += f->block[i] > 0;
	}
	return sum;
}

static int by_samples(const void *x, const void *y, void *arg)
{
	const double *block = arg;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	if (block[a] != block[b])
		return block[a] < block[b] ? 1 : -1;
	return a < b ? -1 : a > b;
}

/* Of the whole answer BLOCKS, of the hottest functions; names are a user's, and may be
 * of megabytes. */
enum { SUCCESSORS = 4, CALLERS = 4, BLOCKS = 10000, NAME_BYTES = 4096 };

static json_t *name_text(const char *s)
{
	char cut[NAME_BYTES + 1];
	size_t n = strnlen(s, NAME_BYTES);

	memcpy(cut, s, n);
	cut[n] = '\0';
	return json_text(cut);
}

static int by_weight(const void *x, const void *y)
{
	const struct profile_edge *a = *(const struct profile_edge *const *)x;
	const struct profile_edge *b = *(const struct profile_edge *const *)y;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return a->to < b->to ? -1 : a->to > b->to;
}

/* The most frequent successors by the outcomes of a block's branch; and the sum of these. */
static json_t *successors(const struct profile_func *f, uint32_t block, double *sum)
{
	size_t begin, end = profile_edges_of(f, block, &begin), i, n = end - begin;
	const struct profile_edge **edge = xcalloc(n, sizeof *edge);
	json_t *list = json_array();

	*sum = 0;
	for (i = 0; i < n; i++) {
		edge[i] = &f->edge.v[begin + i];
		*sum += edge[i]->n;
	}
	qsort(edge, n, sizeof *edge, by_weight);
	for (i = 0; i < n && i < SUCCESSORS; i++)
		json_array_append_new(list, json_pack("{so so}", "block", count(edge[i]->to),
						"share", share(edge[i]->n, *sum)));
	free(edge);
	return list;
}

struct caller {
	const struct profile_func *f;
	const struct profile_call *call;
};

struct callers {
	VEC(struct caller) list;
	double sum;
};

static int by_calls(const void *x, const void *y)
{
	const struct caller *a = x, *b = y;

	return a->call->n < b->call->n ? 1 : a->call->n > b->call->n ? -1 : 0;
}

/* Of the n functions of those indices, in their order; to free. */
static struct callers *find_callers(const struct profile *p, const size_t *func, size_t n)
{
	struct callers *all = xcalloc(n, sizeof *all), *c;
	const struct profile_func *g;
	struct htab index = {0};
	uint64_t *at;
	size_t i, j;

	for (i = 0; i < n; i++)
		*htab_put(&index, p->func.v[func[i]].key.b, sizeof p->func.v->key.b, NULL) = i;
	for (i = 0; i < p->func.n; i++) {
		g = &p->func.v[i];
		for (j = 0; j < g->call.n; j++) {
			at = htab_get(&index, g->call.v[j].callee.b, sizeof g->call.v->callee.b);
			if (!at)
				continue;
			c = &all[*at];
			vec_push(&c->list, (struct caller){g, &g->call.v[j]});
			c->sum += g->call.v[j].n;
		}
	}
	htab_free(&index);
	return all;
}

/* Where a function's samples were called from, the most frequent sites. Frees the list. */
static json_t *callers(struct callers *c)
{
	json_t *out = json_array();
	const struct caller *v = c->list.v;
	size_t i;

	if (c->list.n)
		qsort(c->list.v, c->list.n, sizeof *c->list.v, by_calls);
	for (i = 0; i < c->list.n && i < CALLERS; i++)
		json_array_append_new(
		    out, json_pack("{so so so so}", "name", name_text(v[i].f->name), "block",
			     count(v[i].call->block), "samples", json_number(v[i].call->n), "share",
			     share(v[i].call->n, c->sum)));
	vec_free(&c->list);
	return out;
}

static json_t *hot_blocks(const struct profile_func *f, double sum, size_t sampled, size_t max)
{
	uint32_t *order = xcalloc(sampled, sizeof *order), b;
	json_t *list = json_array(), *to;
	double seen;
	size_t i, n = 0;

	for (b = 0; f->block && b < f->nblock; b++)
		if (f->block[b] > 0)
			order[n++] = b;
	qsort_r(order, n, sizeof *order, by_samples, f->block);
	for (i = 0; i < n && i < max; i++) {
		to = successors(f, order[i], &seen);
		json_array_append_new(list,
		    json_pack("{so so so so so}", "block", count(order[i]), "samples",
			json_number(f->block[order[i]]), "share", share(f->block[order[i]], sum),
			"outcomes", json_number(seen), "successors", to));
	}
	free(order);
	return list;
}

/* c: its callers, NULL = without blocks; *left: of the answer's blocks. */
static json_t *json_function(
    const struct profile_func *f, double total, struct callers *c, size_t max_blocks, size_t *left)
{
	char key[HASH_HEX];
	size_t sampled;
	double sum = func_samples(f, &sampled);
	json_t *j, *hot;

	j = json_pack("{so so ss so so so so so}", "name", name_text(f->name), "tu",
	    name_text(f->tu), "key", hash_hex(&f->key, key), "samples", json_number(sum), "share",
	    share(sum, total), "blocks", count(f->nblock), "blocks_sampled", count(sampled),
	    "opaque", f->opaque ? name_text(f->opaque) : json_null());
	if (c) {
		hot = hot_blocks(f, sum, sampled, max_blocks < *left ? max_blocks : *left);
		*left -= json_array_size(hot);
		json_object_set_new(j, "hot", hot);
		json_object_set_new(j, "callers", callers(c));
	}
	return j;
}

json_t *json_profile(const struct store_module *m, const struct profile *p, size_t total,
    struct decay at, size_t max_functions, size_t max_blocks)
{
	struct profile_sum sum = profile_total(p, at);
	json_t *list = json_array();
	struct callers *all = NULL;
	size_t *hottest, n, i, left = BLOCKS;

	hottest = profile_hottest(p, at, &n);
	if (max_functions > n)
		max_functions = n;
	if (max_blocks > 0)
		all = find_callers(p, hottest, max_functions);
	for (i = 0; i < max_functions; i++)
		json_array_append_new(list, json_function(&p->func.v[hottest[i]], sum.samples,
						all ? &all[i] : NULL, max_blocks, &left));
	free(all);
	free(hottest);
	return json_pack("{so so so so so so so}", "module", json_module_id(m->id), "path",
	    json_text(m->path), "samples", json_number(sum.samples), "understood",
	    json_number(sum.understood), "functions_sampled", count(n), "functions_total",
	    count(total), "functions", list);
}
