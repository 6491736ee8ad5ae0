#include "editor/infer/flow.h"

void adjacency_build(struct adjacency *adj, const struct cfg *g, bool in, struct arena *a)
{
	uint32_t i, b;

	adj->first = arena_array(a, (size_t)g->nblock + 2, sizeof *adj->first);
	adj->edge = arena_array(a, g->nedge, sizeof *adj->edge);
	for (i = 0; i < g->nedge; i++)
		adj->first[(in ? g->edge[i].dst : g->edge[i].src) + 2]++;
	for (b = 2; b <= g->nblock; b++)
		adj->first[b] += adj->first[b - 1];
	for (i = 0; i < g->nedge; i++)
		adj->edge[adj->first[(in ? g->edge[i].dst : g->edge[i].src) + 1]++] = i;
}

struct marking {
	const struct cfg *g;
	const struct adjacency *adj;
	bool back;
	uint8_t *seen, *root;
	uint32_t *stack;
};

/* Makes block b a root, and marks all that is reachable from it. */
static void mark(struct marking *m, uint32_t b)
{
	uint32_t n = 1, i, to;

	m->root[b] = m->seen[b] = 1;
	m->stack[0] = b;
	while (n) {
		b = m->stack[--n];
		for (i = m->adj->first[b]; i < m->adj->first[b + 1]; i++) {
			to = m->back ? m->g->edge[m->adj->edge[i]].src
				     : m->g->edge[m->adj->edge[i]].dst;
			if (!m->seen[to]) {
				m->seen[to] = 1;
				m->stack[n++] = to;
			}
		}
	}
}

static bool has_edges(const struct adjacency *adj, uint32_t b)
{
	return adj->first[b] < adj->first[b + 1];
}

static void find_entries(struct reach *r, struct marking *m)
{
	const struct cfg *g = m->g;
	uint32_t b;

	if (g->nblock)
		mark(m, 0);
	for (b = 1; b < g->nblock; b++)
		if (!m->seen[b] && g->block[b].flags & BLK_ADDRESSED)
			mark(m, b);
	for (b = 1; b < g->nblock; b++)
		if (!m->seen[b] && !has_edges(&r->in, b))
			mark(m, b);
	for (b = 1; b < g->nblock; b++)
		if (!m->seen[b])
			mark(m, b);
}

static void find_exits(struct reach *r, struct marking *m)
{
	const struct cfg *g = m->g;
	uint32_t b;

	for (b = 0; b < g->nblock; b++)
		if (g->block[b].flags & (BLK_EXIT | BLK_NORETURN) || !has_edges(&r->out, b))
			mark(m, b);
	for (b = g->nblock; b--;)
		if (!m->seen[b])
			mark(m, b);
}

void reach_find(struct reach *r, const struct cfg *g, struct arena *a)
{
	struct marking m = {.g = g, .stack = arena_array(a, g->nblock, sizeof *m.stack)};

	adjacency_build(&r->out, g, false, a);
	adjacency_build(&r->in, g, true, a);
	m.root = r->entry = arena_array(a, g->nblock, 1);
	m.seen = arena_array(a, g->nblock, 1);
	m.adj = &r->out;
	find_entries(r, &m);
	m.root = r->exit = arena_array(a, g->nblock, 1);
	m.seen = arena_array(a, g->nblock, 1);
	m.adj = &r->in;
	m.back = true;
	find_exits(r, &m);
}
