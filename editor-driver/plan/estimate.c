#include "editor-driver/plan/estimate.h"
#include "editor-driver/plan/passes.h"
#include "editor-driver/plan/score.h"
#include "editor-driver/profile/resample.h"
#include "editor/infer/infer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Student's t, two-sided 90 %, of ESTIMATE_DRAWS - 1 degrees of freedom. */
static const double T90 = 2.015;

struct estimating {
	struct plan *p;
	uint64_t *known; /* counts of all blocks and edges by the profile */
	const struct built_code *build;
	struct built_code first;       /* the original */
	struct score before, original; /* the build's and the original's, by the profile */
	struct resample_rates rates;
};

static struct cfg *cfg_of(const struct plan_func *f)
{
	return &f->tu->unit->func[f->ord].cfg;
}

static void copy_counts(struct plan *p, uint64_t *at, bool back)
{
	const struct plan_func *f;
	struct cfg *g;
	uint32_t i;

	for (f = p->weighed; f < p->weighed + p->nweighed; f++) {
		g = cfg_of(f);
		for (i = 0; i < g->nblock; i++, at++)
			*(back ? &g->block[i].count : at) = back ? *at : g->block[i].count;
		for (i = 0; i < g->nedge; i++, at++)
			*(back ? &g->edge[i].count : at) = back ? *at : g->edge[i].count;
	}
}

static void keep_counts(struct estimating *g)
{
	double insns = 0, samples = 0, branching = 0, outcomes = 0;
	const struct plan_func *f;
	const struct cfg *c;
	size_t n = 0;
	uint32_t b, i;

	for (f = g->p->weighed; f < g->p->weighed + g->p->nweighed; f++) {
		c = cfg_of(f);
		n += (size_t)c->nblock + c->nedge;
		for (b = 0; b < c->nblock; b++) {
			insns += (double)c->block[b].count *
				 (c->block[b].insns < 1 ? 1 : c->block[b].insns);
			samples += (double)c->block[b].samples;
			if (c->succ[b + 1] - c->succ[b] < 2)
				continue;
			branching += (double)c->block[b].samples;
			for (i = c->succ[b]; i < c->succ[b + 1]; i++)
				outcomes += (double)c->edge[i].outcomes;
		}
	}
	g->rates.samples = insns > 0 ? samples / SAMPLE_ONE / insns : 0;
	g->rates.outcomes = branching > 0 ? outcomes / branching : 0;
	g->known = xcalloc(n, sizeof *g->known);
	copy_counts(g->p, g->known, false);
}

/* What a layout with these costs saves over a build, by the plan's present counts. */
static double gain_over(
    const struct plan *p, const struct built_code *build, const struct score *after)
{
	struct score before;

	score_build(p, build, &before);
	return fe_gain(&before.cost, &after->cost);
}

static void infer_again(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch)
{
	infer(&t->unit->func[i].cfg, INFER_SAMPLES, scratch);
}

/* Gains of a draw's layout, by the draw and by the profile: over the build, and over the original,
 * which no profile made. */
struct judged {
	double own, other, own_first, other_first;
};

static void judge(struct estimating *g, uint64_t seed, struct judged *j)
{
	struct plan_layouts present;
	const struct plan_func *f;
	uint64_t state = seed;
	struct score after;

	for (f = g->p->weighed; f < g->p->weighed + g->p->nweighed; f++)
		resample(cfg_of(f), &g->rates, &state);
	plan_each_weighed(g->p, infer_again);
	plan_put_layouts_away(g->p, &present);
	plan_layout(g->p);
	plan_order(g->p);
	score_plan(g->p, g->p, g->build, &after);
	j->own = gain_over(g->p, g->build, &after);
	j->own_first = gain_over(g->p, &g->first, &after);
	copy_counts(g->p, g->known, true);
	score_plan(g->p, g->p, g->build, &after);
	j->other = fe_gain(&g->before.cost, &after.cost);
	j->other_first = fe_gain(&g->original.cost, &after.cost);
	plan_take_layouts_back(g->p, &present);
}

void estimate_gain(struct plan *p, const struct built_code *build, struct editanswer_estimate *out)
{
	struct estimating g = {.p = p, .build = build, .first = {.map = &p->map}};
	double error, sum = 0, squares = 0, promised, spread, best, others = 0, optimism = 0;
	struct score after;
	struct judged j;
	int k;

	score_build(p, build, &g.before);
	score_build(p, &g.first, &g.original);
	score_plan(p, p, build, &after);
	best = promised = fe_gain(&g.before.cost, &after.cost);
	*out = (struct editanswer_estimate){promised, promised, promised, 0, 0};
	if (p->counts->form != COUNTS_SAMPLES || !p->nweighed)
		return;
	keep_counts(&g);
	for (k = 1; k <= ESTIMATE_DRAWS; k++) {
		judge(&g, (uint64_t)k, &j);
		error = j.own - j.other;
		sum += error;
		squares += error * error;
		optimism += j.own_first - j.other_first;
		others += j.other;
		best = fmax(best, j.other);
	}
	spread = sqrt(fmax(0, squares - sum * sum / ESTIMATE_DRAWS) / (ESTIMATE_DRAWS - 1));
	out->optimism = optimism / ESTIMATE_DRAWS;
	out->gain = promised - out->optimism;
	out->low = out->gain - T90 * spread;
	out->high = out->gain + T90 * spread;
	out->missed = best - others / ESTIMATE_DRAWS;
	free(g.known);
}
