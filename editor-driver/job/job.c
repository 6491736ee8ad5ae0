#include "editor-driver/job/job.h"
#include "common/log.h"
#include "common/publish.h"
#include "common/sort.h"
#include "editor-driver/append/append.h"
#include "editor-driver/job/steps.h"
#include "editor-driver/link/relink.h"
#include "editor-driver/plan/estimate.h"
#include "editor-driver/proof/vet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double lap(struct timespec *last)
{
	struct timespec now;
	double s;

	clock_gettime(CLOCK_MONOTONIC, &now);
	s = (double)(now.tv_sec - last->tv_sec) + (double)(now.tv_nsec - last->tv_nsec) / 1e9;
	*last = now;
	return s;
}

/* Shares are weights until survey() divides them. */
static void count_opaque(struct editanswer *r, const char *why, uint64_t weight)
{
	size_t i;

	r->opaque++;
	r->opaque_share += (double)weight;
	for (i = 0; i < r->reason.n && strcmp(r->reason.v[i].text, why); i++)
		;
	if (i == r->reason.n)
		vec_push(&r->reason, (struct editanswer_reason){why, 0, 0});
	r->reason.v[i].functions++;
	r->reason.v[i].share += (double)weight;
}

static int by_share(const void *a, const void *b)
{
	const struct editanswer_reason *x = a, *y = b;

	return ORDER(y->share, x->share) ?: ORDER(y->functions, x->functions) ?:
	       strcmp(x->text, y->text);
}

static void survey(struct job *j)
{
	struct editanswer *r = &j->r.answer;
	const struct art_func *f;
	double all;
	size_t i;
	uint64_t w;

	r->functions = (uint32_t)artifact_funcs(j->art, &f);
	r->tus = (uint32_t)artifact_tus(j->art, &(const struct art_tu *){NULL});
	r->origin = artifact_meta(j->art)->id;
	for (i = 0; i < r->functions; i++) {
		w = j->o->profile ? counts_weight(&j->counts, f, i) : 0;
		j->r.weight += w;
		r->blocks += f[i].nblock;
		if (f[i].opaque[0])
			count_opaque(r, f[i].opaque, w);
	}
	all = j->r.weight ? (double)j->r.weight : 1;
	r->opaque_share /= all;
	for (i = 0; i < r->reason.n; i++)
		r->reason.v[i].share /= all;
	vec_sort(&r->reason, by_share);
}

int open_inputs(struct job *j, struct err *e)
{
	const struct options *o = j->o;
	const struct art_func *f;
	size_t n;

	j->art = artifact_open_of(o->artifact, &o->program, e);
	if (!j->art)
		return -1;
	if (o->order && funclist_read(&j->first, o->order, e))
		return -1;
	if (vet_artifact(j->art, e))
		return err_wrap(e, "%s: refused", o->artifact);
	n = artifact_funcs(j->art, &f);
	/* A profile to carry over is one of another artifact. */
	if (o->profile && !o->carry && counts_read(o->profile, o->form, f, n, &j->counts, e))
		return -1;
	survey(j);
	return 0;
}

/* Can the program have counters, and every thread its own, if that is asked for? Those are
 * addressed by a segment register, of which a process has one for all its modules, and allocated
 * with thread-local memory that the C library sets up. */
static int may_count(const struct job *j, struct err *e)
{
	static const char instead[] = "use --counters=atomic";
	uint32_t kind = artifact_meta(j->art)->kind;

	if (artifact_lifted(j->art))
		return err_set(e,
		    "%s: was lifted; counters need a program that can be linked again",
		    j->o->artifact);
	if (j->o->counting.kind != COUNTERS_THREAD)
		return 0;
	if (kind != ELF_EXEC && kind != ELF_PIE)
		return err_set(e, "--counters=thread is for executables alone: %s", instead);
	if (relink_bare_entry(j->art))
		return err_set(
		    e, "--counters=thread needs the C library's start files: %s", instead);
	return 0;
}

static void tell_missed(struct job *j)
{
	struct plan_missed m = plan_missed(&j->plan, &j->first);
	struct editanswer_list *list = &j->r.answer.list;

	list->names = (uint32_t)j->first.name.n;
	list->missed = (uint32_t)m.n;
	snprintf(list->example, sizeof list->example, "%s", m.n ? m.name : "");
	if (m.n)
		log_warn("%s: %zu of %zu names are of no function of the program that can move, "
			 "such as '%.200s'",
		    j->o->order, m.n, j->first.name.n, m.name);
}

int parse_and_lay_out(struct job *j, struct timespec *clock, struct err *e)
{
	const struct options *o = j->o;
	struct plan *p = &j->plan;
	struct editanswer *r = &j->r.answer;
	struct plan_figures n;

	if (plan_begin(p, j->art, o->mode, o->seed, &j->counts, o->omit, o->jobs, e))
		return -1;
	if (o->order)
		plan_put_first(p, &j->first);
	if (plan_parse(p, e))
		return -1;
	r->seconds.parse = lap(clock);
	plan_infer(p);
	r->seconds.infer = lap(clock);
	if (o->mode != PLAN_COUNT)
		plan_layout(p);
	else if (may_count(j, e) || plan_count(p, &o->counting, e))
		return -1;
	plan_order(p);
	tell_missed(j);
	r->seconds.layout = lap(clock);
	n = plan_figures(p);
	r->edited = n.moved;
	r->counted = n.counted;
	r->counters = n.counters;
	return 0;
}

/* The file of a lifted artifact has no map. */
static bool is_lifted_original(struct job *j, struct elf *f)
{
	struct build_id id = elf_file_build_id(f);

	return artifact_lifted(j->art) && build_id_equal(&id, &artifact_meta(j->art)->id);
}

static int read_layout(struct job *j, const char *path, struct blockmap *m, struct err *e)
{
	const struct build_id *id = &artifact_meta(j->art)->id;
	struct elf *f = elf_file_open(path, -1, e);
	int rc = 0;

	if (!f)
		return -1;
	if (is_lifted_original(j, f))
		blockmap_copy(&j->plan.map, m);
	else
		rc = blockmap_from_elf(f, m, e) ? err_wrap(e, "%s", path) : 0;
	if (!rc && !build_id_equal(&m->id, id) && !build_id_equal(&m->origin, id))
		rc = err_set(e, "%s: not a build of this artifact", path);
	if (!rc && artifact_lifted(j->art)) {
		blockmap_put_original(m, &j->plan.map);
		append_forget_old(&j->plan.map, m);
	}
	elf_file_close(f);
	return rc;
}

/* Map and file of a build of the artifact, or without a path of the original, whose file is not
 * needed. Free m and *build's file in both cases. */
static int read_build(
    struct job *j, const char *path, struct blockmap *m, struct built_code *build, struct err *e)
{
	build->map = path ? m : &j->plan.map;
	return path && (file_read(path, 0, &build->file, e) || read_layout(j, path, m, e)) ? -1 : 0;
}

int score_both(struct job *j, const struct built_code *made, struct err *e)
{
	struct blockmap m = {0};
	struct built_code present = {.map = NULL};
	int rc = read_build(j, j->o->layout, &m, &present, e);

	if (rc)
		goto out;
	score_build(&j->plan, &present, &j->r.before);
	if (made)
		score_build(&j->plan, made, &j->r.after);
	else
		score_plan(&j->plan, &j->plan, &present, &j->r.after);
	if (j->o->interval)
		estimate_gain(&j->plan, &present, &j->r.answer.estimate);
	j->r.scored = true;
out:
	blockmap_free(&m);
	buf_free(&present.file);
	return rc;
}

/* Of the units that the profile names, or of all. */
int job_replay(struct job *j, struct err *e)
{
	enum plan_mode mode = j->o->profile ? PLAN_PROFILE : PLAN_RANDOM;
	struct timespec clock;
	struct buf table = {0};
	int rc;

	lap(&clock);
	if (open_inputs(j, e) ||
	    plan_begin(&j->plan, j->art, mode, 0, &j->counts, j->o->omit, j->o->jobs, e) ||
	    plan_parse(&j->plan, e))
		return -1;
	j->r.answer.seconds.parse = lap(&clock);
	rc = replay_make(&j->plan, j->dir, j->cache, &table, &j->r.replay, e);
	if (!rc)
		rc = publish_bytes(j->o->out, table.p, table.n, 0644, e);
	j->r.compile_s = lap(&clock);
	buf_free(&table);
	return rc;
}

/* Parses and infers, for a job over the code of o->module, or else of the original. */
static int infer_over(struct job *j, struct err *e)
{
	struct plan *p = &j->plan;

	if (open_inputs(j, e) ||
	    plan_begin(p, j->art, PLAN_PROFILE, 0, &j->counts, j->o->omit, j->o->jobs, e) ||
	    plan_parse(p, e) || read_build(j, j->o->module, &j->module, &j->code, e))
		return -1;
	plan_infer(p);
	return 0;
}

int job_branches(struct job *j, struct err *e)
{
	struct measured measured = {0};
	struct buf text = {0};
	int rc;

	rc = infer_over(j, e) || measure(&j->plan, j->dir, j->cache, &measured, e) ||
		     branches_make(&j->plan, &j->code, &measured, &text, &j->r.branches, e)
		 ? -1
		 : publish_bytes(j->o->out, text.p, text.n, 0644, e);
	buf_free(&text);
	measured_free(&measured);
	return rc;
}

int job_annotate(struct job *j, struct err *e)
{
	return infer_over(j, e) || annotate(&j->plan, &j->code, j->o->annotate, &j->annotation, e)
		   ? -1
		   : 0;
}

int job_score(struct job *j, struct err *e)
{
	struct timespec clock;

	lap(&clock);
	return open_inputs(j, e) || parse_and_lay_out(j, &clock, e) || score_both(j, NULL, e) ? -1
											      : 0;
}

int job_report(struct job *j, struct err *e)
{
	return open_inputs(j, e) || foreign_survey(j->art, &j->foreign, e) ? -1 : 0;
}

static int read_one(struct job *j, const char *path, struct err *e)
{
	struct rawcounts c = {.pid = 0};
	struct buf bytes = {0};
	int rc;

	rc = file_read(path, 0, &bytes, e);
	if (!rc)
		rc = rawcounts_parse(bytes.p, bytes.n, path, &c, e);
	if (!rc && tally_add(&j->tally, &c, e))
		rc = err_wrap(e, "%s", path);
	rawcounts_free(&c);
	buf_free(&bytes);
	return rc;
}

int job_read(struct job *j, struct buf *profile, struct err *e)
{
	char **path;

	if (open_inputs(j, e) ||
	    plan_begin(&j->plan, j->art, PLAN_COUNT, 0, NULL, j->o->omit, j->o->jobs, e) ||
	    plan_parse(&j->plan, e))
		return -1;
	tally_begin(&j->tally, &j->plan);
	for (path = j->o->raw; *path; path++)
		if (read_one(j, *path, e))
			return -1;
	tally_print(&j->tally, profile);
	return 0;
}

static int open_units(struct job *j, struct err *e)
{
	return open_inputs(j, e) || plan_begin(&j->plan, j->art, PLAN_IDENTITY, 0, NULL, j->o->omit,
					j->o->jobs, e)
		   ? -1
		   : 0;
}

int job_shapes(struct job *j, struct buf *shapes, struct err *e)
{
	return open_units(j, e) || shapes_make(&j->plan, shapes, e) ? -1 : 0;
}

int job_carry(struct job *j, struct buf *profile, struct err *e)
{
	return open_units(j, e) ||
		       shapes_carry(&j->plan, j->o->carry, j->o->profile, j->r.carried, profile, e)
		   ? -1
		   : 0;
}

int job_compare(struct job *j, struct err *e)
{
	struct artifact *a = artifact_open_of(j->o->artifact, &j->o->program, e);

	return a ? compare(a, j->o->compared, j->o->jobs, &j->comparison, e) : -1;
}

int job_lift(struct job *j, struct err *e)
{
	const struct options *o = j->o;
	struct publish p;

	if (publish_open(&p, o->out, 0644, e))
		return -1;
	if (lift_module(o->lift, o->addresses, o->jobs, p.tmp, &j->lifted, e)) {
		publish_abort(&p);
		return -1;
	}
	return publish_commit(&p, e);
}

void job_free(struct job *j)
{
	lift_result_free(&j->lifted);
	tally_free(&j->tally);
	compare_close(&j->comparison);
	annotation_free(&j->annotation);
	vec_free(&j->r.answer.reason);
	vec_free(&j->foreign.object);
	plan_free(&j->plan);
	funclist_free(&j->first);
	blockmap_free(&j->module);
	buf_free(&j->code.file);
	counts_free(&j->counts);
	artifact_close(j->art);
	*j = (struct job){0};
}
