/*
 * Flow graphs for tests and benchmarks that look like compiled functions:
 * nested ifs with heavy-tailed bias, loops with trip counts, switches, early
 * returns, cold error exits, in the order a compiler would print them. The
 * counts are exact and obey Kirchhoff's law. Deterministic from the seed.
 */
#ifndef MORPH_TESTS_CFGGEN_H
#define MORPH_TESTS_CFGGEN_H

#include "common/mem.h"
#include "editor/cfg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rng {
	uint64_t s;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->s += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static inline double rng_unit(struct rng *r) /* in (0, 1) */
{
	return ((double)(rng_next(r) >> 11) + 0.5) * 0x1p-53;
}

static inline double rng_normal(struct rng *r)
{
	double u = rng_unit(r), v = rng_unit(r);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static inline uint64_t rng_poisson(struct rng *r, double mean)
{
	double p = 1, limit = exp(-mean);
	uint64_t k = 0;

	if (mean > 50) {
		mean += sqrt(mean) * rng_normal(r);
		return mean < 0 ? 0 : (uint64_t)(mean + 0.5);
	}
	while ((p *= rng_unit(r)) > limit)
		k++;
	return k;
}

struct gen {
	struct rng r;
	VEC(struct cfg_block) block;
	VEC(struct cfg_edge) edge; /* kind is set at the end */
	VEC(uint32_t) rank;        /* of a block's place: 0 in line, 1 at the end, 2 cold */
	uint32_t want;             /* blocks */
	uint32_t place;
	uint64_t leave; /* executions that may still leave a loop by return */
	int loops;      /* nested around the present place */
};

static inline uint32_t gen_block(struct gen *g, uint64_t count)
{
	double n = exp(1.4 + 0.8 * rng_normal(&g->r));
	uint32_t insns = 1 + (uint32_t)(n > 60 ? 60 : n), i, bytes = 0;

	for (i = 0; i < insns; i++)
		bytes += 2 + (uint32_t)(rng_next(&g->r) % 5);
	vec_push(&g->block, (struct cfg_block){.insns = insns,
				.bytes = bytes,
				.count = count,
				.flags = g->place == 2 ? BLK_COLD : 0});
	vec_push(&g->rank, g->place);
	return (uint32_t)g->block.n - 1;
}

static inline void gen_edge(
    struct gen *g, uint32_t src, uint32_t dst, uint32_t kind, uint64_t count)
{
	vec_push(&g->edge, (struct cfg_edge){src, dst, kind, count});
}

/* How often a branch goes one way: mostly nearly always or nearly never. */
static inline double gen_bias(struct gen *g)
{
	double p = 1 / (1 + exp(-3.5 * rng_normal(&g->r)));

	return rng_unit(&g->r) < 0.15 ? p < 0.5 ? 0 : 1 : p;
}

static inline uint64_t gen_part(struct gen *g, uint64_t flow, double p)
{
	double v = (double)flow * p;
	uint64_t k = (uint64_t)v;

	k += rng_unit(&g->r) < v - (double)k;
	return k > flow ? flow : k;
}

static inline uint64_t gen_region(struct gen *g, uint32_t *at, uint64_t flow, int depth);

/* A region beside the line that ends where the line goes on; returns its last
 * block. */
static inline uint32_t gen_side(
    struct gen *g, uint32_t from, uint64_t *flow, uint32_t place, int depth)
{
	uint32_t old = g->place, b;

	g->place = place > old ? place : old;
	b = gen_block(g, *flow);
	gen_edge(g, from, b, EDGE_TAKEN, *flow);
	*flow = gen_region(g, &b, *flow, depth + 1);
	g->place = old;
	return b;
}

/* The compiler puts what it thinks rare at the end; it is right mostly. */
static inline uint32_t gen_place(struct gen *g, double p)
{
	return rng_unit(&g->r) < (p < 0.05 ? 0.6 : p < 0.5 ? 0.2 : 0.1);
}

static inline uint64_t gen_if(struct gen *g, uint32_t *at, uint64_t flow, int depth)
{
	double p = gen_bias(g);
	uint64_t then = gen_part(g, flow, p), other = flow - then, sum;
	uint32_t a, b = *at, join;
	int both = rng_unit(&g->r) < 0.4;

	a = gen_side(g, *at, &then, gen_place(g, p), depth);
	if (both)
		b = gen_side(g, *at, &other, 0, depth);
	sum = then + other;
	join = gen_block(g, sum);
	gen_edge(g, a, join, EDGE_FALL, then);
	gen_edge(g, b, join, both ? EDGE_FALL : EDGE_TAKEN, other);
	*at = join;
	return sum;
}

/* The test at the loop's end, and mostly a copy of it before the loop. */
static inline uint64_t gen_loop(struct gen *g, uint32_t *at, uint64_t flow, int depth)
{
	double trip = 1 + exp(1.3 + 1.1 * rng_normal(&g->r));
	int guarded = rng_unit(&g->r) < 0.6;
	uint64_t skip = guarded ? gen_part(g, flow, 0.3 * gen_bias(g)) : 0, enter = flow - skip;
	uint64_t in = gen_part(g, enter * 1000, trip > 1000 ? 1 : trip / 1000);
	uint64_t out, back, outer = g->leave;
	uint32_t head, last, after;

	in = in < enter ? enter : in;
	head = gen_block(g, in);
	gen_edge(g, *at, head, EDGE_FALL, enter);
	last = head;
	g->leave = enter < outer ? enter : outer;
	g->loops++;
	out = gen_region(g, &last, in, depth + 1);
	g->loops--;
	g->leave = outer - (in - out);
	back = in - enter;
	after = gen_block(g, out - back + skip);
	gen_edge(g, last, head, EDGE_TAKEN, back);
	gen_edge(g, last, after, EDGE_TAKEN, out - back);
	if (guarded)
		gen_edge(g, *at, after, EDGE_TAKEN, skip);
	*at = after;
	return out - back + skip;
}

static inline uint64_t gen_switch(struct gen *g, uint32_t *at, uint64_t flow, int depth)
{
	uint32_t n = 3 + (uint32_t)(rng_next(&g->r) % 12), k, end[16], join;
	uint64_t part[16], left = flow, sum = 0;

	for (k = 0; k < n; k++) {
		part[k] = k + 1 < n ? gen_part(g, left, pow(rng_unit(&g->r), 3)) : left;
		left -= part[k];
		end[k] = gen_side(g, *at, &part[k], 0, depth);
		sum += part[k];
	}
	join = gen_block(g, sum);
	for (k = 0; k < n; k++)
		gen_edge(g, end[k], join, EDGE_FALL, part[k]);
	for (k = 0; k < g->edge.n; k++)
		if (g->edge.v[k].src == *at)
			g->edge.v[k].kind = EDGE_INDIRECT;
	*at = join;
	return sum;
}

/* An early return, or a call that does not come back. */
static inline uint64_t gen_leave(struct gen *g, uint32_t *at, uint64_t flow)
{
	int error = rng_unit(&g->r) < 0.5;
	uint64_t out = error ? 0 : gen_part(g, flow, 0.5 * gen_bias(g));
	uint32_t old = g->place, b, next;

	out = out < g->leave ? out : g->leave;
	g->leave -= out;
	g->place = error && rng_unit(&g->r) < 0.7 ? 2 : old ? old : gen_place(g, 0.04);
	b = gen_block(g, out);
	g->block.v[b].flags |= error ? BLK_NORETURN : BLK_EXIT;
	g->place = old;
	gen_edge(g, *at, b, EDGE_TAKEN, out);
	next = gen_block(g, flow - out);
	gen_edge(g, *at, next, EDGE_TAKEN, flow - out);
	*at = next;
	return flow - out;
}

/* Goes on from block *at, which has no successor yet; *at becomes the last. */
static inline uint64_t gen_region(struct gen *g, uint32_t *at, uint64_t flow, int depth)
{
	int k, n = depth == 0 ? 1 << 30 : 1 + (int)(rng_next(&g->r) % 3);
	double u;

	for (k = 0; k < n && g->block.n < g->want; k++) {
		u = rng_unit(&g->r);
		if (depth > 8 || u < 0.25)
			flow = gen_leave(g, at, flow);
		else if (u < 0.75 || (u < 0.93 && g->loops >= 2))
			flow = gen_if(g, at, flow, depth);
		else if (u < 0.93)
			flow = gen_loop(g, at, flow, depth);
		else
			flow = gen_switch(g, at, flow, depth);
	}
	return flow;
}

static inline int gen_by_src(const void *pa, const void *pb)
{
	const struct cfg_edge *a = pa, *b = pb;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return a->dst < b->dst ? -1 : a->dst > b->dst;
}

/* Numbers the blocks in the order of the text and names the edges' kinds. */
static inline void gen_number(struct gen *g, struct cfg *out, struct arena *a)
{
	uint32_t *id = arena_array(a, g->block.n, sizeof *id), rank, b, n = 0, i, deg;
	struct cfg_edge *e;

	*out = (struct cfg){.block = arena_array(a, g->block.n, sizeof *out->block),
	    .edge = arena_array(a, g->edge.n, sizeof *out->edge),
	    .nblock = (uint32_t)g->block.n,
	    .nedge = (uint32_t)g->edge.n};
	for (rank = 0; rank < 3; rank++)
		for (b = 0; b < g->block.n; b++)
			if (g->rank.v[b] == rank) {
				id[b] = n;
				out->block[n++] = g->block.v[b];
			}
	for (i = 0; i < out->nedge; i++) {
		e = &out->edge[i];
		*e = g->edge.v[i];
		e->src = id[e->src];
		e->dst = id[e->dst];
	}
	qsort(out->edge, out->nedge, sizeof *out->edge, gen_by_src);
	for (i = 0; i < out->nedge; i += deg) {
		e = &out->edge[i];
		for (deg = 1; i + deg < out->nedge && e[deg].src == e->src; deg++)
			;
		if (e->kind == EDGE_INDIRECT)
			continue;
		if (deg == 1)
			e->kind = e->dst == e->src + 1 ? EDGE_FALL : EDGE_JUMP;
		else {
			e[0].kind = e[0].dst == e->src + 1 ? EDGE_NOTTAKEN : EDGE_TAKEN;
			e[1].kind = e[0].kind == EDGE_TAKEN ? EDGE_NOTTAKEN : EDGE_TAKEN;
		}
	}
	cfg_index(out, a);
}

/* A function of about `want` blocks that is called `calls` times. */
static inline void cfggen(
    struct cfg *out, uint64_t seed, uint32_t want, uint64_t calls, struct arena *a)
{
	struct gen g = {.r = {seed}, .want = want, .leave = calls};
	uint32_t at = gen_block(&g, calls);

	gen_region(&g, &at, calls, 0);
	g.block.v[at].flags |= BLK_EXIT;
	gen_number(&g, out, a);
	vec_free(&g.block);
	vec_free(&g.edge);
	vec_free(&g.rank);
}

/* Forgets the counts. */
static inline void cfggen_strip(struct cfg *g)
{
	uint32_t i;

	for (i = 0; i < g->nblock; i++)
		g->block[i].count = 0;
	for (i = 0; i < g->nedge; i++)
		g->edge[i].count = 0;
}

static inline void cfggen_copy(struct cfg *to, const struct cfg *from, struct arena *a)
{
	*to = *from;
	to->block = arena_array(a, from->nblock, sizeof *to->block);
	to->edge = arena_array(a, from->nedge, sizeof *to->edge);
	memcpy(to->block, from->block, from->nblock * sizeof *to->block);
	if (from->nedge)
		memcpy(to->edge, from->edge, from->nedge * sizeof *to->edge);
	cfg_index(to, a);
}

/*
 * Samples of a timer: per_unit samples for one execution of one instruction
 * without noise. Each block's instructions have a latency of their own
 * (log-normal, variance var + var1 / insns) and the last instruction's time
 * shows up in the block that follows.
 */
static inline void cfggen_sample(
    struct cfg *g, struct rng *r, double per_unit, double var, double var1, struct arena *a)
{
	double *t = arena_array(a, g->nblock, sizeof *t), time, last;
	const struct cfg_edge *e;
	uint32_t b;

	for (b = 0; b < g->nblock; b++) {
		time = (double)g->block[b].count * g->block[b].insns * per_unit;
		last = time / g->block[b].insns;
		t[b] += time;
		for (e = g->edge; e < g->edge + g->nedge; e++)
			if (e->src == b && g->block[b].count) {
				t[b] -= last * (double)e->count / (double)g->block[b].count;
				t[e->dst] += last * (double)e->count / (double)g->block[b].count;
			}
	}
	for (b = 0; b < g->nblock; b++) {
		time = t[b] * exp(sqrt(var + var1 / g->block[b].insns) * rng_normal(r));
		g->block[b].samples = rng_poisson(r, time < 0 ? 0 : time) * SAMPLE_ONE;
	}
}

#endif
