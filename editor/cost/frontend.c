#include "editor/cost/frontend.h"
#include "common/frontcosts.h"

#include <math.h>
#include <stdlib.h>

enum { LINE_BITS = 6 };
static const uint32_t NONE = UINT32_MAX;

struct placed {
	const struct cfg *g;
	const struct layout *l;
	const struct fe_slot *slot;
	uint32_t *primary; /* layout_primary() */
};

/* The next slot when it is of block dst, else NONE. Empty blocks between take no room. */
static uint32_t falls_into(const struct placed *p, uint32_t at, uint32_t dst)
{
	do
		if (!layout_adjoins(p->l, at))
			return NONE;
	while (p->l->order[++at] != dst && !p->slot[at].bytes);
	return p->l->order[at] == dst ? at : NONE;
}

static uint64_t last_byte(const struct fe_slot *at)
{
	return at->addr + at->bytes - !!at->bytes;
}

/* Adds the taken jumps, the jumps that a layout prints beyond the original's instructions, and the
 * lines fetched, without a block's first where control comes from the same line. */
static void add_slot(const struct placed *p, uint32_t at, struct fe_cost *c)
{
	const struct fe_slot *here = &p->slot[at];
	uint32_t b = p->l->order[at], i, to, taken_to = NONE, on_to = NONE, next = NONE;
	uint64_t executed = p->g->block[b].count, last = last_byte(here) >> LINE_BITS;
	double share = executed ? here->count / (double)executed : 0, n, taken = 0, on = 0;
	const struct cfg_edge *e;
	struct layout_jumps jumps;

	c->lines += here->count * (double)(last - (here->addr >> LINE_BITS) + 1);
	for (i = p->g->succ[b]; i < p->g->succ[b + 1]; i++) {
		e = &p->g->edge[i];
		if (e->kind == EDGE_THROW)
			continue;
		n = share * (double)e->count;
		to = e->kind == EDGE_INDIRECT ? NONE : falls_into(p, at, e->dst);
		if (p->slot[to == NONE ? p->primary[e->dst] : to].addr >> LINE_BITS == last)
			c->lines -= n;
		if (to != NONE)
			next = e->dst;
		if (e->kind == EDGE_INDIRECT) {
			c->taken += n;
		} else if (e->kind == EDGE_TAKEN) {
			taken_to = e->dst;
			taken = n;
		} else {
			on_to = e->dst;
			on = n;
			c->insns -= e->kind == EDGE_JUMP ? n : 0;
		}
	}
	jumps = layout_jumps(taken_to, on_to, next);
	if (jumps.cond != NONE)
		c->taken += jumps.inverse ? on : taken;
	if (jumps.jump != NONE) {
		c->taken += on;
		c->insns += on;
	}
}

void fe_add(
    const struct cfg *g, const struct layout *l, const struct fe_slot *slot, struct fe_cost *c)
{
	struct placed p = {g, l, slot, xcalloc(g->nblock, sizeof *p.primary)};
	uint32_t k;

	layout_primary(g, l, p.primary);
	for (k = 0; k < l->n; k++)
		add_slot(&p, k, c);
	free(p.primary);
}

void fe_end(struct fe_cost *c, double insns)
{
	if (!(insns > 0))
		return;
	c->insns = 1 + c->insns / insns;
	c->taken /= insns;
	c->lines = fmax(c->lines / insns, 0); /* a difference, rounded */
	c->cycles =
	    FRONTCOSTS.insn * c->insns + FRONTCOSTS.taken * c->taken + FRONTCOSTS.line * c->lines;
}

double fe_gain(const struct fe_cost *before, const struct fe_cost *after)
{
	return before->cycles > 0 ? 1 - after->cycles / before->cycles : 0;
}
