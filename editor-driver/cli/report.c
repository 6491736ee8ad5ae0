#include "editor-driver/cli/report.h"
#include "editor/cfg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REASONS_SHOWN = 5, JSON_DIGITS = 9 };

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Profile values in the unit of its file. */
static double amount(const struct job *j, uint64_t v)
{
	return j->counts.form == COUNTS_SAMPLES ? (double)v / SAMPLE_ONE : (double)v;
}

/* ---- JSON ---- */

int report_json(json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(JSON_DIGITS));
	int rc;

	json_decref(o);
	rc = !text || puts(text) == EOF || fflush(stdout) ? -1 : 0;
	free(text);
	return rc;
}

static void set_text(json_t *o, const char *key, const char *s)
{
	json_t *v = json_string(s);

	/* Names come from assembly and need not be UTF-8. */
	json_object_set_new(o, key, v ? v : json_string("?"));
}

static void set_whole(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void set_real(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, json_real(v));
}

static void set_id(json_t *o, const char *key, const struct build_id *id)
{
	char hex[BUILD_ID_HEX];

	set_text(o, key, build_id_hex(id, hex));
}

static json_t *json_reasons(const struct job *j)
{
	const struct result *r = &j->r;
	json_t *list = json_array(), *o;
	size_t i;

	for (i = 0; i < r->reason.n; i++) {
		o = json_object();
		set_text(o, "reason", r->reason.v[i].text);
		set_whole(o, "functions", r->reason.v[i].functions);
		set_real(o, "share", share(r->reason.v[i].weight, r->weight));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *report_score_json(const struct score *s)
{
	const struct fe_cost *c = &s->cost;

	return json_pack("{s:f, s:f, s:f, s:I, s:{s:f, s:f, s:f, s:f, s:f, s:f}}", "exttsp",
	    s->exttsp, "taken", s->taken, "total", s->total, "lines95", (json_int_t)s->lines95,
	    "cost", "insns", c->insns, "taken", c->taken, "lines", c->lines, "l1i", c->l1i, "itlb",
	    c->itlb, "cycles", c->cycles);
}

static json_t *json_seconds(const struct seconds *s)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "parse", s->parse, "infer",
	    s->infer, "layout", s->layout, "emit", s->emit, "check", s->check, "as", s->as, "ld",
	    s->ld, "verify", s->verify);
}

/* What every answer has. */
static json_t *json_common(const struct job *j)
{
	const struct result *r = &j->r;
	json_t *o = json_object();

	json_object_set_new(o, "ok", json_true());
	set_id(o, "origin", &r->origin);
	set_whole(o, "functions", r->functions);
	set_whole(o, "blocks", r->blocks);
	set_whole(o, "tus", r->tus);
	set_whole(o, "opaque", r->opaque);
	set_real(o, "opaque_share", share(r->opaque_weight, r->weight));
	json_object_set_new(o, "opaque_reasons", json_reasons(j));
	set_real(o, "samples", amount(j, j->counts.total));
	set_real(o, "samples_used", amount(j, j->counts.used));
	json_object_set_new(o, "lines_lost",
	    json_pack("{s:I, s:I, s:I, s:I}", "unknown_function", (json_int_t)j->counts.unknown,
		"ambiguous_function", (json_int_t)j->counts.ambiguous, "unknown_block",
		(json_int_t)j->counts.no_block, "unknown_edge", (json_int_t)j->plan.no_edge));
	return o;
}

static void add_scores(json_t *o, const struct job *j)
{
	if (j->r.scored)
		json_object_set_new(o, "score",
		    json_pack("{s:o, s:o}", "before", report_score_json(&j->r.before), "after",
			report_score_json(&j->r.after)));
}

static int edit_json(const struct job *j)
{
	json_t *o = json_common(j);
	const struct result *r = &j->r;

	set_text(o, "out", j->o->out);
	set_id(o, "build_id", &r->id);
	set_whole(o, "edited", r->edited);
	if (j->o->mode == PLAN_COUNT) {
		set_whole(o, "counted", r->counted);
		set_whole(o, "counters", r->counters);
	}
	set_whole(o, "tus_assembled", r->assembled);
	set_whole(o, "tus_cached", r->cached);
	json_object_set_new(o, "seconds", json_seconds(&r->seconds));
	add_scores(o, j);
	json_object_set_new(o, "size",
	    json_pack("{s:I, s:I}", "before", (json_int_t)r->size_before, "after",
		(json_int_t)r->size_after));
	return report_json(o);
}

static int score_json(const struct job *j)
{
	json_t *o = json_common(j);

	set_whole(o, "edited", j->r.edited);
	json_object_set_new(o, "seconds", json_seconds(&j->r.seconds));
	add_scores(o, j);
	return report_json(o);
}

static int replay_json(const struct job *j)
{
	const struct replay_result *w = &j->r.replay;
	json_t *o = json_object(), *s = json_object();

	json_object_set_new(o, "ok", json_true());
	set_whole(o, "functions", w->functions);
	set_whole(o, "blocks", w->blocks);
	set_whole(o, "instructions", w->uops);
	set_whole(o, "stops", w->stops);
	set_whole(o, "opaque", w->opaque);
	set_whole(o, "absent", w->absent);
	set_whole(o, "differing", w->differing);
	set_whole(o, "unmeasured", w->unmeasured);
	set_whole(o, "bytes", w->bytes);
	set_whole(o, "memory", w->memory);
	set_real(s, "parse", j->r.seconds.parse);
	set_real(s, "compile", j->r.seconds.compile);
	json_object_set_new(o, "seconds", s);
	return report_json(o);
}

static json_t *json_opaque(const struct job *j)
{
	const struct art_func *f;
	const struct art_tu *tu;
	size_t i, n = artifact_funcs(j->art, &f);
	json_t *list = json_array(), *o;
	char hex[HASH_HEX];

	artifact_tus(j->art, &tu);
	for (i = 0; i < n; i++) {
		if (!f[i].opaque[0])
			continue;
		o = json_object();
		set_text(o, "function", f[i].name);
		set_text(o, "key", hash_hex(&f[i].key, hex));
		set_text(o, "tu", tu[f[i].tu].name);
		set_text(o, "reason", f[i].opaque);
		if (j->o->profile)
			set_real(o, "share", share(counts_weight(&j->counts, f, i), j->r.weight));
		json_array_append_new(list, o);
	}
	return list;
}

static int artifact_json(const struct job *j)
{
	json_t *o = json_common(j);

	set_text(o, "name", artifact_meta(j->art)->name);
	json_object_set_new(o, "opaque_functions", json_opaque(j));
	return report_json(o);
}

/* ---- text ---- */

static void print_lost(uint64_t n, const char *what)
{
	if (n)
		printf("%llu lines %s\n", (unsigned long long)n, what);
}

static void print_profile(const struct job *j)
{
	const struct counts *c = &j->counts;

	if (!j->o->profile)
		return;
	printf("%-12s %.10g in %llu lines, %.1f %% of them in known blocks\n",
	    c->form == COUNTS_SAMPLES ? "samples" : "executions", amount(j, c->total),
	    (unsigned long long)c->lines, 100 * share(c->used, c->total));
	if (!c->used)
		puts("nothing of it is of this program: nothing moves for it");
	print_lost(c->unknown, "name functions this artifact does not have");
	print_lost(c->ambiguous, "name functions it has several of: write name#KEY");
	print_lost(c->no_block, "name blocks their function does not have");
	if (j->plan.no_edge)
		printf("%zu edges do not exist in their functions\n", j->plan.no_edge);
}

static void print_common(const struct job *j)
{
	const struct result *r = &j->r;
	char hex[BUILD_ID_HEX];
	size_t i;

	printf("%-12s %s, build %s\n", "program", artifact_meta(j->art)->name,
	    build_id_hex(&r->origin, hex));
	print_profile(j);
	printf("%-12s %zu in %zu units, %zu blocks\n", "functions", r->functions, r->tus,
	    r->blocks);
	printf("%-12s %zu move as a whole", "opaque", r->opaque);
	if (j->o->profile)
		printf(", with %.2f %% of the samples", 100 * share(r->opaque_weight, r->weight));
	printf("\n");
	for (i = 0; i < r->reason.n && i < REASONS_SHOWN; i++)
		printf("%-12s %6u  %s\n", "", r->reason.v[i].functions, r->reason.v[i].text);
}

static void print_seconds(const struct seconds *s)
{
	printf("%-12s parse %.3f  infer %.3f  layout %.3f  emit %.3f  check %.3f  as %.3f  "
	       "ld %.3f  verify %.3f\n",
	    "seconds", s->parse, s->infer, s->layout, s->emit, s->check, s->as, s->ld, s->verify);
}

static void print_scores(const struct job *j)
{
	const struct score *a = &j->r.before, *b = &j->r.after;

	if (!j->r.scored)
		return;
	printf("%-12s %10s %10s\n", "layout", "before", "after");
	printf("%-12s %9.1f%% %9.1f%%\n", "taken", a->total > 0 ? 100 * a->taken / a->total : 0,
	    b->total > 0 ? 100 * b->taken / b->total : 0);
	printf("%-12s %10.3f %10.3f\n", "ext-TSP", a->total > 0 ? a->exttsp / a->total : 0,
	    b->total > 0 ? b->exttsp / b->total : 0);
	printf("%-12s %10llu %10llu\n", "lines of 95%", (unsigned long long)a->lines95,
	    (unsigned long long)b->lines95);
	printf("%-12s %21.1f%% of time, predicted\n", "gain", 100 * fe_gain(&a->cost, &b->cost));
}

static void edit_text(const struct job *j)
{
	const struct result *r = &j->r;
	char hex[BUILD_ID_HEX];

	print_common(j);
	printf("%-12s %zu functions; %zu units assembled, %zu from the cache\n", "edited",
	    r->edited, r->assembled, r->cached);
	if (j->o->mode == PLAN_COUNT)
		printf("%-12s %zu functions by %zu counters, for %zu blocks\n", "counted",
		    r->counted, r->counters, r->blocks);
	print_seconds(&r->seconds);
	print_scores(j);
	printf("%-12s %10llu %10llu bytes\n", "size", (unsigned long long)r->size_before,
	    (unsigned long long)r->size_after);
	printf("%-12s %s, build %s\n", "written", j->o->out, build_id_hex(&r->id, hex));
}

static void replay_text(const struct job *j)
{
	const struct replay_result *w = &j->r.replay;

	printf("%-12s %zu functions, %zu blocks, %zu instructions, %zu of them not understood\n",
	    "table", w->functions, w->blocks, w->uops, w->stops);
	printf("%-12s %zu opaque, %zu not in the original build, %zu measured otherwise, "
	       "%zu units refused by as\n",
	    "left out", w->opaque, w->absent, w->differing, w->unmeasured);
	printf("%-12s parse %.3f, as and compile %.3f seconds\n", "time", j->r.seconds.parse,
	    j->r.seconds.compile);
	printf("%-12s %s, %zu bytes, %zu in memory\n", "written", j->o->out, w->bytes, w->memory);
}

static void artifact_text_report(const struct job *j)
{
	const struct art_func *f;
	size_t i, n = artifact_funcs(j->art, &f);

	print_common(j);
	for (i = 0; i < n; i++) {
		if (!f[i].opaque[0])
			continue;
		printf("%-40s %s", f[i].name, f[i].opaque);
		if (j->o->profile)
			printf(" (%.2f %%)",
			    100 * share(counts_weight(&j->counts, f, i), j->r.weight));
		printf("\n");
	}
}

int report_text_done(void)
{
	return fflush(stdout) || ferror(stdout) ? -1 : 0;
}

int report_edit(const struct job *j, bool json)
{
	if (json)
		return edit_json(j);
	edit_text(j);
	return report_text_done();
}

int report_replay(const struct job *j, bool json)
{
	if (json)
		return replay_json(j);
	replay_text(j);
	return report_text_done();
}

int report_score(const struct job *j, bool json)
{
	if (json)
		return score_json(j);
	print_common(j);
	print_seconds(&j->r.seconds);
	print_scores(j);
	return report_text_done();
}

int report_artifact(const struct job *j, bool json)
{
	if (json)
		return artifact_json(j);
	artifact_text_report(j);
	return report_text_done();
}

static int read_json(const struct job *j)
{
	const struct tally *t = &j->tally;
	json_t *o = json_common(j);

	set_text(o, "out", j->o->out);
	set_whole(o, "files", t->files);
	set_whole(o, "executions", t->executions);
	set_whole(o, "blocks_executed", t->blocks);
	set_whole(o, "edges_executed", t->edges);
	set_whole(o, "edges_unknown", t->unknown);
	set_whole(o, "functions_off", t->off_functions);
	set_whole(o, "executions_off", t->off);
	return report_json(o);
}

int report_read(const struct job *j, bool json)
{
	const struct tally *t = &j->tally;

	if (json)
		return read_json(j);
	printf("%-12s %zu files; %llu executions of %llu blocks, by %llu edges\n", "read",
	    t->files, (unsigned long long)t->executions, (unsigned long long)t->blocks,
	    (unsigned long long)t->edges);
	if (t->unknown)
		printf("%-12s %llu edges: indirect jumps share their targets\n",
		    "unresolved", (unsigned long long)t->unknown);
	if (t->off)
		printf("%-12s %zu functions: sums are off by %llu executions; they were left or\n"
		       "%-12s interrupted where nothing counts (signals, other threads)\n",
		    "approximate", t->off_functions, (unsigned long long)t->off, "");
	printf("%-12s %s\n", "written", j->o->out);
	return report_text_done();
}

int report_failure(const char *error, bool json)
{
	json_t *o;

	if (!json)
		return 0;
	o = json_object();
	json_object_set_new(o, "ok", json_false());
	set_text(o, "error", error);
	return report_json(o);
}
