#include "editor/probe/spantree.h"

#include <stdlib.h>

uint32_t span_root(uint32_t *root, uint32_t v)
{
	while (root[v] != v)
		v = root[v] = root[root[v]];
	return v;
}

bool span_join(uint32_t *root, uint32_t a, uint32_t b)
{
	a = span_root(root, a);
	b = span_root(root, b);
	if (a == b)
		return false;
	if (a < b)
		root[b] = a;
	else
		root[a] = b;
	return true;
}

static int dearest_first(const void *pa, const void *pb)
{
	const struct span_edge *a = *(struct span_edge *const *)pa;
	const struct span_edge *b = *(struct span_edge *const *)pb;
	bool never_a = a->cost < 0, never_b = b->cost < 0;

	if (never_a != never_b)
		return never_a ? -1 : 1;
	if (!never_a && a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return a < b ? -1 : a > b;
}

bool span_choose(struct span_edge *e, uint32_t n, uint32_t nnode, struct arena *scratch)
{
	struct span_edge **by_cost = arena_array(scratch, n, sizeof *by_cost);
	uint32_t *root = arena_array(scratch, nnode, sizeof *root), i;

	for (i = 0; i < nnode; i++)
		root[i] = i;
	for (i = 0; i < n; i++)
		by_cost[i] = &e[i];
	if (n)
		qsort(by_cost, n, sizeof *by_cost, dearest_first);
	for (i = 0; i < n; i++) {
		by_cost[i]->counted = !span_join(root, by_cost[i]->from, by_cost[i]->to);
		if (by_cost[i]->counted && by_cost[i]->cost < 0)
			return false;
	}
	return true;
}

struct node {
	uint64_t net;      /* known flow in, less known flow out */
	uint32_t unknown;  /* edges here whose flow is not known */
	uint32_t combined; /* their indexes, by exclusive or: the last one stands alone */
};

static void settle(struct node *node, const struct span_edge *e)
{
	node[e->to].net += e->flow;
	node[e->from].net -= e->flow;
}

uint32_t span_solve(
    struct span_edge *e, uint32_t n, uint32_t nnode, uint32_t open, struct arena *scratch)
{
	struct node *node = arena_array(scratch, nnode, sizeof *node);
	uint32_t *stack = arena_array(scratch, (size_t)nnode + n, sizeof *stack);
	uint32_t i, v, depth = 0, left = 0;
	struct span_edge *last;

	for (i = 0; i < n; i++) {
		if (e[i].known) {
			settle(node, &e[i]);
			continue;
		}
		left++;
		node[e[i].from].unknown++;
		node[e[i].from].combined ^= i;
		node[e[i].to].unknown++;
		node[e[i].to].combined ^= i;
	}
	for (v = 0; v < nnode; v++)
		stack[depth++] = v;
	while (depth) {
		v = stack[--depth];
		if (v == open || node[v].unknown != 1)
			continue;
		i = node[v].combined;
		last = &e[i];
		last->flow = last->from == v ? node[v].net : -node[v].net;
		last->known = true;
		left--;
		settle(node, last);
		node[last->from].unknown--;
		node[last->from].combined ^= i;
		node[last->to].unknown--;
		node[last->to].combined ^= i;
		stack[depth++] = last->from == v ? last->to : last->from;
	}
	return left;
}
