#include "editor/tails.h"

#include <stdlib.h>
#include <string.h>

enum {
	BYTES_MAX = 64, /* of one run of copies */
	RUN_MAX = 8,    /* blocks of it */
	NONE = UINT32_MAX
};

struct tails {
	const struct cfg *g;
	const struct layout *l;
	uint32_t *first; /* block's edges: edge[first[b]] … edge[first[b + 1]] */
	uint32_t *place;
	double price;
};

/* Blocks to be copied behind a place. */
struct run {
	uint32_t block[RUN_MAX], n;
	double worth; /* taken jumps saved, less the price of the bytes */
};

bool tails_may_copy(const struct cfg *g, uint32_t block)
{
	return block && !(g->block[block].flags & BLK_ONCE);
}

/* The block that falls in behind b, or NONE. */
static uint32_t behind(const struct tails *t, uint32_t b)
{
	uint32_t k = t->place[b] + 1;

	return k < t->l->n && k != t->l->nhot ? t->l->order[k] : NONE;
}

/* Of one execution of b: jumps taken at its end when block `next` is behind it. */
static double taken(const struct tails *t, uint32_t b, uint32_t next)
{
	double count = (double)t->g->block[b].count, sum = 0;
	uint32_t i;

	for (i = t->first[b]; i < t->first[b + 1]; i++)
		if (t->g->edge[i].dst != next || t->g->edge[i].kind == EDGE_INDIRECT)
			sum += (double)t->g->edge[i].count;
	return count > 0 ? sum / count : 0;
}

/* The likeliest way on that is a jump to a fixed place, and its share. */
static uint32_t likely(const struct tails *t, uint32_t b, double *share)
{
	const struct cfg_edge *best = NULL, *e;
	uint32_t i;

	for (i = t->first[b]; i < t->first[b + 1]; i++) {
		e = &t->g->edge[i];
		if (e->kind == EDGE_INDIRECT)
			return NONE;
		if (!best || e->count > best->count)
			best = e;
	}
	if (!best || !best->count || !t->g->block[b].count)
		return NONE;
	*share = (double)best->count / (double)t->g->block[b].count;
	return best->dst;
}

static bool in_run(const struct run *r, uint32_t b)
{
	uint32_t i;

	for (i = 0; i < r->n; i++)
		if (r->block[i] == b)
			return true;
	return false;
}

/* The best run of copies for a jump to b that is taken `count` times, when a
 * fall taken `lost` times becomes a jump by it: the run is followed along its
 * likeliest way and cut where it is worth most. */
static void grow(const struct tails *t, uint32_t b, double count, double lost, struct run *best)
{
	struct run r = {.n = 0};
	double saved = count - lost, share = 0, worth;
	uint32_t bytes = 0, next;

	while (r.n < RUN_MAX && b != NONE && tails_may_copy(t->g, b) && !in_run(&r, b) &&
	       t->place[b] < t->l->nhot) {
		bytes += t->g->block[b].bytes;
		if (bytes > BYTES_MAX)
			return;
		r.block[r.n++] = b;
		worth = saved + count * (taken(t, b, behind(t, b)) - taken(t, b, NONE)) -
			t->price * bytes;
		if (worth > best->worth) {
			*best = r;
			best->worth = worth;
		}
		next = likely(t, b, &share);
		saved += count * (taken(t, b, behind(t, b)) - taken(t, b, next));
		count *= share;
		b = next;
	}
}

/* The best run behind place k. */
static void find_run(const struct tails *t, uint32_t k, struct run *best)
{
	uint32_t b = t->l->order[k], next = behind(t, b), i;
	const struct cfg_edge *e;
	double falls = 0;

	best->n = 0;
	best->worth = 0;
	for (i = t->first[b]; i < t->first[b + 1]; i++) {
		e = &t->g->edge[i];
		if (e->kind == EDGE_INDIRECT)
			return;
		if (e->dst == next)
			falls += (double)e->count;
	}
	for (i = t->first[b]; i < t->first[b + 1]; i++) {
		e = &t->g->edge[i];
		if (e->dst != next && (double)e->count > falls)
			grow(t, e->dst, (double)e->count, falls, best);
	}
}

static void index_graph(struct tails *t, struct arena *a)
{
	uint32_t i, b;

	t->first = arena_array(a, (size_t)t->g->nblock + 1, sizeof *t->first);
	t->place = arena_array(a, t->g->nblock, sizeof *t->place);
	for (i = 0; i < t->g->nedge; i++)
		t->first[t->g->edge[i].src + 1]++;
	for (b = 0; b < t->g->nblock; b++) {
		t->first[b + 1] += t->first[b];
		t->place[t->l->order[b]] = b;
	}
}

/* The layout with the copies behind their places. */
static void insert(struct layout *l, const struct run *run, uint32_t ncopy, struct arena *a)
{
	uint32_t *order = arena_array(a, (size_t)l->n + ncopy, sizeof *order), k, at = 0;

	l->copy = arena_array(a, (size_t)l->n + ncopy, sizeof *l->copy);
	for (k = 0; k < l->nhot; k++) {
		order[at++] = l->order[k];
		memcpy(order + at, run[k].block, run[k].n * sizeof *order);
		memset(l->copy + at, 1, run[k].n * sizeof *l->copy);
		at += run[k].n;
	}
	memcpy(order + at, l->order + k, (l->n - k) * sizeof *order);
	l->order = order;
	l->n += ncopy;
	l->nhot += ncopy;
}

void tails_copy(const struct cfg *g, double price, struct layout *l, struct arena *a)
{
	struct tails t = {.g = g, .l = l, .price = price};
	struct run *run = arena_array(a, l->nhot, sizeof *run);
	uint32_t k, ncopy = 0;

	index_graph(&t, a);
	for (k = 0; k < l->nhot; k++) {
		find_run(&t, k, &run[k]);
		ncopy += run[k].n;
	}
	if (ncopy)
		insert(l, run, ncopy, a);
}
