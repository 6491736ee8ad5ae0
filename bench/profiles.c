/*
 * What profiles are worth: each is compared with a complete profile of the same
 * workload, by the layout it leads to and by its weights.
 *
 *	profiles ARTIFACT COUNTS [NAME SAMPLES]...
 *
 * Prints a tab separated line each: name; ext-TSP score and taken share, under
 * the complete counts, of the order made from the profile; overlap of edge
 * weights in per cent, within functions and of the whole program; seconds; taken
 * share with copies of blocks besides.
 */
#include "common/log.h"
#include "editor-driver/plan/plan.h"
#include "editor/layout/layout.h"

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
}

struct worth {
	struct layout_score score;
	double within, whole; /* overlaps */
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
	struct layout_score one;
	const struct plan_func *f;
	const struct plan_tu *t;
	const struct cfg *exact;
	struct arena mem = {0};
	struct layout l;

	for (f = truth->weighed; f < truth->weighed + truth->nweighed; f++) {
		exact = &f->tu->unit->func[f->ord].cfg;
		t = &p->tu[f->tu - truth->tu];
		if (t->edited && t->weight[f->ord]) {
			l = t->placement[f->ord].layout;
			sum = sum_edges(exact);
			w->within += sum / alltrue *
				     overlap(exact, sum, &t->unit->func[f->ord].cfg,
					 sum_edges(&t->unit->func[f->ord].cfg));
			w->whole += overlap(exact, alltrue, &t->unit->func[f->ord].cfg, all);
		} else {
			layout_identity(exact, &l, &mem);
		}
		layout_score(exact, &l, &one);
		w->score.exttsp += one.exttsp;
		w->score.taken += one.taken;
		w->score.total += one.total;
	}
	arena_free(&mem);
}

static void row(const char *name, const struct worth *w, double seconds, const struct worth *copied)
{
	printf("%s\t%.4f\t%.4f\t%.1f\t%.1f\t%.3f\t%.4f\n", name, w->score.exttsp / w->score.total,
	    w->score.taken / w->score.total, 100 * w->within, 100 * w->whole, seconds,
	    copied->score.taken / copied->score.total);
}

static void as_built(const struct plan *truth)
{
	struct worth w = {0};
	struct layout_score one;
	const struct plan_func *f;
	struct arena mem = {0};
	struct layout l;

	for (f = truth->weighed; f < truth->weighed + truth->nweighed; f++) {
		layout_identity(&f->tu->unit->func[f->ord].cfg, &l, &mem);
		layout_score(&f->tu->unit->func[f->ord].cfg, &l, &one);
		w.score.exttsp += one.exttsp;
		w.score.taken += one.taken;
		w.score.total += one.total;
	}
	row("as built", &w, 0, &w);
	arena_free(&mem);
}

static void profile(const struct plan *truth, struct artifact *a, const char *name,
    const char *path, enum counts_form form)
{
	struct worth w[2] = {0};
	struct profiled p;
	double seconds = 0;
	unsigned i;

	for (i = 0; i < 2; i++) {
		memset(&p, 0, sizeof p);
		make(&p, a, path, form, i);
		compare(truth, &p.plan, &w[i]);
		seconds = i ? seconds : p.seconds;
		plan_free(&p.plan);
		counts_free(&p.counts);
	}
	row(name, &w[0], seconds, &w[1]);
}

int main(int argc, char **argv)
{
	struct profiled truth = {0};
	struct artifact *a;
	struct err e;
	int i;

	if (argc < 3 || argc % 2 == 0)
		return 2;
	a = artifact_open(argv[1], &e);
	if (!a)
		return fprintf(stderr, "%s\n", e.text), 1;
	make(&truth, a, argv[2], COUNTS_EXECUTIONS, 0);
	as_built(&truth.plan);
	for (i = 3; i + 1 < argc; i += 2)
		profile(&truth.plan, a, argv[i], argv[i + 1], COUNTS_SAMPLES);
	profile(&truth.plan, a, "complete", argv[2], COUNTS_EXECUTIONS);
	plan_free(&truth.plan);
	counts_free(&truth.counts);
	artifact_close(a);
	return 0;
}
