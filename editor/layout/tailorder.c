/*
 * The order of blocks once copies are made: a primary slot with the copies after it is one piece,
 * whose successors are those of its last slot; the first order did not optimize for these edges.
 */
#include "editor/layout/exttsp.h"
#include "editor/layout/slots.h"
#include "editor/layout/tails.h"

#include <stdlib.h>
#include <string.h>

struct pieces {
	const struct cfg *g;
	const struct layout *l;
	uint32_t *primary; /* per block: its primary slot, where its piece begins */
	uint32_t *end;     /* end of its piece */
	double *flow;      /* per slot */
	uint32_t *block;   /* blocks whose piece is hot, ascending */
	uint32_t n;
	struct cfg made; /* the pieces as blocks */
};

static void find_pieces(struct pieces *p, struct arena *a)
{
	uint32_t nblock = p->g->nblock, k, b, at = 0;

	p->primary = arena_array(a, nblock, sizeof *p->primary);
	p->end = arena_array(a, nblock, sizeof *p->end);
	p->flow = arena_array(a, p->l->n, sizeof *p->flow);
	p->block = arena_array(a, nblock, sizeof *p->block);
	layout_primary(p->g, p->l, p->primary);
	layout_flow(p->g, p->l, p->flow);
	for (k = 0; k < p->l->nhot; k++) {
		if (p->primary[p->l->order[k]] == k)
			at = p->l->order[k];
		p->end[at] = k + 1;
	}
	for (b = 0; b < nblock; b++)
		if (p->primary[b] < p->l->nhot)
			p->block[p->n++] = b;
}

static void add_edges(struct pieces *p, uint32_t b)
{
	uint32_t last = p->l->order[p->end[b] - 1], i;
	const uint32_t *succ = p->g->succ;
	double share =
	    p->g->block[last].count ? p->flow[p->end[b] - 1] / (double)p->g->block[last].count : 0;
	struct cfg_edge *e;

	for (i = succ[last]; i < succ[last + 1]; i++) {
		e = &p->made.edge[p->made.nedge++];
		*e = p->g->edge[i];
		e->src = b;
		e->count = (uint64_t)(share * (double)e->count);
	}
}

static void make_graph(struct pieces *p, struct arena *a)
{
	const uint32_t *succ = p->g->succ;
	uint32_t i, k, b, n = 0;

	for (i = 0; i < p->n; i++) {
		b = p->l->order[p->end[p->block[i]] - 1];
		n += succ[b + 1] - succ[b];
	}
	p->made.nblock = p->g->nblock;
	p->made.block = arena_array(a, p->made.nblock, sizeof *p->made.block);
	p->made.edge = arena_array(a, n, sizeof *p->made.edge);
	for (i = 0; i < p->n; i++) {
		b = p->block[i];
		p->made.block[b] = p->g->block[b];
		p->made.block[b].count = (uint64_t)p->flow[p->primary[b]];
		for (k = p->primary[b] + 1; k < p->end[b]; k++)
			p->made.block[b].bytes += p->g->block[p->l->order[k]].bytes;
		add_edges(p, b);
	}
	cfg_index(&p->made, a);
}

/* The layout with its pieces in this order of their blocks. */
static struct layout put_pieces(const struct pieces *p, const uint32_t *order, struct arena *a)
{
	struct layout l = *p->l;
	uint32_t i, n = 0, at, size;

	l.order = arena_array(a, l.n, sizeof *l.order);
	l.copy = arena_array(a, l.n, sizeof *l.copy);
	for (i = 0; i < p->n; i++) {
		at = p->primary[order[i]];
		size = p->end[order[i]] - at;
		memcpy(l.order + n, p->l->order + at, size * sizeof *l.order);
		memcpy(l.copy + n, p->l->copy + at, size * sizeof *l.copy);
		n += size;
	}
	memcpy(l.order + n, p->l->order + n, (l.n - n) * sizeof *l.order);
	memcpy(l.copy + n, p->l->copy + n, (l.n - n) * sizeof *l.copy);
	return l;
}

void tails_order(const struct cfg *g, struct layout *l, struct arena *a)
{
	struct pieces p = {.g = g, .l = l};
	struct layout_score before, after;
	struct layout other;
	uint32_t *order;

	if (l->n == g->nblock)
		return;
	find_pieces(&p, a);
	make_graph(&p, a);
	order = arena_array(a, p.n, sizeof *order);
	exttsp_order(&p.made, p.block, p.n, order, a);
	other = put_pieces(&p, order, a);
	layout_score(g, l, &before);
	layout_score(g, &other, &after);
	if (after.taken < before.taken)
		*l = other;
}
