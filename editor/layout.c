#include "editor/layout.h"
#include "editor/exttsp.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	JCC_GROWTH = 4,  /* bytes: a conditional jump that must reach another section */
	JUMP_GROWTH = 3, /* an unconditional one */
	FALL_GROWTH = 5, /* a jump in place of a fallthrough */
	LINE = 64,
};

void layout_identity(const struct cfg *g, struct layout *out, struct arena *a)
{
	uint32_t b;

	out->order = arena_array(a, g->nblock, sizeof *out->order);
	out->nhot = g->nblock;
	for (b = 0; b < g->nblock; b++)
		out->order[b] = b;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

void layout_random(const struct cfg *g, const struct layout_options *o, uint64_t seed,
    struct layout *out, struct arena *a)
{
	uint32_t k, j, t;

	layout_identity(g, out, a);
	for (k = g->nblock; k > 2; k--) {
		j = 1 + (uint32_t)(next_random(&seed) % (k - 1));
		t = out->order[k - 1];
		out->order[k - 1] = out->order[j];
		out->order[j] = t;
	}
	if (o->split && g->nblock)
		out->nhot = 1 + (uint32_t)(next_random(&seed) % g->nblock);
}

/* What the hot fragment grows by when block b goes to the cold one: jumps
 * between the two cannot be short. */
static void add_growth(const struct cfg *g, const uint8_t *hot, uint32_t *growth)
{
	static const uint32_t by_kind[] = {[EDGE_FALL] = FALL_GROWTH,
	    [EDGE_JUMP] = JUMP_GROWTH,
	    [EDGE_TAKEN] = JCC_GROWTH,
	    [EDGE_NOTTAKEN] = JCC_GROWTH,
	    [EDGE_INDIRECT] = 0};
	uint32_t i;

	for (i = 0; i < g->nedge; i++)
		if (hot[g->edge[i].src] && !hot[g->edge[i].dst])
			growth[g->edge[i].dst] += by_kind[g->edge[i].kind];
}

/* Blocks that are never executed go, unless the longer jumps to them would
 * take as much room as they free. */
static void split(const struct cfg *g, const uint8_t *hot, struct layout *l, struct arena *a)
{
	uint32_t *growth = arena_array(a, g->nblock, sizeof *growth);
	uint32_t *cold = arena_array(a, g->nblock, sizeof *cold);
	uint32_t k, b, n = l->nhot, ncold = 0;

	add_growth(g, hot, growth);
	for (k = l->nhot; k < g->nblock; k++) {
		b = l->order[k];
		if (g->block[b].bytes > growth[b] || g->block[b].flags & BLK_COLD)
			cold[ncold++] = b;
		else
			l->order[n++] = b;
	}
	memcpy(l->order + n, cold, ncold * sizeof *cold);
	l->nhot = n;
}

void layout_blocks(
    const struct cfg *g, const struct layout_options *o, struct layout *out, struct arena *a)
{
	uint32_t *list = arena_array(a, g->nblock, sizeof *list), b, n = 0, k;
	uint8_t *hot = arena_array(a, g->nblock, 1);

	for (b = 0; b < g->nblock; b++)
		if (!b || g->block[b].count) {
			hot[b] = 1;
			list[n++] = b;
		}
	if (n == 1 && !g->block[0].count) {
		layout_identity(g, out, a);
		return;
	}
	out->order = arena_array(a, g->nblock, sizeof *out->order);
	out->nhot = n;
	exttsp_order(g, list, n, out->order, a);
	for (b = 0, k = n; b < g->nblock; b++)
		if (!hot[b])
			out->order[k++] = b;
	if (o->split)
		split(g, hot, out, a);
	else
		out->nhot = g->nblock;
}

void layout_score(const struct cfg *g, const struct layout *l, struct layout_score *s)
{
	/* Far enough from the hot fragment that no jump between them is near. */
	enum { FAR = 1 << 20 };
	uint64_t *addr = xcalloc(g->nblock, sizeof *addr), at = 0, from, to;
	const struct cfg_edge *e = g->edge, *end = g->edge + g->nedge;
	uint32_t k;

	*s = (struct layout_score){0};
	for (k = 0; k < g->nblock; k++) {
		if (k == l->nhot)
			at += FAR;
		addr[l->order[k]] = at;
		at += g->block[l->order[k]].bytes;
	}
	for (; e < end; e++) {
		from = addr[e->src] + g->block[e->src].bytes;
		to = addr[e->dst];
		s->total += (double)e->count;
		s->exttsp += (double)e->count * exttsp_weight(e, from, to);
		if (from != to || e->kind == EDGE_INDIRECT)
			s->taken += (double)e->count;
	}
	free(addr);
}

struct line {
	uint64_t at; /* address / LINE */
	double weight;
};

struct lines {
	struct line *v;
	size_t n, cap;
};

/* A block's weight goes to its lines by the bytes it has in each. */
static void add_lines(struct lines *l, uint64_t addr, uint32_t bytes, double weight)
{
	uint64_t at = addr, end = addr + bytes, stop;

	if (!bytes)
		vec_push(l, (struct line){addr / LINE, weight});
	for (; at < end; at = stop) {
		stop = (at / LINE + 1) * LINE < end ? (at / LINE + 1) * LINE : end;
		vec_push(l, (struct line){at / LINE, weight * (double)(stop - at) / bytes});
	}
}

static int by_address(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	return a->at < b->at ? -1 : a->at > b->at;
}

static int by_weight(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	return a->weight > b->weight ? -1 : a->weight < b->weight;
}

/* Adds up what fell on the same line. */
static void join_lines(struct lines *l)
{
	size_t i, n = 0;

	qsort(l->v, l->n, sizeof *l->v, by_address);
	for (i = 0; i < l->n; i++) {
		if (n && l->v[n - 1].at == l->v[i].at)
			l->v[n - 1].weight += l->v[i].weight;
		else
			l->v[n++] = l->v[i];
	}
	l->n = n;
}

uint64_t layout_hot_lines(
    const uint64_t *addr, const uint32_t *bytes, const uint64_t *weight, uint32_t n, double share)
{
	struct lines l = {0};
	double total = 0, sum = 0;
	uint64_t used = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (weight[i]) {
			add_lines(&l, addr[i], bytes[i], (double)weight[i]);
			total += (double)weight[i];
		}
	if (l.n) {
		join_lines(&l);
		qsort(l.v, l.n, sizeof *l.v, by_weight);
	}
	/* A share of 1 must not fail by the rounding of the sum. */
	while (used < l.n && sum < share * total * (1 - 1e-12))
		sum += l.v[used++].weight;
	vec_free(&l);
	return used;
}
