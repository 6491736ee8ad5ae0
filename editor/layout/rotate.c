#include "editor/layout/rotate.h"
#include "editor/layout/exttsp.h"
#include "editor/layout/slots.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 256, ROUNDS = 4, NONE = UINT32_MAX };

/* Least gain, as a share of the executions of the back edge: less is noise in sampled counts. */
static const double GAIN_MIN = 0.05;

struct rotation {
	const struct cfg *g;
	uint32_t *order, n;
	uint32_t *slot;  /* per block, NONE = not in the order */
	uint64_t *addr;  /* per slot */
	uint32_t *scratch;
};

/* The slots first … last: those before slot `cut` are exchanged with the rest. */
struct cut {
	uint32_t first, cut, last;
	double gain; /* by fallthroughs alone */
};

/* The weight of the fallthroughs when slot b follows slot a. */
static double falls(const struct rotation *r, uint32_t a, uint32_t b)
{
	const struct cfg_edge *e = r->g->edge + r->g->succ[r->order[a]],
			      *end = r->g->edge + r->g->succ[r->order[a] + 1];
	double sum = 0;

	for (; b < r->n && e < end; e++)
		if (e->kind != EDGE_INDIRECT && e->dst == r->order[b])
			sum += (double)e->count * exttsp_weight(e, 0, 0);
	return sum;
}

/* Where slot k begins when the two runs of c are exchanged. */
static uint64_t moved(const struct rotation *r, const struct cut *c, uint32_t k)
{
	uint64_t head = r->addr[c->cut] - r->addr[c->first];
	uint64_t tail = r->addr[c->last + 1] - r->addr[c->cut];

	if (k < c->first || k > c->last)
		return r->addr[k];
	return k < c->cut ? r->addr[k] + tail : r->addr[k] - head;
}

static double edge_gain(const struct rotation *r, const struct cut *c, const struct cfg_edge *e)
{
	uint32_t src = r->slot[e->src], dst = r->slot[e->dst];
	uint64_t bytes = r->g->block[e->src].bytes;

	if (!e->count || dst == NONE)
		return 0;
	return (double)e->count *
	       (exttsp_weight(e, moved(r, c, src) + bytes, moved(r, c, dst)) -
		   exttsp_weight(e, r->addr[src] + bytes, r->addr[dst]));
}

/* All edges that begin or end between first and last. */
static double gain(const struct rotation *r, const struct cut *c)
{
	const struct cfg *g = r->g;
	const struct cfg_edge *e;
	double sum = 0;
	uint32_t k, i, b, src;

	for (k = c->first; k <= c->last; k++) {
		b = r->order[k];
		for (i = g->succ[b]; i < g->succ[b + 1]; i++)
			sum += edge_gain(r, c, &g->edge[i]);
		for (i = g->pred[b]; i < g->pred[b + 1]; i++) {
			e = &g->edge[g->in[i]];
			src = r->slot[e->src];
			if (src != NONE && (src < c->first || src > c->last))
				sum += edge_gain(r, c, e);
		}
	}
	return sum;
}

static void exchange(struct rotation *r, const struct cut *c)
{
	uint32_t head = c->cut - c->first, tail = c->last + 1 - c->cut, k;

	memcpy(r->scratch, r->order + c->first, head * sizeof *r->order);
	memmove(r->order + c->first, r->order + c->cut, tail * sizeof *r->order);
	memcpy(r->order + c->first + tail, r->scratch, head * sizeof *r->order);
	for (k = c->first; k <= c->last; k++) {
		r->slot[r->order[k]] = k;
		r->addr[k + 1] = r->addr[k] + r->g->block[r->order[k]].bytes;
	}
}

/* The loop whose last slot jumps back to its first, `count` times. */
static bool rotate(struct rotation *r, uint32_t first, uint32_t last, double count)
{
	struct cut c = {first, first, last, GAIN_MIN * count};
	double was = falls(r, first - 1, first) + falls(r, last, last + 1), won;
	uint32_t k;

	for (k = first + 1; k <= last; k++) {
		won = falls(r, first - 1, k) + falls(r, last, first) + falls(r, k - 1, last + 1) -
		      was - falls(r, k - 1, k);
		if (won > c.gain) {
			c.gain = won;
			c.cut = k;
		}
	}
	if (c.cut == first || gain(r, &c) <= GAIN_MIN * count)
		return false;
	exchange(r, &c);
	return true;
}

static bool rotate_all(struct rotation *r)
{
	const struct cfg_edge *e = r->g->edge, *end = e + r->g->nedge;
	bool any = false;
	uint32_t src, dst;

	for (; e < end; e++) {
		src = r->slot[e->src];
		dst = r->slot[e->dst];
		if (e->count && e->kind != EDGE_INDIRECT && src != NONE && dst != NONE && dst &&
		    src > dst && src - dst < WINDOW && rotate(r, dst, src, (double)e->count))
			any = true;
	}
	return any;
}

static void index_order(struct rotation *r, struct arena *a)
{
	uint32_t k;

	r->slot = arena_array(a, r->g->nblock, sizeof *r->slot);
	r->addr = arena_array(a, (size_t)r->n + 1, sizeof *r->addr);
	r->scratch = arena_array(a, WINDOW, sizeof *r->scratch);
	memset(r->slot, 0xff, r->g->nblock * sizeof *r->slot);
	for (k = 0; k < r->n; k++) {
		r->slot[r->order[k]] = k;
		r->addr[k + 1] = r->addr[k] + r->g->block[r->order[k]].bytes;
	}
}

bool rotate_loops(const struct cfg *g, uint32_t *order, uint32_t n, struct arena *a)
{
	struct rotation r = {.g = g, .order = order, .n = n};
	bool any = false;
	uint32_t k;

	index_order(&r, a);
	for (k = 0; k < ROUNDS && rotate_all(&r); k++)
		any = true;
	return any;
}
