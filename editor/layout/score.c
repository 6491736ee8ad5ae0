/*
 * The score of a layout: executions of its slots, ext-TSP and taken jumps, its hot lines.
 */
#include "common/sort.h"
#include "editor/layout/exttsp.h"
#include "editor/layout/layout.h"
#include "editor/layout/slots.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

bool layout_falls(const struct cfg *g, const struct layout *l, uint32_t k, uint64_t *count)
{
	uint32_t b = l->order[k], i;
	bool any = false;

	*count = 0;
	if (!layout_runs_on(l, k))
		return false;
	for (i = g->succ[b]; i < g->succ[b + 1]; i++)
		if (g->edge[i].dst == l->order[k + 1] && edge_direct(g->edge[i].kind)) {
			any = true;
			*count += g->edge[i].count;
		}
	return any;
}

static void guess_primary(const struct cfg *g, const struct layout *l, uint32_t *slot)
{
	uint64_t count;
	uint32_t k;

	for (k = l->n; k-- > 0;)
		if (!k || !layout_falls(g, l, k - 1, &count))
			slot[l->order[k]] = k;
}

void layout_primary(const struct cfg *g, const struct layout *l, uint32_t *slot)
{
	uint32_t k;

	for (k = l->n; k-- > 0;)
		if (!l->copy || !l->copy[k])
			slot[l->order[k]] = k;
	if (!l->copy && l->n > g->nblock)
		guess_primary(g, l, slot);
}

/* The executions of a primary slot and its copies must add up to the block's. */
struct sum {
	double primary, copies;           /* of this round */
	double last_primary, last_copies; /* of the one before */
};

/* The primary slot's executions by the secant: copies may depend on them (a loop
 * that is copied after itself) or not (a dispatch). */
static double next_guess(const struct sum *s, double count, bool first)
{
	double moved = s->primary - s->last_primary, slope = 0, guess;

	if (!first && (moved > 1e-9 * count || moved < -1e-9 * count))
		slope = (s->copies - s->last_copies) / moved;
	guess = s->primary - (s->primary + s->copies - count) / (slope > 0 ? 1 + slope : 1);
	return guess < 0 ? 0 : guess > count ? count : guess;
}

struct copy {
	uint32_t slot, block;
	double share; /* of the executions of the slot before it, the share that falls through */
};

static uint32_t find_copies(
    const struct cfg *g, const struct layout *l, const uint32_t *slot, struct copy *copy)
{
	uint64_t fallen;
	uint32_t k, b, n = 0;
	double before;

	for (k = 1; k < l->n; k++) {
		b = l->order[k];
		if (slot[b] == k)
			continue;
		before = (double)g->block[l->order[k - 1]].count;
		copy[n++] = (struct copy){k, b,
		    layout_falls(g, l, k - 1, &fallen) && before > 0 ? (double)fallen / before : 0};
	}
	return n;
}

/* One round: the copies from the slots before them. */
static void flow_on(const struct cfg *g, const struct copy *copy, uint32_t n, const uint32_t *slot,
    double *count, struct sum *sum)
{
	const struct copy *c;
	double most;

	for (c = copy; c < copy + n; c++) {
		sum[c->block].last_primary = sum[c->block].primary;
		sum[c->block].last_copies = sum[c->block].copies;
	}
	for (c = copy; c < copy + n; c++) {
		sum[c->block].primary = count[slot[c->block]];
		sum[c->block].copies = 0;
	}
	for (c = copy; c < copy + n; c++) {
		most = (double)g->block[c->block].count;
		count[c->slot] = count[c->slot - 1] * c->share;
		if (count[c->slot] > most)
			count[c->slot] = most;
		sum[c->block].copies += count[c->slot];
	}
}

static void flow(const struct cfg *g, const struct layout *l, const uint32_t *slot, double *count)
{
	enum { ROUNDS = 8 };
	struct copy *copy, *c;
	uint32_t k, n, round;
	struct sum *sum;

	for (k = 0; k < l->n; k++)
		count[k] = (double)g->block[l->order[k]].count;
	if (l->n == g->nblock)
		return;
	sum = xcalloc(g->nblock, sizeof *sum);
	copy = xcalloc(l->n - g->nblock, sizeof *copy);
	n = find_copies(g, l, slot, copy);
	for (round = 0; round < ROUNDS; round++) {
		flow_on(g, copy, n, slot, count, sum);
		for (c = copy; c < copy + n; c++)
			count[slot[c->block]] =
			    next_guess(&sum[c->block], (double)g->block[c->block].count, !round);
	}
	free(copy);
	free(sum);
}

void layout_flow(const struct cfg *g, const struct layout *l, double *count)
{
	uint32_t *slot = xcalloc(g->nblock, sizeof *slot);

	layout_primary(g, l, slot);
	flow(g, l, slot, count);
	free(slot);
}

/* Where each slot begins. */
static void find_addresses(const struct cfg *g, const struct layout *l, uint64_t *addr)
{
	uint64_t at = 0;
	uint32_t k;

	for (k = 0; k < l->n; k++) {
		if (k == l->nhot)
			at += LAYOUT_FAR;
		addr[k] = at;
		at += g->block[l->order[k]].bytes + (layout_hops(l, k) ? LAYOUT_HOP_BYTES : 0);
	}
}

/* Adds edge e, run through n times from slot k. */
static void add_edge(const struct cfg *g, const struct layout *l, const struct cfg_edge *e,
    uint32_t k, double n, const uint64_t *addr, const uint32_t *slot, struct layout_score *s)
{
	uint64_t from = addr[k] + g->block[e->src].bytes, to = addr[slot[e->dst]];

	if (e->kind == EDGE_THROW)
		return; /* no jump */
	if (layout_runs_on(l, k) && l->order[k + 1] == e->dst)
		to = addr[k + 1];
	s->total += n;
	s->exttsp += n * exttsp_weight(e, from, to);
	if (from != to || !edge_direct(e->kind))
		s->taken += n;
}

void layout_score(const struct cfg *g, const struct layout *l, struct layout_score *s)
{
	uint32_t *slot = xcalloc(g->nblock, sizeof *slot), k, b, i;
	double *count = xcalloc(l->n, sizeof *count), share;
	uint64_t *addr = xcalloc(l->n, sizeof *addr);

	*s = (struct layout_score){0};
	layout_primary(g, l, slot);
	flow(g, l, slot, count);
	find_addresses(g, l, addr);
	for (k = 0; k < l->n; k++) {
		b = l->order[k];
		share = g->block[b].count && l->n > g->nblock ? count[k] / (double)g->block[b].count
							      : 1;
		for (i = g->succ[b]; i < g->succ[b + 1]; i++)
			add_edge(
			    g, l, &g->edge[i], k, share * (double)g->edge[i].count, addr, slot, s);
	}
	free(slot);
	free(count);
	free(addr);
}

struct line {
	uint64_t at; /* address / LINE */
	double weight;
};

typedef VEC(struct line) line_list;

/* A block's weight goes to its lines by the bytes it has in each. */
static void add_lines(line_list *l, uint64_t addr, uint32_t bytes, double weight)
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

	return ORDER(a->at, b->at);
}

static int by_weight(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	return ORDER(b->weight, a->weight);
}

/* Adds up what fell on the same line. */
static void join_lines(line_list *l)
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

uint64_t layout_hot_lines(const struct layout_block *b, size_t n, double share)
{
	line_list l = {0};
	double total = 0, sum = 0;
	uint64_t used = 0;

	for (; n--; b++)
		if (b->weight) {
			add_lines(&l, b->addr, b->bytes, (double)b->weight);
			total += (double)b->weight;
		}
	if (l.n) {
		join_lines(&l);
		qsort(l.v, l.n, sizeof *l.v, by_weight);
	}
	/* Rounding of the sum must not break a share of 1. */
	while (used < l.n && sum < share * total * (1 - 1e-12))
		sum += l.v[used++].weight;
	vec_free(&l);
	return used;
}
