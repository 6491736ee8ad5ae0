#include "editor/infer/flow.h"

struct marking {
	const struct cfg *g;
	bool back;
	uint8_t *seen, *root;
	uint32_t *stack;
};

/* Makes block b a root, and marks all that is reachable from it. */
static void mark(struct marking *m, uint32_t b)
{
	const uint32_t *first = m->back ? m->g->pred : m->g->succ;
	uint32_t n = 1, i, to;

	m->root[b] = m->seen[b] = 1;
	m->stack[0] = b;
	while (n) {
		b = m->stack[--n];
		for (i = first[b]; i < first[b + 1]; i++) {
			to = m->back ? m->g->edge[m->g->in[i]].src : m->g->edge[i].dst;
			if (!m->seen[to]) {
				m->seen[to] = 1;
				m->stack[n++] = to;
			}
		}
	}
}

static void find_entries(struct marking *m)
{
	const struct cfg *g = m->g;
	uint32_t b;

	if (g->nblock)
		mark(m, 0);
	for (b = 1; b < g->nblock; b++)
		if (!m->seen[b] && g->block[b].flags & BLK_ADDRESSED)
			mark(m, b);
	for (b = 1; b < g->nblock; b++)
		if (!m->seen[b] && g->pred[b] == g->pred[b + 1])
			mark(m, b);
	for (b = 1; b < g->nblock; b++)
		if (!m->seen[b])
			mark(m, b);
}

static void find_exits(struct marking *m)
{
	const struct cfg *g = m->g;
	uint32_t b;

	for (b = 0; b < g->nblock; b++)
		if (g->block[b].flags & (BLK_EXIT | BLK_NORETURN) || g->succ[b] == g->succ[b + 1])
			mark(m, b);
	for (b = g->nblock; b--;)
		if (!m->seen[b])
			mark(m, b);
}

void reach_find(struct reach *r, const struct cfg *g, struct arena *a)
{
	struct marking m = {.g = g, .stack = arena_array(a, g->nblock, sizeof *m.stack)};

	m.root = r->entry = arena_array(a, g->nblock, 1);
	m.seen = arena_array(a, g->nblock, 1);
	find_entries(&m);
	m.root = r->exit = arena_array(a, g->nblock, 1);
	m.seen = arena_array(a, g->nblock, 1);
	m.back = true;
	find_exits(&m);
}
