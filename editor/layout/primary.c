/*
 * Chooses the primary slot of each block: the one from which control continues longest without a
 * taken jump. The cost of a slot is the expected number of taken jumps from there on, discounted (a
 * Markov decision process; Howard 1960).
 */
#include "editor/layout/slots.h"
#include "editor/layout/tails.h"

#include <stdlib.h>

enum { SWEEPS = 32 };
static const uint32_t NONE = UINT32_MAX;
static const double LATER = 0.9; /* discount per slot */
static const double LESS = 1e-3; /* jumps: the least gain */

/* A successor of a slot. */
struct succ {
	double count;  /* executions; times LATER where it is fallen into */
	uint32_t jump; /* target block of the jump, or NONE: it falls through */
};

struct search {
	const struct cfg *g;
	const struct layout *l;
	uint32_t *primary;
	struct succ *succ; /* succ[first[k]] … succ[first[k + 1]] are slot k's */
	uint32_t *first;
	double *cost; /* per slot: expected taken jumps */
};

static void find_succs(struct search *m, struct arena *a)
{
	const struct layout *l = m->l;
	const uint32_t *succ = m->g->succ;
	uint32_t k, b, i, next, n = 0;
	const struct cfg_edge *e;

	for (k = 0; k < l->nhot; k++)
		n += succ[l->order[k] + 1] - succ[l->order[k]];
	m->succ = arena_array(a, n, sizeof *m->succ);
	m->first = arena_array(a, (size_t)l->nhot + 1, sizeof *m->first);
	for (k = n = 0; k < l->nhot; k++, m->first[k] = n) {
		b = l->order[k];
		next = k + 1 < l->nhot ? l->order[k + 1] : NONE;
		for (i = succ[b]; i < succ[b + 1]; i++) {
			e = &m->g->edge[i];
			if (e->dst == next && e->kind != EDGE_INDIRECT)
				m->succ[n++] = (struct succ){(double)e->count * LATER, NONE};
			else
				m->succ[n++] = (struct succ){(double)e->count, e->dst};
		}
	}
}

static double cost_of(const struct search *m, uint32_t k)
{
	double n = (double)m->g->block[m->l->order[k]].count, sum = 0;
	const struct succ *v, *end = m->succ + m->first[k + 1];

	for (v = m->succ + m->first[k]; v < end; v++)
		if (v->jump == NONE)
			sum += v->count * m->cost[k + 1];
		else
			sum += v->count * (1 + LATER * m->cost[m->primary[v->jump]]);
	return n > 0 ? sum / n : 0;
}

static void sweep(struct search *m)
{
	uint32_t k, round;

	for (round = 0; round < SWEEPS; round++)
		for (k = m->l->nhot; k-- > 0;)
			m->cost[k] = cost_of(m, k);
}

/* Without that nothing would lead to a slot that is no longer jumped to. */
static bool is_fallen_into(const struct search *m, uint32_t k)
{
	uint64_t count;

	return k && layout_falls(m->g, m->l, k - 1, &count);
}

static void choose(struct search *m)
{
	uint32_t k, b;

	for (k = 0; k < m->l->nhot; k++) {
		b = m->l->order[k];
		if (m->cost[k] < m->cost[m->primary[b]] - LESS && is_fallen_into(m, m->primary[b]))
			m->primary[b] = k;
	}
}

void tails_primary(
    const struct cfg *g, struct layout *l, struct layout_score *score, struct arena *a)
{
	struct search m = {.g = g, .l = l};
	struct layout_score after;
	struct layout other = *l;
	uint32_t k;

	if (l->n == g->nblock)
		return;
	m.primary = arena_array(a, g->nblock, sizeof *m.primary);
	m.cost = arena_array(a, l->n, sizeof *m.cost);
	layout_primary(g, l, m.primary);
	find_succs(&m, a);
	sweep(&m);
	choose(&m);
	other.copy = arena_array(a, l->n, sizeof *other.copy);
	for (k = 0; k < l->n; k++)
		other.copy[k] = m.primary[l->order[k]] != k;
	layout_score(g, &other, &after);
	if (after.taken < score->taken) {
		*l = other;
		*score = after;
	}
}
