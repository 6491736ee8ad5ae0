#include "editor/infer/joint.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t NONE = UINT32_MAX;

/* An edge, an entry or an exit of the graph. */
struct arc {
	uint32_t from, to; /* nodes: blocks; the outside is the last */
	uint32_t edge;     /* or NONE */
	bool tree;         /* takes what the others leave */
	double flow;
	int64_t n;
};

struct settling {
	const struct joint *j;
	uint32_t out; /* the outside */
	struct arc *arc;
	uint32_t narc;
	const struct arc **by_size; /* the largest first */
	uint32_t *parent;           /* union-find over nodes */
	uint32_t *degree;           /* of a node in the tree */
	uint32_t *last;             /* xor of a node's tree arcs */
	int64_t *left;              /* per node: what came in and has not gone out */
};

static void list_arcs(struct settling *t)
{
	const struct joint *j = t->j;
	const struct succ *v;
	uint32_t b, i;

	for (b = 0; b < t->out; b++) {
		for (i = j->first[b]; i < j->first[b + 1]; i++) {
			v = &j->succ[i];
			t->arc[t->narc++] = (struct arc){
			    b, v->dst == NONE ? t->out : v->dst, v->edge, false, v->flow, 0};
		}
		if (j->in[b] > 0)
			t->arc[t->narc++] = (struct arc){t->out, b, NONE, false, j->in[b], 0};
	}
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

static void give(struct settling *t, struct arc *f, int64_t n)
{
	f->n = n;
	t->left[f->from] -= n;
	t->left[f->to] += n;
}

/* Rounds all arcs but a spanning tree of the largest ones. */
static void round_arcs(struct settling *t)
{
	uint32_t i, k, a, b;
	struct arc *f;

	for (i = 0; i < t->narc; i++)
		t->by_size[i] = &t->arc[i];
	qsort(t->by_size, t->narc, sizeof *t->by_size, largest_first);
	for (i = 0; i <= t->out; i++)
		t->parent[i] = i;
	for (i = 0; i < t->narc; i++) {
		k = (uint32_t)(t->by_size[i] - t->arc);
		f = &t->arc[k];
		a = root_of(t->parent, f->from);
		b = root_of(t->parent, f->to);
		f->tree = a != b;
		t->parent[a > b ? a : b] = a > b ? b : a;
		if (!f->tree) {
			give(t, f, llround(f->flow));
			continue;
		}
		t->degree[f->from]++;
		t->degree[f->to]++;
		t->last[f->from] ^= k;
		t->last[f->to] ^= k;
	}
}

/* Gives the tree's arcs what is left, from the leaves on. */
static void fill_tree(struct settling *t)
{
	uint32_t i, node, other;
	struct arc *f;

	for (i = 0; i <= t->out; i++)
		for (node = i; t->degree[node] == 1; node = other) {
			f = &t->arc[t->last[node]];
			other = f->from == node ? f->to : f->from;
			give(t, f, f->from == node ? t->left[node] : -t->left[node]);
			t->last[other] ^= t->last[node];
			t->degree[node]--;
			t->degree[other]--;
		}
}

/* Nodes, the nearest to the outside first, and the arcs that lead there (back)
 * or from there. */
struct trail {
	uint32_t *order, n;
	uint32_t *via;
};

static void find_trail(const struct settling *t, struct trail *r, bool back, struct arena *a)
{
	uint32_t *first = arena_array(a, (size_t)t->out + 3, sizeof *first);
	uint32_t *list = arena_array(a, t->narc, sizeof *list), i, k, v, to;
	uint8_t *met = arena_array(a, (size_t)t->out + 1, 1);

	r->order = arena_array(a, (size_t)t->out + 1, sizeof *r->order);
	r->via = arena_array(a, (size_t)t->out + 1, sizeof *r->via);
	for (i = 0; i < t->narc; i++)
		first[(back ? t->arc[i].to : t->arc[i].from) + 2]++;
	for (v = 2; v <= t->out + 2; v++)
		first[v] += first[v - 1];
	for (i = 0; i < t->narc; i++)
		list[first[(back ? t->arc[i].to : t->arc[i].from) + 1]++] = i;
	r->order[r->n++] = t->out;
	met[t->out] = 1;
	for (k = 0; k < r->n; k++)
		for (v = r->order[k], i = first[v]; i < first[v + 1]; i++) {
			to = back ? t->arc[list[i]].from : t->arc[list[i]].to;
			if (met[to])
				continue;
			met[to] = 1;
			r->via[to] = list[i];
			r->order[r->n++] = to;
		}
}

static void send(struct settling *t, const struct trail *r, bool back, int64_t *need)
{
	struct arc *f;
	uint32_t k;

	for (k = r->n; --k;) {
		f = &t->arc[r->via[r->order[k]]];
		f->n += need[r->order[k]];
		need[back ? f->to : f->from] += need[r->order[k]];
	}
}

/* The tree may have given an arc a negative flow: raises it to 0 by flow along trails from an entry
 * and to an exit. */
static void fix_negative(struct settling *t, struct arena *a)
{
	int64_t *more = arena_array(a, 2 * ((size_t)t->out + 1), sizeof *more);
	int64_t *away = more + t->out + 1;
	struct trail to = {0}, from = {0};
	struct arc *f;
	bool any = false;

	for (f = t->arc; f < t->arc + t->narc; f++)
		if (f->n < 0) {
			more[f->from] -= f->n;
			away[f->to] -= f->n;
			f->n = 0;
			any = true;
		}
	if (!any)
		return;
	find_trail(t, &to, false, a);
	find_trail(t, &from, true, a);
	send(t, &to, false, more);
	send(t, &from, true, away);
}

static void read_back(const struct settling *t)
{
	struct cfg *g = t->j->g;
	const struct arc *f;
	uint32_t i;

	for (i = 0; i < g->nblock; i++)
		g->block[i].count = 0;
	for (i = 0; i < g->nedge; i++)
		g->edge[i].count = 0;
	for (f = t->arc; f < t->arc + t->narc; f++) {
		if (f->edge != NONE)
			g->edge[f->edge].count = (uint64_t)f->n;
		if (f->from != t->out)
			g->block[f->from].count += (uint64_t)f->n;
	}
}

void joint_settle(struct joint *j, struct arena *a)
{
	struct settling t = {.j = j, .out = j->g->nblock};
	size_t nnode = (size_t)t.out + 1, most = (size_t)j->first[t.out] + t.out;

	t.arc = arena_array(a, most, sizeof *t.arc);
	t.by_size = arena_array(a, most, sizeof *t.by_size);
	t.parent = arena_array(a, nnode, sizeof *t.parent);
	t.degree = arena_array(a, nnode, sizeof *t.degree);
	t.last = arena_array(a, nnode, sizeof *t.last);
	t.left = arena_array(a, nnode, sizeof *t.left);
	list_arcs(&t);
	round_arcs(&t);
	fill_tree(&t);
	fix_negative(&t, a);
	read_back(&t);
}
