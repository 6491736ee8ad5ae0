#include "editor/layout/layout.h"
#include "common/random.h"
#include "editor/layout/exttsp.h"
#include "editor/layout/hops.h"
#include "editor/layout/lines.h"
#include "editor/layout/slots.h"
#include "editor/layout/tails.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	JCC_GROWTH = 4,  /* bytes: a conditional jump that must reach another section */
	JUMP_GROWTH = 3, /* an unconditional one */
	FALL_GROWTH = 5, /* a jump instead of a fallthrough */
};

void layout_identity(const struct cfg *g, struct layout *out, struct arena *a)
{
	uint32_t b;

	*out = (struct layout){.order = arena_array(a, g->nblock, sizeof *out->order),
	    .n = g->nblock,
	    .nhot = g->nblock};
	for (b = 0; b < g->nblock; b++)
		out->order[b] = b;
}

struct layout_jumps layout_jumps(uint32_t taken, uint32_t on, uint32_t next)
{
	if (taken != UINT32_MAX && taken == next && on != next)
		return (struct layout_jumps){.cond = on, .jump = UINT32_MAX, .inverse = true};
	return (struct layout_jumps){.cond = taken, .jump = on == next ? UINT32_MAX : on};
}

struct layout_jumps layout_slot_jumps(const struct cfg *g, const struct layout *l, uint32_t k)
{
	uint32_t b = l->order[k], i, on = UINT32_MAX, taken = UINT32_MAX;
	const struct cfg_edge *e;

	for (i = g->succ[b]; i < g->succ[b + 1]; i++) {
		e = &g->edge[i];
		if (e->kind == EDGE_TAKEN)
			taken = e->dst;
		else if (edge_direct(e->kind))
			on = e->dst;
	}
	return layout_jumps(taken, on, layout_runs_on(l, k) ? l->order[k + 1] : UINT32_MAX);
}

/* A block that slot k may fall through to and that may be copied there, or block 0. */
static uint32_t random_copy(const struct cfg *g, const struct layout *l, uint32_t k, uint64_t *seed)
{
	uint32_t i, n = 0, dst = 0;

	for (i = 0; i < g->nedge; i++)
		if (g->edge[i].src == l->order[k] && edge_direct(g->edge[i].kind) &&
		    tails_may_copy(g, g->edge[i].dst) && random_next(seed) % ++n == 0)
			dst = g->edge[i].dst;
	return dst;
}

static void add_random_copies(
    const struct cfg *g, uint64_t *seed, struct layout *l, struct arena *a)
{
	struct layout from = *l;
	uint32_t k, b;

	l->order = arena_array(a, 2 * (size_t)g->nblock, sizeof *l->order);
	l->copy = arena_array(a, 2 * (size_t)g->nblock, sizeof *l->copy);
	l->n = 0;
	for (k = 0; k < from.n; k++) {
		l->order[l->n++] = from.order[k];
		b = random_next(seed) % 4 ? 0 : random_copy(g, &from, k, seed);
		if (b) {
			l->copy[l->n] = 1;
			l->order[l->n++] = b;
		}
		if (k + 1 == from.nhot)
			l->nhot = l->n;
	}
}

static void add_random_alignment(uint64_t *seed, struct layout *l, struct arena *a)
{
	uint32_t k;

	l->align = arena_array(a, l->n, sizeof *l->align);
	for (k = 0; k < l->n; k++)
		l->align[k] = random_next(seed) % 8 ? 0 : (uint8_t)(random_next(seed) % 7);
	l->entry_align = (uint8_t)(random_next(seed) % 7);
	l->entry_offset = (uint8_t)(random_next(seed) % 50 * 2);
}

static void add_random_hops(uint64_t *seed, struct layout *l, struct arena *a)
{
	uint32_t k;

	l->hop = arena_array(a, l->n, sizeof *l->hop);
	for (k = 0; k + 1 < l->n; k++)
		l->hop[k] = !(l->copy && l->copy[k + 1]) && random_next(seed) % 4 == 0;
}

void layout_random(const struct cfg *g, const struct layout_options *o, uint64_t seed,
    struct layout *out, struct arena *a)
{
	uint32_t k, j, t;

	layout_identity(g, out, a);
	for (k = g->nblock; k > 2; k--) {
		j = 1 + (uint32_t)(random_next(&seed) % (k - 1));
		t = out->order[k - 1];
		out->order[k - 1] = out->order[j];
		out->order[j] = t;
	}
	if (o->split && g->nblock)
		out->nhot = 1 + (uint32_t)(random_next(&seed) % g->nblock);
	if (o->copies)
		add_random_copies(g, &seed, out, a);
	add_random_alignment(&seed, out, a);
	add_random_hops(&seed, out, a);
}

/* Growth of the hot fragment when block b moves to the cold one: jumps between the two cannot be
 * short. */
static void add_growth(const struct cfg *g, const uint8_t *hot, uint32_t *growth)
{
	static const uint32_t by_kind[] = {[EDGE_FALL] = FALL_GROWTH,
	    [EDGE_JUMP] = JUMP_GROWTH,
	    [EDGE_TAKEN] = JCC_GROWTH,
	    [EDGE_NOTTAKEN] = JCC_GROWTH,
	    [EDGE_INDIRECT] = 0,
	    [EDGE_THROW] = 0};
	uint32_t i;

	for (i = 0; i < g->nedge; i++)
		if (hot[g->edge[i].src] && !hot[g->edge[i].dst])
			growth[g->edge[i].dst] += by_kind[g->edge[i].kind];
}

/* Moves blocks that are never executed out, unless the longer jumps to them would take as much room
 * as they free. */
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

/* Instructions. */
static double executed(const struct cfg *g)
{
	const struct cfg_block *b;
	double n = 0;

	for (b = g->block; b < g->block + g->nblock; b++)
		n += (double)b->count * b->insns;
	return n;
}

void layout_blocks(
    const struct cfg *g, const struct layout_options *o, struct layout *out, struct arena *a)
{
	uint32_t *list = arena_array(a, g->nblock, sizeof *list), b, n = 0, k;
	double price = (double)o->hot * LAYOUT_BYTE;
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
	*out = (struct layout){
	    .order = arena_array(a, g->nblock, sizeof *out->order), .n = g->nblock, .nhot = n};
	exttsp_order(g, list, n, out->order, a);
	for (b = 0, k = n; b < g->nblock; b++)
		if (!hot[b])
			out->order[k++] = b;
	if (o->copies) {
		tails_copy(g, price, out, a);
		tails_order(g, out, a);
	}
	if (o->split)
		split(g, hot, out, a);
	else
		out->nhot = out->n;
	if (o->cpu->hop_jump_bits > 0)
		hops_add(g, o, out, a);
	if (o->cpu->lines_share > 0 && executed(g) >= o->cpu->lines_share * o->executed)
		lines_pad(g, price, out, a);
}
