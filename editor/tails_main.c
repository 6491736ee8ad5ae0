/*
 * Which of a block's places its labels stand at: the one from which control
 * goes on for the longest without a jump taken. Places are worth what a jump to
 * them is expected to cost from there on, later jumps less than the next ones
 * (a Markov decision process with discount; Howard 1960).
 */
#include "editor/layout_parts.h"
#include "editor/tails.h"

#include <stdlib.h>

enum { SWEEPS = 32 };
static const double LATER = 0.9; /* of what a jump counts that is one place further on */
static const double LESS = 1e-3; /* jumps: what it must save */

struct mains {
	const struct cfg *g;
	const struct layout *l;
	uint32_t *edges, *main;
	double *cost; /* per place: jumps taken from there on */
};

static double cost_of(const struct mains *m, uint32_t k)
{
	const struct layout *l = m->l;
	uint32_t b = l->order[k], next, i;
	double n = (double)m->g->block[b].count, sum = 0;
	const struct cfg_edge *e;

	next = k + 1 < l->n && k + 1 != l->nhot ? l->order[k + 1] : UINT32_MAX;
	for (i = m->edges[b]; i < m->edges[b + 1]; i++) {
		e = &m->g->edge[i];
		if (e->dst == next && e->kind != EDGE_INDIRECT)
			sum += (double)e->count * LATER * m->cost[k + 1];
		else
			sum += (double)e->count * (1 + LATER * m->cost[m->main[e->dst]]);
	}
	return n > 0 ? sum / n : 0;
}

static void sweep(struct mains *m)
{
	uint32_t k, round;

	for (round = 0; round < SWEEPS; round++)
		for (k = m->l->nhot; k-- > 0;)
			m->cost[k] = cost_of(m, k);
}

/* Nothing else would go on to a place that is no longer jumped to. */
static bool is_fallen_into(const struct mains *m, uint32_t k)
{
	uint64_t count;

	return k && layout_falls(m->g, m->l, m->edges, k - 1, &count);
}

static void choose(struct mains *m)
{
	uint32_t k, b;

	for (k = 0; k < m->l->nhot; k++) {
		b = m->l->order[k];
		if (m->cost[k] < m->cost[m->main[b]] - LESS && is_fallen_into(m, m->main[b]))
			m->main[b] = k;
	}
}

void tails_main(const struct cfg *g, struct layout *l, struct arena *a)
{
	struct mains m = {.g = g, .l = l};
	struct layout_score before, after;
	struct layout other = *l;
	uint32_t k;

	if (l->n == g->nblock)
		return;
	m.edges = layout_edges(g);
	m.main = arena_array(a, g->nblock, sizeof *m.main);
	m.cost = arena_array(a, l->n, sizeof *m.cost);
	layout_main(g, l, m.main);
	sweep(&m);
	choose(&m);
	free(m.edges);
	other.copy = arena_array(a, l->n, sizeof *other.copy);
	for (k = 0; k < l->n; k++)
		other.copy[k] = m.main[l->order[k]] != k;
	layout_score(g, l, &before);
	layout_score(g, &other, &after);
	if (after.taken < before.taken)
		*l = other;
}
