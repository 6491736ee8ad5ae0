#include "managerd/trial/posterior.h"
#include "common/sort.h"

#include <math.h>
#include <stdbool.h>

enum { N = 3, ROUNDS = 12, FACTOR_ROUNDS = 6 };

/* By the ten programs of docs/bench/predict.md: before anything is measured the costs are known to
 * within .3 of themselves, and a program's gains lie .01 of the time about what its factor says. */
static const double SPREAD = 0.3, SCATTER = 0.01;
/* Scale and degrees of freedom of the factors' Student's t distribution. */
static const double FACTOR_SPREAD = 0.7, FREEDOM = 2;
/* Costs stay within these factors of the fitted ones; no program's own is beyond this. */
static const double LEAST = 0.1, MOST = 4, FACTOR_MOST = 5;
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

/* Of the edits of one program, each by its variance: products of what the model says, of its slopes
 * by the costs (in units of the prior ones) and of what was measured. */
struct sums {
	double slopes[N][N], slope_said[N], slope_gain[N], said_said, said_gain;
};

static void add(
    const struct posterior_edit *e, const double cost[N], const double prior[N], struct sums *s)
{
	double all = cycles(cost, &e->before), said = 1 - cycles(cost, &e->after) / all;
	double weight = 1 / (e->sd * e->sd + SCATTER * SCATTER), slope[N];
	int i, k;

	for (k = 0; k < N; k++)
		slope[k] = prior[k] * ((1 - said) * term(&e->before, k) - term(&e->after, k)) / all;
	for (i = 0; i < N; i++) {
		s->slope_said[i] += weight * slope[i] * said;
		s->slope_gain[i] += weight * slope[i] * e->gain;
		for (k = 0; k < N; k++)
			s->slopes[i][k] += weight * slope[i] * slope[k];
	}
	s->said_said += weight * said * said;
	s->said_gain += weight * said * e->gain;
}

/* Of the edits from e on that are of its program; returns how many these are. */
static size_t sum_up(const struct posterior_edit *e, size_t n, const double cost[N],
    const double prior[N], struct sums *s)
{
	size_t i;

	*s = (struct sums){0};
	for (i = 0; i < n && e[i].program == e->program; i++)
		if (is_plausible(&e[i].before) && is_plausible(&e[i].after))
			add(&e[i], cost, prior, s);
	return i;
}

/* A program's factor at given costs: a t variable is a normal one of unknown variance, which is
 * estimated in turn (Lange, Little and Taylor, JASA 84, 1989). *variance: what is left of it. */
static double factor_of(const struct sums *s, double *variance)
{
	double square = FACTOR_SPREAD * FACTOR_SPREAD, prior = square, off = 0;
	int round;

	for (round = 0; round < FACTOR_ROUNDS; round++) {
		*variance = 1 / (1 / prior + s->said_said);
		off = *variance * (s->said_gain - s->said_said);
		prior = (FREEDOM * square + off * off + *variance) / (FREEDOM + 1);
	}
	return 1 + off;
}

/* Adds a program to the normal equations h · step = g; its factor, which is not known exactly, is
 * eliminated. */
static void add_program(const struct sums *s, double h[N][N], double g[N])
{
	double variance, f = factor_of(s, &variance);
	int i, k;

	for (i = 0; i < N; i++) {
		g[i] += f * (s->slope_gain[i] - f * s->slope_said[i]);
		for (k = 0; k < N; k++)
			h[i][k] +=
			    f * f *
			    (s->slopes[i][k] - variance * s->slope_said[i] * s->slope_said[k]);
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

static int by_program(const void *a, const void *b)
{
	const struct posterior_edit *x = a, *y = b;

	return ORDER(x->program, y->program);
}

/* Improves the costs by one round. */
static void improve(const struct posterior_edit *e, size_t n, const double prior[N], double cost[N])
{
	double h[N][N] = {0}, g[N];
	struct sums s;
	size_t i;
	int k;

	for (k = 0; k < N; k++) {
		h[k][k] = 1 / (SPREAD * SPREAD);
		g[k] = (1 - cost[k] / prior[k]) / (SPREAD * SPREAD);
	}
	for (i = 0; i < n;) {
		i += sum_up(&e[i], n - i, cost, prior, &s);
		add_program(&s, h, g);
	}
	solve(h, g);
	for (k = 0; k < N; k++)
		cost[k] = fmin(fmax(cost[k] + prior[k] * g[k], LEAST * prior[k]), MOST * prior[k]);
}

struct posterior posterior(struct posterior_edit *e, size_t n, uint64_t program)
{
	double prior[N], cost[N], variance, factor = 1;
	struct sums s;
	size_t i;
	int round;

	if (n)
		qsort(e, n, sizeof *e, by_program);
	values(&FRONTCOSTS, prior);
	values(&FRONTCOSTS, cost);
	for (round = 0; round < ROUNDS; round++)
		improve(e, n, prior, cost);
	i = partition_point(0, n, k, e[k].program < program);
	if (i < n && e[i].program == program) {
		sum_up(&e[i], n - i, cost, prior, &s);
		factor = fmin(fmax(factor_of(&s, &variance), 0), FACTOR_MOST);
	}
	return (struct posterior){{cost[0], cost[1], cost[2]}, factor};
}
