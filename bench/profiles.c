/*
 * What profiles are worth: each is judged by a complete one, by the layout it leads to and by its
 * weights.
 *
 *	profiles ARTIFACT COUNTS [NAME (samples|counts):FILE]...
 *
 * Prints a tab separated line each, the first of the program as built. Under the counts: NAME;
 * ext-TSP score and taken share of the order made from the profile, without copies of blocks;
 * overlap of edge weights in per cent, within functions and of the whole program; CPU seconds of
 * inference; of the whole layout taken share, lines that hold 95 % of what is executed, changes of
 * the line and cycles, both per instruction. By the profile itself: blocks that hold 90 % of the
 * executions.
 */
#include "common/log.h"
#include "common/sort.h"
#include "editor-driver/plan/plan.h"
#include "editor-driver/plan/score.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct profiled {
	struct counts counts;
	struct plan plan;
	double seconds; /* of inference */
};

static void make(
    struct profiled *p, struct artifact *a, const char *path, enum counts_form form, bool tails)
{
	const struct art_func *func;
	size_t n = artifact_funcs(a, &func);
	struct timespec t0, t1;
	struct err e;

	if (counts_read(path, form, func, n, &p->counts, &e) ||
	    plan_begin(&p->plan, a, PLAN_PROFILE, 0, &p->counts,
		(struct plan_omit){.tails = !tails}, 1, &e) ||
	    plan_parse(&p->plan, &e)) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
	plan_infer(&p->plan);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
	p->seconds = (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
	plan_layout(&p->plan);
	plan_order(&p->plan);
}

struct worth {
	struct score alone, score; /* of the order; with copies of blocks besides */
	double within, whole;      /* overlaps */
	double seconds;
	size_t hot;
};

static double sum_edges(const struct cfg *g)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < g->nedge; i++)
		sum += (double)g->edge[i].count;
	return sum;
}

static double sum_all(const struct plan *p)
{
	const struct plan_func *f;
	double sum = 0;

	for (f = p->weighed; f < p->weighed + p->nweighed; f++)
		sum += sum_edges(&f->tu->unit->func[f->ord].cfg);
	return sum;
}

static double overlap(const struct cfg *a, double suma, const struct cfg *b, double sumb)
{
	double sum = 0, x, y;
	uint32_t i;

	if (suma <= 0 || sumb <= 0)
		return 0;
	for (i = 0; i < a->nedge; i++) {
		x = (double)a->edge[i].count / suma;
		y = (double)b->edge[i].count / sumb;
		sum += x < y ? x : y;
	}
	return sum;
}

static void compare(const struct plan *truth, const struct plan *p, struct worth *w)
{
	double alltrue = sum_all(truth), all = sum_all(p), sum;
	const struct plan_func *f;
	const struct plan_tu *t;
	const struct cfg *exact;

	for (f = truth->weighed; f < truth->weighed + truth->nweighed; f++) {
		exact = &f->tu->unit->func[f->ord].cfg;
		t = &p->tu[f->tu - truth->tu];
		if (!t->edited || !t->weight[f->ord])
			continue;
		sum = sum_edges(exact);
		w->within += sum / alltrue *
			     overlap(exact, sum, &t->unit->func[f->ord].cfg,
				 sum_edges(&t->unit->func[f->ord].cfg));
		w->whole += overlap(exact, alltrue, &t->unit->func[f->ord].cfg, all);
	}
}

static int descending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return ORDER(*y, *x);
}

static size_t hot_blocks(const struct plan *p)
{
	VEC(uint64_t) count = {0};
	const struct plan_func *f;
	const struct cfg *g;
	double all = 0, sum = 0;
	size_t n = 0;
	uint32_t b;

	for (f = p->weighed; f < p->weighed + p->nweighed; f++) {
		g = &f->tu->unit->func[f->ord].cfg;
		for (b = 0; b < g->nblock; b++) {
			vec_push(&count, g->block[b].count);
			all += (double)g->block[b].count;
		}
	}
	vec_sort(&count, descending);
	while (n < count.n && sum < .9 * all)
		sum += (double)count.v[n++];
	vec_free(&count);
	return n;
}

static void row(const char *name, const struct worth *w)
{
	printf("%s\t%.4f\t%.4f\t%.1f\t%.1f\t%.3f\t%.4f\t%llu\t%.4f\t%.4f\t%zu\n", name,
	    w->alone.exttsp / w->alone.total, w->alone.taken / w->alone.total, 100 * w->within,
	    100 * w->whole, w->seconds, w->score.taken / w->score.total,
	    (unsigned long long)w->score.lines95, w->score.cost.lines, w->score.cost.cycles,
	    w->hot);
	fflush(stdout);
}

static void as_built(const struct plan *truth)
{
	const struct built_code original = {.map = &truth->map};
	struct worth w = {.hot = hot_blocks(truth)};

	score_build(truth, &original, &w.score);
	w.alone = w.score;
	row("as built", &w);
}

static void profile(const struct plan *truth, struct artifact *a, const char *name,
    const char *path, enum counts_form form)
{
	struct worth w = {.seconds = 0};
	struct profiled p;
	unsigned i;

	for (i = 0; i < 2; i++) {
		memset(&p, 0, sizeof p);
		make(&p, a, path, form, i);
		score_plan(truth, &p.plan, NULL, i ? &w.score : &w.alone);
		if (!i) {
			compare(truth, &p.plan, &w);
			w.seconds = p.seconds;
			w.hot = hot_blocks(&p.plan);
		}
		plan_free(&p.plan);
		counts_free(&p.counts);
	}
	row(name, &w);
}

static bool form_of(const char *arg, const char **path, enum counts_form *form)
{
	*path = strchr(arg, ':');
	*form = strncmp(arg, "counts:", 7) ? COUNTS_SAMPLES : COUNTS_EXECUTIONS;
	return *path && (*path)++ && (*form == COUNTS_EXECUTIONS || !strncmp(arg, "samples:", 8));
}

int main(int argc, char **argv)
{
	struct profiled truth = {0};
	enum counts_form form;
	struct artifact *a;
	const char *path;
	struct err e;
	int i;

	for (i = 4; i < argc; i += 2)
		if (!form_of(argv[i], &path, &form))
			return 2;
	if (argc < 3 || argc % 2 == 0)
		return 2;
	a = artifact_open(argv[1], &e);
	if (!a)
		return fprintf(stderr, "%s\n", e.text), 1;
	make(&truth, a, argv[2], COUNTS_EXECUTIONS, 0);
	as_built(&truth.plan);
	for (i = 3; i + 1 < argc; i += 2)
		if (form_of(argv[i + 1], &path, &form))
			profile(&truth.plan, a, argv[i], path, form);
	plan_free(&truth.plan);
	counts_free(&truth.counts);
	artifact_close(a);
	return 0;
}
