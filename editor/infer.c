#include "editor/infer.h"
#include "editor/infer_parts.h"
#include "editor/mincost.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
	MAX_SEGS = 10, /* of one block */
	MAX_INSNS = 1 << 16,
	STEEPEST = 1 << 22, /* what the steepest slope becomes as an integer */
	NONE = UINT32_MAX,
};

/* Breakpoints of the likelihood, as ratios to the estimate. */
static const double ratio[] = {0.125, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5};
enum { NRATIO = sizeof ratio / sizeof *ratio };

struct shape { /* cost of one block or edge in doubles, before it is scaled */
	double slope[MAX_SEGS];
	int64_t end[MAX_SEGS];
	uint32_t n;
};

struct network {
	struct cfg *g;
	struct mincost mc;
	struct shape *shape; /* one per arc */
	uint32_t narc;
	uint32_t *begin, *end; /* nodes where a block begins and ends */
	uint32_t *edge_arc;    /* per edge: the arc that carries its flow */
	int64_t most; /* no flow is larger */
	struct reach reach;
};

static double estimate(const struct cfg_block *b, enum infer_input input)
{
	double n = b->insns ? b->insns < MAX_INSNS ? b->insns : MAX_INSNS : 1;

	if (input == INFER_COUNTS)
		return (double)b->count;
	return (double)b->samples / SAMPLE_ONE * COUNT_ONE / n;
}

/* How many Poisson samples the block's count is worth: its own noise, the skid
 * over its instructions, and what stays however long one measures. */
static double evidence(const struct cfg_block *b, enum infer_input input)
{
	double n = b->insns ? b->insns < MAX_INSNS ? b->insns : MAX_INSNS : 1;
	double s = (double)b->samples / SAMPLE_ONE;

	if (input == INFER_COUNTS)
		return 1000;
	return 1 / (1 / s + 0.3 / n + 0.05);
}

static void shape_add(struct shape *s, int64_t end, double slope)
{
	if (s->n && end <= s->end[s->n - 1])
		return;
	s->end[s->n] = end;
	s->slope[s->n++] = slope;
}

/* Mean of d/dx (x - log x) between two ratios. */
static double secant(double from, double to)
{
	return 1 - log(to / from) / (to - from);
}

static void shape_sampled(struct shape *s, double x, double weight, int64_t most)
{
	double from = ratio[0] / 4, unit = weight / x;
	int i;

	for (i = 0; i < NRATIO; i++) {
		shape_add(s, llround(ratio[i] * x), unit * secant(from, ratio[i]));
		from = ratio[i];
	}
	shape_add(s, most, unit * (1 - 1 / (2 * from)));
}

static void shape_block(struct network *w, uint32_t b, enum infer_input input, double clamp)
{
	const struct cfg_block *blk = &w->g->block[b];
	struct shape *s = &w->shape[b];
	double x = estimate(blk, input), n = blk->insns ? blk->insns : 1;

	if (x > clamp)
		x = clamp;
	if (x >= 1)
		shape_sampled(s, x, evidence(blk, input) / (b ? 1 : 4), w->most);
	else
		shape_add(s, w->most, (n < MAX_INSNS ? n : MAX_INSNS) / COUNT_ONE);
}

static uint32_t arc(struct network *w, uint32_t from, uint32_t to)
{
	shape_add(&w->shape[w->narc], w->most, 0);
	w->mc.arc[w->narc] = (struct mc_arc){.from = from, .to = to};
	return w->narc++;
}

/* An edge that is the only way into a block, or out of one, carries that
 * block's flow: its two ends are one node, and it needs no arc. */
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
		if (r->in.first[b + 1] - r->in.first[b] != 1 || r->entry[b])
			continue;
		e = r->in.edge[r->in.first[b]];
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
		if (r->out.first[b + 1] - r->out.first[b] == 1 && !r->exit[b]) {
			e = r->out.edge[r->out.first[b]];
			w->edge_arc[e] = b;
			w->end[b] = w->begin[g->edge[e].dst];
		} else {
			w->end[b] = n++;
		}
	}
	w->mc.nnode = n + 1; /* the last is the outside */
}

/* Arcs: blocks, then edges, then ways in and out. */
static void build(struct network *w, enum infer_input input, double clamp, struct arena *a)
{
	const struct cfg *g = w->g;
	uint32_t b, i;

	w->mc.arc = arena_array(a, 3 * (size_t)g->nblock + g->nedge, sizeof *w->mc.arc);
	w->shape = arena_array(a, 3 * (size_t)g->nblock + g->nedge, sizeof *w->shape);
	w->begin = arena_array(a, g->nblock, sizeof *w->begin);
	w->end = arena_array(a, g->nblock, sizeof *w->end);
	w->edge_arc = arena_array(a, g->nedge, sizeof *w->edge_arc);
	contract(w);
	for (b = 0; b < g->nblock; b++) {
		shape_block(w, b, input, clamp);
		w->mc.arc[w->narc++] = (struct mc_arc){.from = w->begin[b], .to = w->end[b]};
	}
	for (i = 0; i < g->nedge; i++)
		if (w->edge_arc[i] == NONE)
			w->edge_arc[i] = arc(w, w->end[g->edge[i].src], w->begin[g->edge[i].dst]);
	for (b = 0; b < g->nblock; b++) {
		if (w->reach.entry[b])
			arc(w, w->mc.nnode - 1, w->begin[b]);
		if (w->reach.exit[b])
			arc(w, w->end[b], w->mc.nnode - 1);
	}
	w->mc.narc = w->narc;
}

/* Hands the shapes over as integers, the steepest slope as STEEPEST. */
static void fix_slopes(struct network *w, struct arena *a)
{
	double most = 0, v;
	size_t total = 0;
	uint32_t i, k, n = 0;

	for (i = 0; i < w->narc; i++) {
		for (k = 0; k < w->shape[i].n; k++)
			most = fmax(most, fabs(w->shape[i].slope[k]));
		total += w->shape[i].n;
	}
	w->mc.seg = arena_array(a, total, sizeof *w->mc.seg);
	for (i = 0; i < w->narc; i++) {
		w->mc.arc[i].seg = n;
		w->mc.arc[i].nseg = w->shape[i].n;
		for (k = 0; k < w->shape[i].n; k++) {
			v = most > 0 ? w->shape[i].slope[k] / most * STEEPEST : 0;
			w->mc.seg[n++] = (struct mc_seg){w->shape[i].end[k],
			    v > 0 && v < 1 ? 1 : v < 0 && v > -1 ? -1 : llround(v)};
		}
	}
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
		sum += fmin(estimate(&g->block[b], input), clamp);
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

void infer(struct cfg *g, enum infer_input input, struct arena *scratch)
{
	struct network w = {.g = g};
	double clamp, total;

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
	build(&w, input, clamp, scratch);
	fix_slopes(&w, scratch);
	mincost_solve(&w.mc, scratch);
	read_back(&w);
	if (input == INFER_SAMPLES)
		infer_seep(g, &w.reach, scratch);
}
