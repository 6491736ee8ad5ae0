#include "editor/infer_parts.h"

/* Marks all that hangs together with the marked blocks on the stack. */
static void spread(uint8_t *mark, uint32_t *stack, uint32_t n, const struct adjacency *adj,
    const struct cfg *g, bool back)
{
	uint32_t b, i, to;

	while (n) {
		b = stack[--n];
		for (i = adj->first[b]; i < adj->first[b + 1]; i++) {
			to = back ? g->edge[adj->edge[i]].src : g->edge[adj->edge[i]].dst;
			if (!mark[to]) {
				mark[to] = 1;
				stack[n++] = to;
			}
		}
	}
}

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

static bool known_exit(const struct reach *r, const struct cfg *g, uint32_t b)
{
	return g->block[b].flags & (BLK_EXIT | BLK_NORETURN) ||
	       r->out.first[b] == r->out.first[b + 1];
}

void reach_find(struct reach *r, const struct cfg *g, struct arena *a)
{
	uint32_t *stack = arena_array(a, g->nblock, sizeof *stack), b, n = 0;

	r->from_entry = arena_array(a, g->nblock, 1);
	r->to_exit = arena_array(a, g->nblock, 1);
	adjacency_build(&r->out, g, false, a);
	adjacency_build(&r->in, g, true, a);
	for (b = 0; b < g->nblock; b++) {
		if (!b || g->block[b].flags & BLK_ADDRESSED) {
			r->from_entry[b] = 1;
			stack[n++] = b;
		}
	}
	spread(r->from_entry, stack, n, &r->out, g, false);
	for (n = b = 0; b < g->nblock; b++)
		if (known_exit(r, g, b)) {
			r->to_exit[b] = 1;
			stack[n++] = b;
		}
	spread(r->to_exit, stack, n, &r->in, g, true);
}

bool reach_is_entry(const struct reach *r, const struct cfg *g, uint32_t b)
{
	return !b || g->block[b].flags & BLK_ADDRESSED || !r->from_entry[b];
}

bool reach_is_exit(const struct reach *r, const struct cfg *g, uint32_t b)
{
	return known_exit(r, g, b) || !r->to_exit[b];
}
