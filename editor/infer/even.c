#include "editor/infer/flow.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 40 }; /* of fitting; each halves the error or better in practice */

struct fitted {
	double fit;
	uint32_t arc, from, to;
	bool tree; /* takes what the others leave */
	int64_t flow;
};

struct even {
	struct free_arc *arc;
	uint32_t n, nnode;
	struct fitted *free; /* the arcs whose flow is not determined */
	uint32_t nfree;
	double *want, *has; /* per node: sums */
	int64_t *left;      /* per node: what is not yet given to an arc */
	uint32_t *parent;   /* union-find over nodes */
	uint8_t *bad;       /* per root of a part */
};

static uint32_t root_of(uint32_t *parent, uint32_t v)
{
	while (parent[v] != v)
		v = parent[v] = parent[parent[v]];
	return v;
}

/* Joins two nodes; false when they were connected already. */
static bool join(uint32_t *parent, uint32_t a, uint32_t b)
{
	a = root_of(parent, a);
	b = root_of(parent, b);
	parent[a > b ? a : b] = a > b ? b : a;
	return a != b;
}

static void separate(struct even *v)
{
	uint32_t i;

	for (i = 0; i < v->nnode; i++)
		v->parent[i] = i;
}

/* A part of the graph without a cycle has one solution, which we have. */
static void find_free(struct even *v)
{
	const struct free_arc *arc = v->arc;
	uint32_t i;

	separate(v);
	for (i = 0; i < v->n; i++)
		join(v->parent, arc[i].from, arc[i].to);
	for (i = 0; i < v->n; i++)
		v->left[root_of(v->parent, arc[i].from)]++;
	for (i = 0; i < v->nnode; i++)
		v->left[root_of(v->parent, i)]--;
	for (i = 0; i < v->n; i++)
		if (v->left[root_of(v->parent, arc[i].from)] >= 0)
			v->free[v->nfree++] = (struct fitted){
			    .fit = 1, .arc = i, .from = arc[i].from, .to = arc[i].to};
}

static void scale_side(struct even *v, bool from)
{
	struct fitted *f, *end = v->free + v->nfree;
	uint32_t node;

	for (f = v->free; f < end; f++)
		v->has[from ? f->from : f->to] = 0;
	for (f = v->free; f < end; f++)
		v->has[from ? f->from : f->to] += f->fit;
	for (f = v->free; f < end; f++) {
		node = from ? f->from : f->to;
		f->fit = v->has[node] > 0 ? f->fit * v->want[node] / v->has[node] : 0;
	}
}

static void fit(struct even *v)
{
	struct fitted *f;
	int round;

	for (f = v->free; f < v->free + v->nfree; f++) {
		v->want[f->from] += (double)v->arc[f->arc].flow;
		v->want[f->to] += (double)v->arc[f->arc].flow;
	}
	for (round = 0; round < ROUNDS; round++) {
		scale_side(v, true);
		scale_side(v, false);
	}
}

static int by_fit(const void *pa, const void *pb)
{
	const struct fitted *a = pa, *b = pb;

	if (a->fit != b->fit)
		return a->fit > b->fit ? -1 : 1;
	return a->arc < b->arc ? -1 : 1;
}

/* Rounds all arcs but a spanning forest of the largest ones. */
static void round_flows(struct even *v)
{
	struct fitted *f;
	uint32_t i;

	qsort(v->free, v->nfree, sizeof *v->free, by_fit);
	separate(v);
	for (i = 0; i < v->nnode; i++)
		v->left[i] = 0;
	for (f = v->free; f < v->free + v->nfree; f++) {
		f->tree = join(v->parent, f->from, f->to);
		f->flow = f->tree ? 0 : llround(f->fit);
		v->left[f->from] += v->arc[f->arc].flow - f->flow;
		v->left[f->to] += v->arc[f->arc].flow - f->flow;
	}
}

/* Gives the forest's arcs what is left, from the leaves on. */
static void fill_forest(struct even *v, struct arena *a)
{
	uint32_t *degree = arena_array(a, v->nnode, sizeof *degree);
	uint32_t *last = arena_array(a, v->nnode, sizeof *last); /* xor of a node's open arcs */
	uint32_t i, n, node, other;
	struct fitted *f;

	for (i = 0; i < v->nfree; i++)
		if (v->free[i].tree) {
			degree[v->free[i].from]++;
			degree[v->free[i].to]++;
			last[v->free[i].from] ^= i;
			last[v->free[i].to] ^= i;
		}
	for (n = 0; n < v->nnode; n++)
		for (node = n; degree[node] == 1; node = other) {
			f = &v->free[last[node]];
			other = f->from == node ? f->to : f->from;
			f->flow = v->left[node];
			v->left[other] -= f->flow;
			last[other] ^= last[node];
			degree[node]--;
			degree[other]--;
		}
}

void infer_even(struct free_arc *arc, uint32_t n, uint32_t nnode, struct arena *a)
{
	struct even v = {.arc = arc, .n = n, .nnode = nnode};
	struct fitted *f;

	v.free = arena_array(a, n, sizeof *v.free);
	v.want = arena_array(a, nnode, sizeof *v.want);
	v.has = arena_array(a, nnode, sizeof *v.has);
	v.left = arena_array(a, nnode, sizeof *v.left);
	v.parent = arena_array(a, nnode, sizeof *v.parent);
	v.bad = arena_array(a, nnode, 1);
	find_free(&v);
	fit(&v);
	round_flows(&v);
	fill_forest(&v, a);
	/* Rounding may have asked for more than there is: then all stays. */
	for (f = v.free; f < v.free + v.nfree; f++)
		v.bad[root_of(v.parent, f->from)] |= f->flow < 0;
	for (f = v.free; f < v.free + v.nfree; f++)
		if (!v.bad[root_of(v.parent, f->from)])
			arc[f->arc].flow = f->flow;
}
