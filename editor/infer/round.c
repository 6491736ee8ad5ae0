/*
 * Real flows to integers near them that obey Kirchhoff's law: all arcs are rounded except a
 * spanning tree of the largest, whose flows follow. Where that makes one negative, it is raised by
 * flow around a cycle.
 */
#include "editor/infer/flow.h"

#include <math.h>
#include <stdlib.h>

/* Of arcs, to find cycles: beyond, no answer. An interpreter's loop of 37,000 edges needs 7 to 170
 * million, a second at most. */
enum { VISITS = 500 * 1000000 };
static const uint64_t MOST = (uint64_t)1 << 52; /* of a block's count */
static const uint32_t NONE = UINT32_MAX;

struct arc {
	uint32_t from,
	    to; /* nodes: a block's begin is 2b, its end 2b + 1; the last is the outside */
	bool fixed, tree; /* a tree's arc takes what the others leave */
	double flow;
	int64_t n;
};

struct rounding {
	struct cfg *g;
	uint32_t out;    /* the outside */
	struct arc *arc; /* blocks, edges, then entries and exits */
	uint32_t narc;
	const struct arc **by_size; /* the largest first */
	uint32_t *parent;           /* union-find over nodes */
	uint32_t *degree;           /* of a node in the tree */
	uint32_t *last;             /* xor of a node's tree arcs */
	int64_t *left;              /* per node: what came in and has not gone out */
	uint32_t *first, *at; /* arcs by node, its node's from first[] on; NULL = not yet needed */
	uint32_t *via;        /* per node: the arc by which it was reached */
	uint32_t *queue;      /* of nodes reached */
	int64_t visits;
	struct arena *a;
};

static struct arc *add_arc(struct rounding *t, uint32_t from, uint32_t to, double flow)
{
	t->arc[t->narc] = (struct arc){.from = from, .to = to, .flow = flow};
	return &t->arc[t->narc++];
}

static void list_arcs(struct rounding *t, const struct reach *r, const struct flows *f)
{
	const struct cfg *g = t->g;
	uint32_t b, i;

	for (b = 0; b < g->nblock; b++)
		add_arc(t, 2 * b, 2 * b + 1, f->out[b]);
	for (i = 0; i < g->nedge; i++) {
		t->arc[g->edge[i].src].flow += f->edge[i];
		add_arc(t, 2 * g->edge[i].src + 1, 2 * g->edge[i].dst, f->edge[i]);
	}
	for (b = 0; b < g->nblock; b++) {
		if (r->exit[b])
			add_arc(t, 2 * b + 1, t->out, f->out[b]);
		if (r->entry[b])
			add_arc(t, t->out, 2 * b, f->in[b]);
	}
}

static void fix(const struct rounding *t, struct arc *f, uint64_t n)
{
	uint64_t most = (uint64_t)INT64_MAX / t->narc; /* so that sums do not overflow */

	f->fixed = true;
	f->n = (int64_t)(n < most ? n : most);
}

/* What was counted: blocks, and all edges of a block or none. What leads to or from a block that
 * was not executed was not either. */
static void fix_counts(struct rounding *t, struct arena *a)
{
	const struct cfg *g = t->g;
	uint8_t *counted = arena_array(a, g->nblock, 1);
	const struct cfg_edge *e;
	uint32_t b;

	for (b = 0; b < g->nblock; b++)
		fix(t, &t->arc[b], g->block[b].count);
	for (e = g->edge; e < g->edge + g->nedge; e++)
		counted[e->src] |= e->outcomes > 0;
	for (e = g->edge; e < g->edge + g->nedge; e++)
		if (counted[e->src] || !g->block[e->src].count || !g->block[e->dst].count)
			fix(t, &t->arc[g->nblock + (e - g->edge)], e->outcomes);
}

static int largest_first(const void *pa, const void *pb)
{
	const struct arc *a = *(const struct arc *const *)pa, *b = *(const struct arc *const *)pb;

	if (a->flow != b->flow)
		return a->flow > b->flow ? -1 : 1;
	return (a > b) - (a < b);
}

static uint32_t root_of(uint32_t *parent, uint32_t v)
{
	while (parent[v] != v)
		v = parent[v] = parent[parent[v]];
	return v;
}

static void set_flow(struct rounding *t, struct arc *f, int64_t n)
{
	f->n = n;
	t->left[f->from] -= n;
	t->left[f->to] += n;
}

static void add_to_tree(struct rounding *t, struct arc *f)
{
	uint32_t k = (uint32_t)(f - t->arc);

	f->tree = true;
	t->degree[f->from]++;
	t->degree[f->to]++;
	t->last[f->from] ^= k;
	t->last[f->to] ^= k;
}

/* Rounds all arcs except fixed ones and a spanning tree. */
static void round_arcs(struct rounding *t)
{
	uint32_t i, a, b;
	struct arc *f;

	for (i = 0; i < t->narc; i++)
		t->by_size[i] = &t->arc[i];
	qsort(t->by_size, t->narc, sizeof *t->by_size, largest_first);
	for (i = 0; i <= t->out; i++)
		t->parent[i] = i;
	for (i = 0; i < t->narc; i++) {
		f = &t->arc[t->by_size[i] - t->arc];
		if (f->fixed) {
			set_flow(t, f, f->n);
			continue;
		}
		a = root_of(t->parent, f->from);
		b = root_of(t->parent, f->to);
		t->parent[a > b ? a : b] = a > b ? b : a;
		if (a == b)
			set_flow(t, f, llround(f->flow));
		else
			add_to_tree(t, f);
	}
}

/* Gives the tree's arcs what is left, from the leaves on. */
static void fill_tree(struct rounding *t)
{
	uint32_t i, node, other;
	struct arc *f;

	for (i = 0; i <= t->out; i++)
		for (node = i; t->degree[node] == 1; node = other) {
			f = &t->arc[t->last[node]];
			other = f->from == node ? f->to : f->from;
			set_flow(t, f, f->from == node ? t->left[node] : -t->left[node]);
			t->last[other] ^= t->last[node];
			t->degree[node]--;
			t->degree[other]--;
		}
}

static void list_by_node(struct rounding *t)
{
	uint32_t i, end = t->out + 1;

	t->first = arena_array(t->a, (size_t)end + 1, sizeof *t->first);
	t->at = arena_array(t->a, 2 * (size_t)t->narc, sizeof *t->at);
	t->queue = arena_array(t->a, end, sizeof *t->queue);
	for (i = 0; i < t->narc; i++) {
		t->first[t->arc[i].from]++;
		t->first[t->arc[i].to]++;
	}
	for (i = 0; i < end; i++)
		t->first[i + 1] += t->first[i];
	for (i = t->narc; i--;) {
		t->at[--t->first[t->arc[i].from]] = i;
		t->at[--t->first[t->arc[i].to]] = i;
	}
}

/* A shortest path on which more can flow, more against less. */
static bool find_path(struct rounding *t, uint32_t from, uint32_t to)
{
	uint32_t head, n = 0, i, node, next;
	struct arc *f;

	if (!t->first)
		list_by_node(t);
	for (i = 0; i <= t->out; i++)
		t->via[i] = NONE;
	t->via[from] = t->narc;
	t->queue[n++] = from;
	for (head = 0; head < n && t->via[to] == NONE && t->visits > 0; head++) {
		node = t->queue[head];
		t->visits -= t->first[node + 1] - t->first[node];
		for (i = t->first[node]; i < t->first[node + 1]; i++) {
			f = &t->arc[t->at[i]];
			next = f->from == node ? f->to : f->from;
			if (f->fixed || t->via[next] != NONE || (f->to == node && f->n <= 0))
				continue;
			t->via[next] = t->at[i];
			t->queue[n++] = next;
		}
	}
	return t->via[to] != NONE;
}

/* The path found, from its end: the arc that leads to *node, which becomes the one before. */
static struct arc *step_back(const struct rounding *t, uint32_t *node, bool *against)
{
	struct arc *f = &t->arc[t->via[*node]];

	*against = f->from == *node;
	*node = *against ? f->to : f->from;
	return f;
}

static bool raise_to_0(struct rounding *t, struct arc *low)
{
	uint32_t node;
	struct arc *f;
	bool against;
	int64_t n;

	while (low->n < 0) {
		if (low->fixed || !find_path(t, low->to, low->from))
			return false;
		n = -low->n;
		for (node = low->from; node != low->to;) {
			f = step_back(t, &node, &against);
			n = against && f->n < n ? f->n : n;
		}
		for (node = low->from; node != low->to;) {
			f = step_back(t, &node, &against);
			if (__builtin_add_overflow(f->n, against ? -n : n, &f->n))
				return false;
		}
		low->n += n;
	}
	return true;
}

static bool feasible(struct rounding *t)
{
	uint32_t i;

	for (i = 0; i <= t->out; i++)
		if (t->left[i])
			return false;
	for (i = 0; i < t->narc; i++)
		if (!raise_to_0(t, &t->arc[i]))
			return false;
	for (i = 0; i < t->g->nblock; i++)
		if ((uint64_t)t->arc[i].n > MOST)
			return false;
	return true;
}

bool flow_round(
    struct cfg *g, const struct reach *r, const struct flows *f, bool exact, struct arena *a)
{
	struct rounding t = {.g = g, .out = 2 * g->nblock, .visits = VISITS, .a = a};
	size_t nnode = (size_t)t.out + 1, most = 3 * (size_t)g->nblock + g->nedge;
	uint32_t i;

	t.arc = arena_array(a, most, sizeof *t.arc);
	t.by_size = arena_array(a, most, sizeof *t.by_size);
	t.parent = arena_array(a, nnode, sizeof *t.parent);
	t.degree = arena_array(a, nnode, sizeof *t.degree);
	t.last = arena_array(a, nnode, sizeof *t.last);
	t.left = arena_array(a, nnode, sizeof *t.left);
	t.via = arena_array(a, nnode, sizeof *t.via);
	list_arcs(&t, r, f);
	if (exact)
		fix_counts(&t, a);
	round_arcs(&t);
	fill_tree(&t);
	if (!feasible(&t))
		return false;
	for (i = 0; i < g->nblock; i++)
		g->block[i].count = (uint64_t)t.arc[i].n;
	for (i = 0; i < g->nedge; i++)
		g->edge[i].count = (uint64_t)t.arc[g->nblock + i].n;
	return true;
}
