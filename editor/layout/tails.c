#include "editor/layout/tails.h"
#include "editor/layout/slots.h"

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
	uint32_t *slot;
	double price; /* taken jumps that a byte must save */
};

/* Blocks to copy after a slot. */
struct run {
	uint32_t block[RUN_MAX], n;
	double gain; /* taken jumps saved, less the price of the bytes */
};

bool tails_may_copy(const struct cfg *g, uint32_t block)
{
	return block && !(g->block[block].flags & BLK_ONCE);
}

/* The block that b can fall through to, or NONE. */
static uint32_t follower(const struct tails *t, uint32_t b)
{
	uint32_t k = t->slot[b] + 1;

	return k < t->l->n && k != t->l->nhot ? t->l->order[k] : NONE;
}

/* Taken jumps at the end of b per execution when block `next` follows it. */
static double taken(const struct tails *t, uint32_t b, uint32_t next)
{
	double count = (double)t->g->block[b].count, sum = 0;
	uint32_t i;

	for (i = t->g->succ[b]; i < t->g->succ[b + 1]; i++)
		if (t->g->edge[i].dst != next || !edge_direct(t->g->edge[i].kind))
			sum += (double)t->g->edge[i].count;
	return count > 0 ? sum / count : 0;
}

/* The likeliest successor of b, or NULL. */
static const struct cfg_edge *likeliest(const struct tails *t, uint32_t b)
{
	const struct cfg_edge *e = t->g->edge + t->g->succ[b], *best = NULL;

	for (; e < t->g->edge + t->g->succ[b + 1]; e++) {
		if (e->kind == EDGE_INDIRECT)
			return NULL;
		if (e->kind != EDGE_THROW && e->count && (!best || e->count > best->count))
			best = e;
	}
	return best;
}

static bool in_run(const struct run *r, uint32_t b)
{
	uint32_t i;

	for (i = 0; i < r->n; i++)
		if (r->block[i] == b)
			return true;
	return false;
}

static bool may_go_on(const struct tails *t, const struct run *r, uint32_t bytes, uint32_t b)
{
	return r->n < RUN_MAX && bytes + t->g->block[b].bytes <= BYTES_MAX &&
	       tails_may_copy(t->g, b) && t->slot[b] < t->l->nhot && t->g->block[b].count &&
	       !in_run(r, b);
}

/* The best run that begins with block b, reached `count` times of which so many jumps are saved,
 * and goes on along the likeliest successors. */
static void grow(const struct tails *t, uint32_t b, double count, double saved, struct run *best)
{
	const struct cfg_edge *e;
	struct run r = {.n = 0};
	uint32_t bytes = 0;
	double here;

	while (may_go_on(t, &r, bytes, b)) {
		here = taken(t, b, follower(t, b));
		bytes += t->g->block[b].bytes;
		r.block[r.n++] = b;
		r.gain = saved + count * (here - taken(t, b, NONE)) - t->price * bytes;
		if (r.gain > best->gain)
			*best = r;
		e = likeliest(t, b);
		if (!e)
			return;
		saved += count * (here - taken(t, b, e->dst));
		count *= (double)e->count / (double)t->g->block[b].count;
		b = e->dst;
	}
}

/* The best run after slot k. */
static void find_run(const struct tails *t, uint32_t k, struct run *best)
{
	uint32_t b = t->l->order[k], next = follower(t, b), i;
	const struct cfg_edge *e;
	double falls = 0;

	best->n = 0;
	best->gain = 0;
	for (i = t->g->succ[b]; i < t->g->succ[b + 1]; i++) {
		e = &t->g->edge[i];
		if (e->kind == EDGE_INDIRECT)
			return;
		if (e->kind != EDGE_THROW && e->dst == next)
			falls += (double)e->count;
	}
	for (i = t->g->succ[b]; i < t->g->succ[b + 1]; i++) {
		e = &t->g->edge[i];
		if (e->kind != EDGE_THROW && e->dst != next && (double)e->count > falls)
			grow(t, e->dst, (double)e->count, (double)e->count - falls, best);
	}
}

/* The layout with the copies after their slots. */
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

	t.slot = arena_array(a, g->nblock, sizeof *t.slot);
	for (k = 0; k < l->n; k++)
		t.slot[l->order[k]] = k;
	for (k = 0; k < l->nhot; k++) {
		find_run(&t, k, &run[k]);
		ncopy += run[k].n;
	}
	if (ncopy)
		insert(l, run, ncopy, a);
}
