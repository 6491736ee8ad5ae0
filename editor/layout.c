#include "editor/layout.h"
#include "editor/exttsp.h"
#include "editor/tails.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	JCC_GROWTH = 4,  /* bytes: a conditional jump that must reach another section */
	JUMP_GROWTH = 3, /* an unconditional one */
	FALL_GROWTH = 5, /* a jump in place of a fallthrough */
	LINE = 64,
};

/* Of the executions of a hot block, what a byte of a copy must save. */
static const double TAIL_PRICE = 1. / 32;

void layout_identity(const struct cfg *g, struct layout *out, struct arena *a)
{
	uint32_t b;

	*out = (struct layout){.order = arena_array(a, g->nblock, sizeof *out->order),
	    .n = g->nblock,
	    .nhot = g->nblock};
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

/* A block that place k may fall into and that may have a copy there, or block 0. */
static uint32_t random_copy(const struct cfg *g, const struct layout *l, uint32_t k, uint64_t *seed)
{
	uint32_t i, n = 0, dst = 0;

	for (i = 0; i < g->nedge; i++)
		if (g->edge[i].src == l->order[k] && g->edge[i].kind != EDGE_INDIRECT &&
		    tails_may_copy(g, g->edge[i].dst) && next_random(seed) % ++n == 0)
			dst = g->edge[i].dst;
	return dst;
}

static void add_random_copies(const struct cfg *g, uint64_t *seed, struct layout *l, struct arena *a)
{
	struct layout from = *l;
	uint32_t k, b;

	l->order = arena_array(a, 2 * (size_t)g->nblock, sizeof *l->order);
	l->n = 0;
	for (k = 0; k < from.n; k++) {
		l->order[l->n++] = from.order[k];
		b = next_random(seed) % 4 ? 0 : random_copy(g, &from, k, seed);
		if (b)
			l->order[l->n++] = b;
		if (k + 1 == from.nhot)
			l->nhot = l->n;
	}
}

static void add_random_alignment(uint64_t *seed, struct layout *l, struct arena *a)
{
	uint32_t k;

	l->align = arena_array(a, l->n, sizeof *l->align);
	for (k = 0; k < l->n; k++)
		l->align[k] = next_random(seed) % 8 ? 0 : (uint8_t)(next_random(seed) % 7);
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
	if (o->transforms & LAYOUT_TAILS)
		add_random_copies(g, &seed, out, a);
	if (o->transforms & LAYOUT_ALIGN)
		add_random_alignment(&seed, out, a);
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
	for (k = l->nhot; k < l->n; k++) {
		b = l->order[k];
		if (g->block[b].bytes > growth[b] || g->block[b].flags & BLK_COLD)
			cold[ncold++] = b;
		else
			l->order[n++] = b;
	}
	memcpy(l->order + n, cold, ncold * sizeof *cold);
	l->nhot = n;
}

/* edge[at[b]] … edge[at[b + 1]] are block b's; free it. */
static uint32_t *edges_by_block(const struct cfg *g)
{
	uint32_t *at = xcalloc((size_t)g->nblock + 1, sizeof *at), i;

	for (i = 0; i < g->nedge; i++)
		at[g->edge[i].src + 1]++;
	for (i = 0; i < g->nblock; i++)
		at[i + 1] += at[i];
	return at;
}

/* Whether place k can fall into the next one; *count = how often. */
static bool falls(const struct cfg *g, const struct layout *l, const uint32_t *edges, uint32_t k,
    uint64_t *count)
{
	uint32_t b = l->order[k], i;
	bool any = false;

	*count = 0;
	if (k + 1 == l->n || k + 1 == l->nhot)
		return false;
	for (i = edges[b]; i < edges[b + 1]; i++)
		if (g->edge[i].dst == l->order[k + 1] && g->edge[i].kind != EDGE_INDIRECT) {
			any = true;
			*count += g->edge[i].count;
		}
	return any;
}

void layout_main(const struct cfg *g, const struct layout *l, uint32_t *place)
{
	uint32_t *edges = edges_by_block(g), k;
	uint64_t count;

	for (k = l->n; k-- > 0;)
		place[l->order[k]] = k;
	for (k = l->n; l->n > g->nblock && k-- > 0;)
		if (!k || !falls(g, l, edges, k - 1, &count))
			place[l->order[k]] = k;
	free(edges);
}

/* The compiler's alignments, where they are not mere padding. */
static void align_places(const struct cfg *g, struct layout *l, struct arena *a)
{
	uint32_t *edges = edges_by_block(g), k, b;
	uint64_t count;

	l->align = arena_array(a, l->n, sizeof *l->align);
	for (k = 1; k < l->nhot; k++) {
		b = l->order[k];
		falls(g, l, edges, k - 1, &count);
		/* Padding that is run through must pay for itself. */
		if (g->block[b].align && count <= g->block[b].count / 4)
			l->align[k] = (uint8_t)g->block[b].align;
	}
	free(edges);
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
	*out = (struct layout){.order = arena_array(a, g->nblock, sizeof *out->order),
	    .n = g->nblock,
	    .nhot = n};
	exttsp_order(g, list, n, out->order, a);
	for (b = 0, k = n; b < g->nblock; b++)
		if (!hot[b])
			out->order[k++] = b;
	if (o->transforms & LAYOUT_TAILS)
		tails_copy(g, (double)o->hot * TAIL_PRICE, out, a);
	if (o->split)
		split(g, hot, out, a);
	else
		out->nhot = out->n;
	if (o->transforms & LAYOUT_ALIGN)
		align_places(g, out, a);
}

/* ---- what a layout is worth ---- */

static void flow(const struct cfg *g, const struct layout *l, const uint32_t *edges,
    const uint32_t *place, double *count)
{
	/* Copies of copies settle in as many rounds as they are deep. */
	enum { ROUNDS = 4 };
	double *rest = xcalloc(g->nblock, sizeof *rest), n;
	uint32_t k, b, round;
	uint64_t fallen;

	for (k = 0; k < l->n; k++)
		count[k] = (double)g->block[l->order[k]].count;
	for (round = 0; round < ROUNDS && l->n > g->nblock; round++) {
		for (b = 0; b < g->nblock; b++)
			rest[b] = (double)g->block[b].count;
		for (k = 1; k < l->n; k++) {
			b = l->order[k];
			if (place[b] == k)
				continue;
			n = (double)g->block[l->order[k - 1]].count;
			count[k] = falls(g, l, edges, k - 1, &fallen) && n > 0
				       ? count[k - 1] * (double)fallen / n
				       : 0;
			count[k] = count[k] < rest[b] ? count[k] : rest[b];
			rest[b] -= count[k];
		}
		for (b = 0; b < g->nblock; b++)
			count[place[b]] = rest[b];
	}
	free(rest);
}

void layout_flow(const struct cfg *g, const struct layout *l, double *count)
{
	uint32_t *edges = edges_by_block(g), *place = xcalloc(g->nblock, sizeof *place);

	layout_main(g, l, place);
	flow(g, l, edges, place, count);
	free(edges);
	free(place);
}

static void addresses(const struct cfg *g, const struct layout *l, uint64_t *addr)
{
	/* Far enough from the hot fragment that no jump between them is near. */
	enum { FAR = 1 << 20 };
	uint64_t at = 0;
	uint32_t k;

	for (k = 0; k < l->n; k++) {
		if (k == l->nhot)
			at += FAR;
		addr[k] = at;
		at += g->block[l->order[k]].bytes;
	}
}

/* Adds edge e, run through n times from place k. */
static void add_edge(const struct cfg *g, const struct layout *l, const struct cfg_edge *e,
    uint32_t k, double n, const uint64_t *addr, const uint32_t *place, struct layout_score *s)
{
	uint64_t from = addr[k] + g->block[e->src].bytes, to = addr[place[e->dst]];

	if (k + 1 < l->n && k + 1 != l->nhot && l->order[k + 1] == e->dst)
		to = addr[k + 1];
	s->total += n;
	s->exttsp += n * exttsp_weight(e, from, to);
	if (from != to || e->kind == EDGE_INDIRECT)
		s->taken += n;
}

void layout_score(const struct cfg *g, const struct layout *l, struct layout_score *s)
{
	uint32_t *edges = edges_by_block(g), *place = xcalloc(g->nblock, sizeof *place), k, b, i;
	double *count = xcalloc(l->n, sizeof *count), share;
	uint64_t *addr = xcalloc(l->n, sizeof *addr);

	*s = (struct layout_score){0};
	layout_main(g, l, place);
	flow(g, l, edges, place, count);
	addresses(g, l, addr);
	for (k = 0; k < l->n; k++) {
		b = l->order[k];
		share = g->block[b].count && l->n > g->nblock
			    ? count[k] / (double)g->block[b].count
			    : 1;
		for (i = edges[b]; i < edges[b + 1]; i++)
			add_edge(g, l, &g->edge[i], k, share * (double)g->edge[i].count, addr,
			    place, s);
	}
	free(edges);
	free(place);
	free(count);
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
