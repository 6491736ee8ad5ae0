#include "editor/infer/flow.h"

struct marking {
	const struct cfg *g;
	struct tree reached;
	uint8_t *root;
};

/* Makes block b a root, and marks all that is reachable from it. */
static void mark(struct marking *m, uint32_t b)
{
	m->root[b] = 1;
	tree_root(&m->reached, b);
	tree_grow(&m->reached, m->g, NULL);
}

static void find_entries(struct marking *m)
{
	const uint8_t *seen = m->reached.seen;
	const struct cfg *g = m->g;
	uint32_t b;

	if (g->nblock)
		mark(m, 0);
	for (b = 1; b < g->nblock; b++)
		if (!seen[b] && g->block[b].flags & BLK_ADDRESSED)
			mark(m, b);
	for (b = 1; b < g->nblock; b++)
		if (!seen[b] && g->pred[b] == g->pred[b + 1])
			mark(m, b);
	for (b = 1; b < g->nblock; b++)
		if (!seen[b])
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
		if (!m->reached.seen[b])
			mark(m, b);
}

void reach_find(struct reach *r, const struct cfg *g, struct arena *a)
{
	struct marking m = {.g = g};

	m.root = r->entry = arena_array(a, g->nblock, 1);
	tree_begin(&m.reached, g, false, a);
	find_entries(&m);
	m.root = r->exit = arena_array(a, g->nblock, 1);
	tree_begin(&m.reached, g, true, a);
	find_exits(&m);
}
