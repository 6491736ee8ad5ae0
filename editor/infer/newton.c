#include "editor/infer/model.h"
#include "editor/infer/sparse.h"

#include <math.h>
#include <string.h>

enum {
	ROUNDS = 80,         /* 10 to 15 on average, few need 40 */
	FULL_ROUNDS = 10,    /* then steps are damped: some oscillate */
	WORK = 20 * 1000000, /* multiplications of a round: beyond, no answer */
};
static const uint32_t NONE = UINT32_MAX;
static const double PACE = 0.7, DONE = 0.01; /* as shares of a step and of a flow */
static const double FREE = 0.02; /* weight in samples of the flow that enters a function */
static const double ROUNDS_TO_0 = 0.3;

struct newton {
	struct model *m;
	struct sparse s;
	/* Per block: */
	double *price;        /* of a unit of flow there: the multipliers */
	double *own, *common; /* sum of its successors' own; see invert_hessian() */
};

static void find_entries(
    struct newton *t, struct succ *begin, struct succ *end, uint32_t b, struct arena *a)
{
	struct succ *v;
	uint32_t i, n;

	for (v = begin; v < end; v++) {
		if (v->dst == NONE)
			continue;
		n = end - begin > WIDE ? 0 : (uint32_t)(v - begin);
		v->entry = arena_array(a, 1 + (size_t)n, sizeof *v->entry);
		v->entry[0] = sparse_entry(&t->s, b, v->dst);
		for (i = 0; i < n; i++)
			if (begin[i].dst != NONE)
				v->entry[1 + i] = sparse_entry(&t->s, begin[i].dst, v->dst);
	}
}

static bool analyse(struct newton *t, struct arena *a)
{
	const struct model *m = t->m;
	VEC(uint32_t) pair = {0};
	uint32_t b, i, k;
	bool ok;

	for (b = 0; b < m->g->nblock; b++)
		for (i = m->first[b]; i < m->first[b + 1]; i++) {
			if (m->succ[i].dst == NONE)
				continue;
			vec_push(&pair, b);
			vec_push(&pair, m->succ[i].dst);
			for (k = m->first[b]; k < i && m->first[b + 1] - m->first[b] <= WIDE; k++)
				if (m->succ[k].dst != NONE) {
					vec_push(&pair, m->succ[k].dst);
					vec_push(&pair, m->succ[i].dst);
				}
		}
	ok = sparse_analyse(&t->s, m->g->nblock, pair.v, pair.n / 2, WORK, a);
	vec_free(&pair);
	for (b = 0; b < m->g->nblock && ok; b++)
		find_entries(t, m->succ + m->first[b], m->succ + m->first[b + 1], b, a);
	return ok;
}

/* The inverse of the Hessian of b's outgoing flows is diag(own) + common own own': of the cost of
 * their shares, their sum and predecessor counts (Sherman, Morrison). */
static void invert_hessian(struct newton *t, uint32_t b)
{
	const struct model *m = t->m;
	struct succ *v, *begin = m->succ + m->first[b], *end = m->succ + m->first[b + 1];
	double both = end - begin > WIDE ? 0 : 1 / m->weight[b] - 1 / m->outcomes[b];
	double x = model_block_flow(m, b), k;

	t->own[b] = t->common[b] = 0;
	if (!model_branches(m, b)) {
		for (v = begin; v < end; v++)
			t->own[b] = v->own = 1 / (m->weight[b] / (x * x) + v->bend);
		return;
	}
	for (v = begin; v < end; v++) {
		v->own = 1 / (m->outcomes[b] / (v->flow * x) + v->bend);
		t->own[b] += v->own;
	}
	k = m->outcomes[b] / x;
	k = both * k * k / (1 + both * m->outcomes[b]);
	t->common[b] = k / (1 - k * t->own[b]);
}

/* Sets the steps of b's outgoing flows: their gradients with the prices, multiplied by that. */
static void set_steps(struct newton *t, uint32_t b)
{
	struct model *m = t->m;
	struct succ *v, *begin = m->succ + m->first[b], *end = m->succ + m->first[b + 1];
	double steps = 0;

	for (v = begin; v < end; v++) {
		v->step = v->gradient + ((v->dst == NONE ? 0 : t->price[v->dst]) - t->price[b]);
		steps += v->own * v->step;
	}
	for (v = begin; v < end; v++)
		v->step = v->own * (v->step + t->common[b] * steps);
}

/* Adds b's outgoing edges to the matrix: the inverse of the Hessian, multiplied from both sides by
 * the incidence matrix. */
static void couple(struct newton *t, uint32_t b)
{
	const struct succ *begin = t->m->succ + t->m->first[b], *v, *u;
	const struct succ *end = t->m->succ + t->m->first[b + 1];
	double sum = t->own[b], common = t->common[b];

	*sparse_entry(&t->s, b, b) += sum + common * sum * sum;
	for (v = begin; v < end; v++) {
		if (v->dst == NONE)
			continue;
		*sparse_entry(&t->s, v->dst, v->dst) += v->own + common * v->own * v->own;
		*v->entry[0] -= (v->own + common * v->own * sum) * (v->dst == b ? 2 : 1);
		for (u = begin; u < v && common != 0; u++)
			if (u->dst != NONE)
				*v->entry[1 + (u - begin)] +=
				    common * u->own * v->own * (u->dst == v->dst ? 2 : 1);
	}
}

/* The equations for the prices: with their solution the step balances what enters and leaves each
 * block. */
static void set_up(struct newton *t, double *right)
{
	struct model *m = t->m;
	struct succ *v;
	uint32_t b;

	sparse_clear(&t->s);
	model_update(m);
	for (b = 0; b < m->g->nblock; b++)
		t->price[b] = right[b] = 0;
	for (b = 0; b < m->g->nblock; b++) {
		if (!m->used[b]) {
			*sparse_entry(&t->s, b, b) = 1;
			continue;
		}
		invert_hessian(t, b);
		set_steps(t, b);
		couple(t, b);
		for (v = m->succ + m->first[b]; v < m->succ + m->first[b + 1]; v++) {
			right[b] -= v->flow - v->step;
			if (v->dst != NONE)
				right[v->dst] += v->flow - v->step;
		}
		if (m->in[b] > 0) {
			*sparse_entry(&t->s, b, b) += m->in[b] * m->in[b] / FREE;
			right[b] += 2 * m->in[b];
		}
	}
}

/* Changes a flow by a share of it, within bounds. Returns how much it moved, 0 for negligible
 * flows. */
static double change(const struct model *m, double *flow, double by)
{
	double moved = *flow > ROUNDS_TO_0 ? fabs(by) : 0;

	*flow = model_within(m, *flow * (by < -0.9 ? 0.1 : by < 7 ? 1 + by : 8));
	return moved;
}

/* Returns the largest change, as a share of a flow. */
static double step(struct newton *t, double pace)
{
	struct model *m = t->m;
	double moved = 0;
	struct succ *v;
	uint32_t b;

	for (b = 0; b < m->g->nblock; b++) {
		set_steps(t, b);
		for (v = m->succ + m->first[b]; v < m->succ + m->first[b + 1]; v++)
			moved = fmax(moved, change(m, &v->flow, -v->step / v->flow * pace));
		if (m->in[b] > 0)
			moved = fmax(moved,
			    change(m, &m->in[b], (1 - m->in[b] / FREE * t->price[b]) * pace));
	}
	return moved;
}

void newton_solve(struct model *m, struct arena *a)
{
	struct newton t = {.m = m};
	double moved = 1, *right = arena_array(a, m->g->nblock, sizeof *right);
	int round;

	t.price = arena_array(a, m->g->nblock, sizeof *t.price);
	t.own = arena_array(a, m->g->nblock, sizeof *t.own);
	t.common = arena_array(a, m->g->nblock, sizeof *t.common);
	if (!analyse(&t, a))
		return;
	for (round = 0; round < ROUNDS && moved >= DONE; round++) {
		set_up(&t, right);
		sparse_factor(&t.s);
		sparse_solve(&t.s, right);
		memcpy(t.price, right, m->g->nblock * sizeof *right);
		moved = step(&t, round < FULL_ROUNDS ? 1 : PACE);
	}
}
