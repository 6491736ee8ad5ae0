#include "managerd/trial/posterior.h"

#include <math.h>
#include <stdbool.h>

enum { N = 3, ROUNDS = 12 };

/* By the ten programs of docs/bench/predict.md: before anything is measured the costs are known to
 * within .3 of themselves, and programs lie .015 of the time about what they say. */
static const double SPREAD = 0.3, SCATTER = 0.015;
/* Degrees of freedom of the errors' Student's t distribution, which down-weights outliers: single
 * programs were ten times as far off. */
static const double FREEDOM = 4;
/* Costs stay within these factors of the fitted ones. */
static const double LEAST = 0.1, MOST = 4;
/* No layout of a program has more of anything for each instruction. */
static const double TERM_MAX = 10;

static void values(const struct frontcosts *c, double v[N])
{
	v[0] = c->insn;
	v[1] = c->taken;
	v[2] = c->line;
}

static double term(const struct posterior_terms *t, int k)
{
	return k == 0 ? t->insns : k == 1 ? t->taken : t->lines;
}

static double cycles(const double cost[N], const struct posterior_terms *t)
{
	double sum = 0;
	int k;

	for (k = 0; k < N; k++)
		sum += cost[k] * term(t, k);
	return sum;
}

double posterior_gain(const struct frontcosts *c, const struct posterior_terms *before,
    const struct posterior_terms *after)
{
	double cost[N], all;

	values(c, cost);
	all = cycles(cost, before);
	return all > 0 ? 1 - cycles(cost, after) / all : NAN;
}

/* An editor's word is whatever its user makes of it. */
static bool is_plausible(const struct posterior_terms *t)
{
	int k;

	for (k = 0; k < N; k++)
		if (!(term(t, k) >= 0 && term(t, k) <= TERM_MAX))
			return false;
	return t->insns > 1 / TERM_MAX;
}

/* Adds an edit to the normal equations h · step = g, in units of the prior costs. */
static void add(const struct posterior_edit *e, const double cost[N], const double prior[N],
    double h[N][N], double g[N])
{
	double all = cycles(cost, &e->before), said = 1 - cycles(cost, &e->after) / all;
	double square = e->sd * e->sd + SCATTER * SCATTER, off = e->gain - said, slope[N];
	double weight = (FREEDOM + 1) / (FREEDOM * square + off * off);
	int i, k;

	for (k = 0; k < N; k++)
		slope[k] = prior[k] * ((1 - said) * term(&e->before, k) - term(&e->after, k)) / all;
	for (i = 0; i < N; i++) {
		g[i] += weight * slope[i] * off;
		for (k = 0; k < N; k++)
			h[i][k] += weight * slope[i] * slope[k];
	}
}

/* h is symmetric and positive definite: Gaussian elimination in its order. */
static void solve(double h[N][N], double g[N])
{
	double f;
	int i, j, k;

	for (k = 0; k < N; k++)
		for (i = k + 1; i < N; i++) {
			f = h[i][k] / h[k][k];
			for (j = k; j < N; j++)
				h[i][j] -= f * h[k][j];
			g[i] -= f * g[k];
		}
	for (k = N - 1; k >= 0; k--) {
		for (j = k + 1; j < N; j++)
			g[k] -= h[k][j] * g[j];
		g[k] /= h[k][k];
	}
}

struct frontcosts posterior_costs(const struct posterior_edit *e, size_t n)
{
	double prior[N], cost[N], h[N][N], g[N];
	int round, k;
	size_t i;

	values(&FRONTCOSTS, prior);
	values(&FRONTCOSTS, cost);
	for (round = 0; round < ROUNDS; round++) {
		for (k = 0; k < N; k++) {
			h[k][0] = h[k][1] = h[k][2] = 0;
			h[k][k] = 1 / (SPREAD * SPREAD);
			g[k] = (1 - cost[k] / prior[k]) / (SPREAD * SPREAD);
		}
		for (i = 0; i < n; i++)
			if (is_plausible(&e[i].before) && is_plausible(&e[i].after))
				add(&e[i], cost, prior, h, g);
		solve(h, g);
		for (k = 0; k < N; k++)
			cost[k] = fmin(
			    fmax(cost[k] + prior[k] * g[k], LEAST * prior[k]), MOST * prior[k]);
	}
	return (struct frontcosts){cost[0], cost[1], cost[2]};
}
