#include "editor/infer/flow.h"

enum { NONE = UINT32_MAX };

void tree_begin(struct tree *t, const struct cfg *g, bool back, struct arena *a)
{
	*t = (struct tree){.back = back,
	    .order = arena_array(a, g->nblock, sizeof *t->order),
	    .via = arena_array(a, g->nblock, sizeof *t->via),
	    .seen = arena_array(a, g->nblock, 1)};
}

static void add(struct tree *t, uint32_t b, uint32_t via)
{
	if (t->seen[b])
		return;
	t->seen[b] = 1;
	t->via[b] = via;
	t->order[t->n++] = b;
}

void tree_root(struct tree *t, uint32_t b)
{
	add(t, b, NONE);
}

void tree_grow(struct tree *t, const struct cfg *g, const uint8_t *usable)
{
	const uint32_t *first = t->back ? g->pred : g->succ;
	uint32_t b, i, e, to;

	for (; t->grown < t->n; t->grown++) {
		b = t->order[t->grown];
		for (i = first[b]; i < first[b + 1]; i++) {
			e = t->back ? g->in[i] : i;
			to = t->back ? g->edge[e].src : g->edge[e].dst;
			if (!usable || usable[to])
				add(t, to, e);
		}
	}
}

void tree_both(struct tree *in, struct tree *out, const struct cfg *g, const struct reach *r,
    const uint8_t *usable, struct arena *a)
{
	uint32_t b;

	tree_begin(in, g, false, a);
	tree_begin(out, g, true, a);
	for (b = 0; b < g->nblock; b++) {
		if (usable[b] && r->entry[b])
			tree_root(in, b);
		if (usable[b] && r->exit[b])
			tree_root(out, b);
	}
	tree_grow(in, g, usable);
	tree_grow(out, g, usable);
}

/* Sends what is needed from (to) every block along the tree. */
static void send(struct cfg *g, const struct tree *t, uint64_t *need)
{
	uint32_t k, b, e;

	for (k = t->n; k--;) {
		b = t->order[k];
		e = t->via[b];
		g->block[b].count += need[b];
		if (e == NONE)
			continue;
		g->edge[e].count += need[b];
		need[t->back ? g->edge[e].dst : g->edge[e].src] += need[b];
	}
}

/* Raises each block's count by want[], as far as paths over usable blocks allow. */
static void add_paths(
    struct cfg *g, const struct reach *r, const uint8_t *usable, uint64_t *want, struct arena *a)
{
	uint64_t *need = arena_array(a, g->nblock, sizeof *need);
	struct tree in, out;
	uint32_t b;

	tree_both(&in, &out, g, r, usable, a);
	for (b = 0; b < g->nblock; b++) {
		need[b] = want[b] = in.seen[b] && out.seen[b] ? want[b] : 0;
		g->block[b].count -= want[b]; /* both paths count it */
	}
	send(g, &in, need);
	send(g, &out, want);
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
