#include "editor/infer/flow.h"

/* A tree of paths to (back = false: from the entries to) every usable block. */
struct tree {
	uint32_t *order, n; /* blocks, nearest first */
	uint32_t *via;      /* edge that leads to the block's nearer neighbour, or NONE */
	uint8_t *seen;
};
enum { NONE = UINT32_MAX };

static void root(struct tree *t, uint32_t b)
{
	t->seen[b] = 1;
	t->via[b] = NONE;
	t->order[t->n++] = b;
}

static void grow(struct tree *t, const struct cfg *g, bool back, const uint8_t *usable)
{
	const uint32_t *first = back ? g->pred : g->succ;
	uint32_t k, i, e, to;

	for (k = 0; k < t->n; k++)
		for (i = first[t->order[k]]; i < first[t->order[k] + 1]; i++) {
			e = back ? g->in[i] : i;
			to = back ? g->edge[e].src : g->edge[e].dst;
			if (t->seen[to] || !usable[to])
				continue;
			root(t, to);
			t->via[to] = e;
		}
}

static void tree_alloc(struct tree *t, const struct cfg *g, struct arena *a)
{
	t->n = 0;
	t->order = arena_array(a, g->nblock, sizeof *t->order);
	t->via = arena_array(a, g->nblock, sizeof *t->via);
	t->seen = arena_array(a, g->nblock, 1);
}

/* Sends what is needed from (to) every block along the tree. */
static void send(struct cfg *g, const struct tree *t, uint64_t *need, bool back)
{
	uint32_t k, b, e;

	for (k = t->n; k--;) {
		b = t->order[k];
		e = t->via[b];
		g->block[b].count += need[b];
		if (e == NONE)
			continue;
		g->edge[e].count += need[b];
		need[back ? g->edge[e].dst : g->edge[e].src] += need[b];
	}
}

/* Raises each block's count by want[], as far as paths over usable blocks allow. */
static void add_paths(
    struct cfg *g, const struct reach *r, const uint8_t *usable, uint64_t *want, struct arena *a)
{
	uint64_t *need = arena_array(a, g->nblock, sizeof *need);
	struct tree in, out;
	uint32_t b;

	tree_alloc(&in, g, a);
	tree_alloc(&out, g, a);
	for (b = 0; b < g->nblock; b++) {
		if (usable[b] && r->entry[b])
			root(&in, b);
		if (usable[b] && r->exit[b])
			root(&out, b);
	}
	grow(&in, g, false, usable);
	grow(&out, g, true, usable);
	for (b = 0; b < g->nblock; b++) {
		need[b] = want[b] = in.seen[b] && out.seen[b] ? want[b] : 0;
		g->block[b].count -= want[b]; /* both paths count it */
	}
	send(g, &in, need, false);
	send(g, &out, want, true);
}

void flow_minimum(struct cfg *g, const struct reach *r, struct arena *a)
{
	uint8_t *usable = arena_array(a, g->nblock, 1);
	uint64_t *want = arena_array(a, g->nblock, sizeof *want);
	uint32_t b;

	for (b = 0; b < g->nblock; b++) {
		want[b] = !g->block[b].count;
		usable[b] = !want[b] || !(g->block[b].flags & (BLK_COLD | BLK_NORETURN));
	}
	add_paths(g, r, usable, want, a);
}

void flow_clear(struct cfg *g)
{
	uint32_t i;

	for (i = 0; i < g->nblock; i++)
		g->block[i].count = 0;
	for (i = 0; i < g->nedge; i++)
		g->edge[i].count = 0;
}

void flow_cover(struct cfg *g, const struct reach *r, const uint8_t *usable, const double *estimate,
    struct arena *a)
{
	uint64_t *want = arena_array(a, g->nblock, sizeof *want);
	uint32_t b;

	flow_clear(g);
	for (b = 0; b < g->nblock; b++)
		want[b] = (uint64_t)estimate[b];
	add_paths(g, r, usable, want, a);
}
