#include "editor-driver/cli/cli.h"
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

/* Prints and frees. */
static int print_json(json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(JSON_DIGITS));
	int rc;

	json_decref(o);
	rc = !text || puts(text) == EOF || fflush(stdout) ? -1 : 0;
	free(text);
	return rc;
}

static struct editanswer_score score_answer(const struct score *s)
{
	const struct fe_cost *c = &s->cost;

	return (struct editanswer_score){
	    s->exttsp, s->taken, s->total, s->lines95, {c->insns, c->taken, c->lines, c->cycles}};
}

json_t *score_json_part(const struct score *s)
{
	struct editanswer_score score = score_answer(s);

	return editanswer_score_json(&score);
}

/* What every answer over one artifact has, and the parts of edits and scores. */
static json_t *json_answer(const struct job *j, unsigned parts)
{
	const struct counts *c = &j->counts;
	struct editanswer a = j->r.answer;

	a.samples = amount(j, c->total);
	a.samples_used = amount(j, c->used);
	a.lines_lost.unknown_function = c->unknown;
	a.lines_lost.ambiguous_function = c->ambiguous;
	a.lines_lost.unknown_block = c->no_block;
	a.lines_lost.unknown_edge = j->plan.no_edge;
	a.score.before = score_answer(&j->r.before);
	a.score.after = score_answer(&j->r.after);
	return editanswer_json(&a, parts);
}

static json_t *edit_json(const struct job *j)
{
	return json_answer(j, EDITANSWER_LAYOUT | EDITANSWER_BUILD |
				  (j->r.scored ? EDITANSWER_SCORES : 0) |
				  (j->o->mode == PLAN_COUNT ? EDITANSWER_COUNTING : 0));
}

static json_t *score_json(const struct job *j)
{
	return json_answer(
	    j, EDITANSWER_LAYOUT | EDITANSWER_SCORES | (j->o->interval ? EDITANSWER_ESTIMATE : 0));
}

static void set_whole(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static json_t *replay_json(const struct job *j)
{
	const struct replay_result *w = &j->r.replay;
	json_t *o = json_pack("{s:b}", "ok", 1);

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
	json_object_set_new(o, "seconds",
	    json_pack("{s:f, s:f}", "parse", j->r.answer.seconds.parse, "compile", j->r.compile_s));
	return o;
}

static json_t *branches_json(const struct job *j)
{
	const struct branches_result *b = &j->r.branches;
	json_t *o = json_answer(j, 0);

	json_object_set_new(o, "out", editanswer_text_json(j->o->out));
	set_whole(o, "functions_written", b->functions);
	set_whole(o, "ranges", b->ranges);
	set_whole(o, "jumps", b->jumps);
	set_whole(o, "calls", b->calls);
	set_whole(o, "absent", b->absent);
	set_whole(o, "unplaced", b->unplaced);
	return o;
}

static json_t *json_opaque(const struct job *j)
{
	const struct art_func *f;
	const struct art_tu *tu;
	size_t i, n = artifact_funcs(j->art, &f);
	json_t *list = json_array(), *o;
	char hex[HASH_HEX];
	double part;

	artifact_tus(j->art, &tu);
	for (i = 0; i < n; i++) {
		if (!f[i].opaque[0])
			continue;
		o = json_pack("{s:o, s:s, s:o, s:o}", "function", editanswer_text_json(f[i].name),
		    "key", hash_hex(&f[i].key, hex), "tu", editanswer_text_json(tu[f[i].tu].name),
		    "reason", editanswer_text_json(f[i].opaque));
		part = share(counts_weight(&j->counts, f, i), j->r.weight);
		if (j->o->profile)
			json_object_set_new(o, "share", json_real(part));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_foreign(const struct job *j)
{
	json_t *list = json_array(), *o;
	const struct foreign_object *f;
	size_t i;

	for (i = 0; i < j->foreign.object.n; i++) {
		f = &j->foreign.object.v[i];
		o = json_pack("{s:o}", "object", editanswer_text_json(f->name));
		if (f->archive)
			json_object_set_new(o, "archive", editanswer_text_json(f->archive));
		set_whole(o, "functions", f->functions);
		set_whole(o, "bytes", f->bytes);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *artifact_json(const struct job *j)
{
	json_t *o = json_answer(j, 0);

	json_object_set_new(o, "name", editanswer_text_json(artifact_meta(j->art)->name));
	json_object_set_new(o, "opaque_functions", json_opaque(j));
	json_object_set_new(o, "foreign_objects", json_foreign(j));
	return o;
}

static json_t *read_json(const struct job *j)
{
	const struct tally *t = &j->tally;
	json_t *o = json_answer(j, 0);

	json_object_set_new(o, "out", editanswer_text_json(j->o->out));
	set_whole(o, "files", t->files);
	set_whole(o, "executions", t->executions);
	set_whole(o, "blocks_executed", t->blocks);
	set_whole(o, "edges_executed", t->edges);
	set_whole(o, "edges_unknown", t->unknown);
	set_whole(o, "functions_off", t->off_functions);
	set_whole(o, "executions_off", t->off);
	return o;
}

static const char *const HOW[] = {[SHAPE_GONE] = "gone",
    [SHAPE_SAME] = "same",
    [SHAPE_CHANGED] = "changed",
    [SHAPE_RENAMED] = "renamed"};
enum { HOWS = sizeof HOW / sizeof *HOW };

static json_t *carry_json(const struct job *j)
{
	json_t *o = json_answer(j, 0);
	const struct carried *c = j->r.carried;
	size_t i;

	for (i = 0; i < HOWS; i++)
		json_object_set_new(o, HOW[i],
		    json_pack("{s:I, s:f}", "functions", (json_int_t)c[i].functions, "samples",
			(double)c[i].samples / SAMPLE_ONE));
	return o;
}

static json_t *shapes_json(const struct job *j)
{
	return json_answer(j, 0);
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
	const struct editanswer *r = &j->r.answer;
	char hex[BUILD_ID_HEX];
	size_t i;

	printf("%-12s %s, build %s\n", "program", artifact_meta(j->art)->name,
	    build_id_hex(&r->origin, hex));
	print_profile(j);
	printf("%-12s %u in %u units, %u blocks\n", "functions", r->functions, r->tus, r->blocks);
	printf("%-12s %u move as a whole", "opaque", r->opaque);
	if (j->o->profile)
		printf(", with %.2f %% of the samples", 100 * r->opaque_share);
	printf("\n");
	for (i = 0; i < r->reason.n && i < REASONS_SHOWN; i++)
		printf("%-12s %6u  %s\n", "", r->reason.v[i].functions, r->reason.v[i].text);
}

static void print_seconds(const struct editanswer *r)
{
	printf("%-12s parse %.3f  infer %.3f  layout %.3f  emit %.3f  check %.3f  as %.3f  "
	       "ld %.3f  verify %.3f\n",
	    "seconds", r->seconds.parse, r->seconds.infer, r->seconds.layout, r->seconds.emit,
	    r->seconds.check, r->seconds.as, r->seconds.ld, r->seconds.verify);
}

static void print_scores(const struct job *j)
{
	const struct score *a = &j->r.before, *b = &j->r.after;
	const struct editanswer_estimate *s = &j->r.answer.estimate;

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
	if (j->o->interval)
		printf("%-12s %21.1f%% (%.1f … %.1f), and with more samples up to %.1f%% more\n",
		    "expected", 100 * s->gain, 100 * s->low, 100 * s->high, 100 * s->missed);
}

static void edit_text(const struct job *j)
{
	const struct editanswer *r = &j->r.answer;
	char hex[BUILD_ID_HEX];

	print_common(j);
	printf("%-12s %u functions; %u units assembled, %u from the cache\n", "edited", r->edited,
	    r->tus_assembled, r->tus_cached);
	if (j->o->mode == PLAN_COUNT)
		printf("%-12s %u functions by %u counters, for %u blocks\n", "counted", r->counted,
		    r->counters, r->blocks);
	print_seconds(r);
	print_scores(j);
	printf("%-12s %10llu %10llu bytes\n", "size", (unsigned long long)r->size.before,
	    (unsigned long long)r->size.after);
	printf("%-12s %s, build %s\n", "written", j->o->out, build_id_hex(&r->build_id, hex));
}

static void replay_text(const struct job *j)
{
	const struct replay_result *w = &j->r.replay;

	printf("%-12s %zu functions, %zu blocks, %zu instructions, %zu of them not understood\n",
	    "table", w->functions, w->blocks, w->uops, w->stops);
	printf("%-12s %zu opaque, %zu not in the original build, %zu measured otherwise, "
	       "%zu units refused by as\n",
	    "left out", w->opaque, w->absent, w->differing, w->unmeasured);
	printf("%-12s parse %.3f, as and compile %.3f seconds\n", "time", j->r.answer.seconds.parse,
	    j->r.compile_s);
	printf("%-12s %s, %zu bytes, %zu in memory\n", "written", j->o->out, w->bytes, w->memory);
}

static void branches_text(const struct job *j)
{
	const struct branches_result *b = &j->r.branches;

	print_common(j);
	printf("%-12s %zu ranges, %zu jumps, %zu calls, of %zu functions\n", "branches", b->ranges,
	    b->jumps, b->calls, b->functions);
	if (b->absent)
		printf(
		    "%-12s %zu functions, which the build does not have\n", "left out", b->absent);
	if (b->unplaced)
		printf("%-12s %zu functions: places of calls are those of their blocks\n",
		    "approximate", b->unplaced);
	printf("%-12s %s\n", "written", j->o->out);
}

static void print_foreign(const struct foreign *f)
{
	const struct foreign_object *o, *end = f->object.v + f->object.n;

	printf("%-12s %zu objects are linked as they are: %u functions, %llu bytes of code\n",
	    "foreign", f->object.n, f->functions, (unsigned long long)f->bytes);
	for (o = f->object.v; o < end; o++)
		printf("%-12s %6u  %s%s%s%s\n", "", o->functions, o->archive ? o->archive : "",
		    o->archive ? "(" : "", o->name, o->archive ? ")" : "");
}

static void artifact_text_report(const struct job *j)
{
	const struct art_func *f;
	size_t i, n = artifact_funcs(j->art, &f);

	print_common(j);
	print_foreign(&j->foreign);
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

static void score_text(const struct job *j)
{
	print_common(j);
	print_seconds(&j->r.answer);
	print_scores(j);
}

static void read_text(const struct job *j)
{
	const struct tally *t = &j->tally;

	printf("%-12s %zu files; %llu executions of %llu blocks, by %llu edges\n", "read", t->files,
	    (unsigned long long)t->executions, (unsigned long long)t->blocks,
	    (unsigned long long)t->edges);
	if (t->unknown)
		printf("%-12s %llu edges: indirect jumps share their targets\n", "unresolved",
		    (unsigned long long)t->unknown);
	if (t->off)
		printf("%-12s %zu functions: sums are off by %llu executions; they were left or\n"
		       "%-12s interrupted where nothing counts (signals, other threads)\n",
		    "approximate", t->off_functions, (unsigned long long)t->off, "");
	printf("%-12s %s\n", "written", j->o->out);
}

static void carry_text(const struct job *j)
{
	const struct carried *c = j->r.carried;
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < HOWS; i++)
		all += c[i].samples;
	for (i = 0; i < HOWS; i++)
		printf("%-12s %zu functions, %.1f %% of the samples\n", HOW[i], c[i].functions,
		    100 * share(c[i].samples, all));
	printf("%-12s %s\n", "written", j->o->out);
}

static void shapes_text(const struct job *j)
{
	print_common(j);
	printf("%-12s %s\n", "written", j->o->out);
}

/* ---- each job's ---- */

int report(const struct job *j)
{
	static const struct {
		json_t *(*json)(const struct job *);
		void (*text)(const struct job *);
	} score = {score_json, score_text}, artifact = {artifact_json, artifact_text_report},
	  replay = {replay_json, replay_text}, read = {read_json, read_text},
	  shapes = {shapes_json, shapes_text}, branches = {branches_json, branches_text},
	  annotated = {annotate_json, annotate_text}, carried = {carry_json, carry_text},
	  edit = {edit_json, edit_text}, compare = {compare_json, compare_text},
	  lifted = {lift_json, lift_text}, *of;

	of = j->o->lift           ? &lifted
	     : j->o->score        ? &score
	     : j->o->report       ? &artifact
	     : j->o->replay_table ? &replay
	     : j->o->annotate     ? &annotated
	     : j->o->branches     ? &branches
	     : j->o->raw          ? &read
	     : j->o->shapes       ? &shapes
	     : j->o->carry        ? &carried
	     : j->o->compare      ? &compare
				  : &edit;
	if (j->o->json)
		return print_json(of->json(j));
	of->text(j);
	return fflush(stdout) || ferror(stdout) ? -1 : 0;
}

int report_failure(const char *error, bool json)
{
	return json ? print_json(editanswer_refusal_json(error)) : 0;
}
