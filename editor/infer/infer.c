#include "editor/infer/infer.h"
#include "editor/infer/flow.h"
#include "editor/infer/mincost.h"

#include <math.h>

enum {
	STEEPEST = 1 << 24, /* what the steepest slope becomes as an integer */
	NONE = UINT32_MAX,
};

struct network {
	struct cfg *g;
	struct reach reach;
	struct mincost mc;
	struct cost *cost; /* per arc */
	uint32_t narc;
	uint32_t *begin, *end; /* nodes where a block begins and ends */
	uint32_t *edge_arc;    /* per edge: the arc that carries its flow */
	int64_t most;          /* no flow is larger */
};

static uint32_t arc(struct network *w, uint32_t from, uint32_t to)
{
	cost_flat(&w->cost[w->narc], 0, w->most);
	w->mc.arc[w->narc] = (struct mc_arc){.from = from, .to = to};
	return w->narc++;
}

/* An edge that is the only predecessor or successor of a block carries that block's flow: its two
 * ends are one node, and it needs no arc. */
static void contract(struct network *w)
{
	const struct reach *r = &w->reach;
	const struct cfg *g = w->g;
	uint32_t b, e, n = 0;

	for (b = 0; b < g->nblock; b++)
		w->begin[b] = w->end[b] = NONE;
	for (e = 0; e < g->nedge; e++)
		w->edge_arc[e] = NONE;
	for (b = 0; b < g->nblock; b++) {
		if (g->pred[b + 1] - g->pred[b] != 1 || r->entry[b])
			continue;
		e = g->in[g->pred[b]];
		w->edge_arc[e] = b;
		if (w->end[g->edge[e].src] == NONE)
			w->end[g->edge[e].src] = n++;
		w->begin[b] = w->end[g->edge[e].src];
	}
	for (b = 0; b < g->nblock; b++)
		if (w->begin[b] == NONE)
			w->begin[b] = n++;
	for (b = 0; b < g->nblock; b++) {
		if (w->end[b] != NONE)
			continue;
		if (g->succ[b + 1] - g->succ[b] == 1 && !r->exit[b]) {
			e = g->succ[b];
			w->edge_arc[e] = b;
			w->end[b] = w->begin[g->edge[e].dst];
		} else {
			w->end[b] = n++;
		}
	}
	w->mc.nnode = n + 1; /* the last is the outside */
}

/* Arcs: blocks, then edges, then entries and exits. */
static void build(struct network *w, enum infer_input input, double clamp, struct arena *a)
{
	const struct cfg *g = w->g;
	uint8_t *counted = arena_array(a, g->nblock, 1);
	uint32_t b, i;

	w->mc.arc = arena_array(a, 3 * (size_t)g->nblock + g->nedge, sizeof *w->mc.arc);
	w->cost = arena_array(a, 3 * (size_t)g->nblock + g->nedge, sizeof *w->cost);
	w->begin = arena_array(a, g->nblock, sizeof *w->begin);
	w->end = arena_array(a, g->nblock, sizeof *w->end);
	w->edge_arc = arena_array(a, g->nedge, sizeof *w->edge_arc);
	for (i = 0; i < g->nedge; i++)
		counted[g->edge[i].src] |= g->edge[i].outcomes > 0;
	contract(w);
	for (b = 0; b < g->nblock; b++) {
		cost_block(&w->cost[b], &g->block[b], b == 0, input, clamp, w->most);
		w->mc.arc[w->narc++] = (struct mc_arc){.from = w->begin[b], .to = w->end[b]};
	}
	for (i = 0; i < g->nedge; i++) {
		if (w->edge_arc[i] != NONE)
			continue;
		w->edge_arc[i] = arc(w, w->end[g->edge[i].src], w->begin[g->edge[i].dst]);
		if (input == INFER_COUNTS && counted[g->edge[i].src])
			cost_edge(&w->cost[w->edge_arc[i]],
			    (double)g->edge[i].outcomes < clamp ? (double)g->edge[i].outcomes : clamp,
			    w->most);
	}
	for (b = 0; b < g->nblock; b++) {
		if (w->reach.entry[b])
			arc(w, w->mc.nnode - 1, w->begin[b]);
		if (w->reach.exit[b])
			arc(w, w->end[b], w->mc.nnode - 1);
	}
	w->mc.narc = w->narc;
}

/* Hands the costs over as integers, the steepest slope as STEEPEST. */
static void fix_slopes(struct network *w, struct arena *a)
{
	double most = 0, v;
	size_t total = 0;
	uint32_t i, k, n = 0;

	for (i = 0; i < w->narc; i++) {
		for (k = 0; k < w->cost[i].n; k++)
			most = fmax(most, fabs(w->cost[i].slope[k]));
		total += w->cost[i].n;
	}
	w->mc.seg = arena_array(a, total, sizeof *w->mc.seg);
	for (i = 0; i < w->narc; i++) {
		w->mc.arc[i].seg = n;
		w->mc.arc[i].nseg = w->cost[i].n;
		for (k = 0; k < w->cost[i].n; k++) {
			v = most > 0 ? w->cost[i].slope[k] / most * STEEPEST : 0;
			w->mc.seg[n++] =
			    (struct mc_seg){w->cost[i].end[k], v > 0 && v < 1    ? 1
							       : v < 0 && v > -1 ? -1
										 : llround(v)};
		}
	}
}

/* Evens out the flows of all arcs that are no blocks. The outside is a source
 * at one of its ends and a sink at the other: two nodes. */
static void even_out(struct network *w, struct arena *a)
{
	uint32_t n = w->narc - w->g->nblock, i, sink = w->mc.nnode;
	struct mc_arc *arc = w->mc.arc + w->g->nblock;
	struct free_arc *f = arena_array(a, n, sizeof *f);

	for (i = 0; i < n; i++)
		f[i] = (struct free_arc){
		    arc[i].from, arc[i].to == sink - 1 ? sink : arc[i].to, arc[i].flow};
	infer_even(f, n, sink + 1, a);
	for (i = 0; i < n; i++)
		arc[i].flow = f[i].flow;
}

static void read_back(const struct network *w)
{
	uint32_t i;

	for (i = 0; i < w->g->nblock; i++)
		w->g->block[i].count = (uint64_t)w->mc.arc[i].flow;
	for (i = 0; i < w->g->nedge; i++)
		w->g->edge[i].count = (uint64_t)w->mc.arc[w->edge_arc[i]].flow;
}

static double total_estimate(const struct cfg *g, enum infer_input input, double clamp)
{
	double sum = 0;
	uint32_t b;

	for (b = 0; b < g->nblock; b++)
		sum += cost_estimate(&g->block[b], input, clamp);
	return sum;
}

static void clear(struct cfg *g)
{
	uint32_t i;

	for (i = 0; i < g->nblock; i++)
		g->block[i].count = 0;
	for (i = 0; i < g->nedge; i++)
		g->edge[i].count = 0;
}

/* A block with one successor gives it all flow that was not counted. */
static void imply(struct cfg *g, const struct reach *r)
{
	uint32_t b, e;

	for (b = 0; b < g->nblock; b++) {
		e = g->succ[b];
		if (g->succ[b + 1] - e == 1 && !r->exit[b] && !g->edge[e].outcomes)
			g->edge[e].outcomes = g->block[b].count;
	}
}

/* Whether the counts of all edges are there and agree with the blocks'. */
static bool complete(const struct cfg *g, const struct reach *r, double clamp, struct arena *a)
{
	uint64_t *in = arena_array(a, 2 * (size_t)g->nblock, sizeof *in), *out = in + g->nblock;
	const struct cfg_edge *e;
	uint32_t b;

	for (e = g->edge; e < g->edge + g->nedge; e++)
		if (__builtin_add_overflow(out[e->src], e->outcomes, &out[e->src]) ||
		    __builtin_add_overflow(in[e->dst], e->outcomes, &in[e->dst]))
			return false;
	for (b = 0; b < g->nblock; b++)
		if ((double)g->block[b].count > clamp || in[b] > g->block[b].count ||
		    out[b] > g->block[b].count || (in[b] < g->block[b].count && !r->entry[b]) ||
		    (out[b] < g->block[b].count && !r->exit[b]))
			return false;
	return true;
}

void infer(struct cfg *g, enum infer_input input, struct arena *scratch)
{
	struct network w = {.g = g};
	double clamp, total;
	uint32_t i;

	if (!g->nblock)
		return;
	clamp = 0x1p52 / g->nblock;
	total = total_estimate(g, input, clamp);
	if (total < 1) {
		clear(g);
		return;
	}
	w.most = (int64_t)total + 1;
	reach_find(&w.reach, g, scratch);
	if (input == INFER_COUNTS)
		imply(g, &w.reach);
	if (input == INFER_COUNTS && complete(g, &w.reach, clamp, scratch)) {
		for (i = 0; i < g->nedge; i++)
			g->edge[i].count = g->edge[i].outcomes;
		return;
	}
	if (input == INFER_SAMPLES && infer_joint(g, &w.reach, scratch)) {
		infer_minflow(g, &w.reach, scratch);
		return;
	}
	build(&w, input, clamp, scratch);
	fix_slopes(&w, scratch);
	/* Samples are not worth the last phases; counts must come out as they are. */
	w.mc.slack = input == INFER_SAMPLES;
	mincost_solve(&w.mc, scratch);
	even_out(&w, scratch);
	read_back(&w);
	if (input == INFER_SAMPLES)
		infer_minflow(g, &w.reach, scratch);
}
