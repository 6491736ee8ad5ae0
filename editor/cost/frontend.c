#include "editor/cost/frontend.h"
#include "editor/layout/layout.h"

/* Cycles: an instruction, which is assumed, a taken branch, a change of line. Only their ratios
 * matter. Fitted by bench/run predict. */
static const double FE_CPI = 0.3, FE_TAKEN = 0.26, FE_LINE = 0.16;

enum { LINE_BITS = 6 };

/* The next slot when it is of block dst, else FE_NONE. Empty blocks between take no room. */
static uint32_t falls_into(const struct fe_layout *l, uint32_t at, uint32_t dst)
{
	const struct fe_slot *p = l->slot.v;

	do
		if (!p[at].falls)
			return FE_NONE;
	while (p[++at].block != dst && !p[at].bytes);
	return p[at].block == dst ? at : FE_NONE;
}

static uint64_t last_byte(const struct fe_slot *at)
{
	return at->addr + at->bytes - !!at->bytes;
}

/* Adds the taken jumps, the jumps that a layout prints beyond the original's instructions, and the
 * lines fetched, without a block's first where control comes from the same line. */
static void add_slot(
    const struct fe_program *p, const struct fe_layout *l, uint32_t at, struct fe_cost *c)
{
	const struct fe_slot *here = &l->slot.v[at];
	const struct fe_block *k = &p->block.v[here->block];
	double share = k->count > 0 ? here->count / k->count : 0, n, taken = 0, on = 0;
	uint32_t i, to, taken_to = FE_NONE, on_to = FE_NONE, next = FE_NONE;
	uint64_t last = last_byte(here) >> LINE_BITS;
	const struct fe_edge *e;
	struct layout_jumps jumps;

	c->lines += here->count * (double)(last - (here->addr >> LINE_BITS) + 1);
	for (i = k[0].edge; i < k[1].edge; i++) {
		e = &p->edge.v[i];
		n = share * e->count;
		to = e->kind == EDGE_INDIRECT ? FE_NONE : falls_into(l, at, e->dst);
		if (l->slot.v[to == FE_NONE ? l->primary[e->dst] : to].addr >> LINE_BITS == last)
			c->lines -= n;
		if (to != FE_NONE)
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
	if (jumps.cond != FE_NONE)
		c->taken += jumps.inverse ? on : taken;
	if (jumps.jump != FE_NONE) {
		c->taken += on;
		c->insns += on;
	}
}

void fe_run(const struct fe_program *p, const struct fe_layout *l, struct fe_cost *out)
{
	double insns = 0;
	uint32_t i;

	*out = (struct fe_cost){0};
	for (i = 0; i + 1 < p->block.n; i++)
		insns += p->block.v[i].count * p->block.v[i].insns;
	for (i = 0; i < l->slot.n; i++)
		add_slot(p, l, i, out);
	if (!(insns > 0))
		return;
	out->insns = 1 + out->insns / insns;
	out->taken /= insns;
	out->lines /= insns;
	out->cycles = FE_CPI * out->insns + FE_TAKEN * out->taken + FE_LINE * out->lines;
}

double fe_gain(const struct fe_cost *before, const struct fe_cost *after)
{
	return before->cycles > 0 ? 1 - after->cycles / before->cycles : 0;
}

void fe_free(struct fe_program *p)
{
	vec_free(&p->block);
	vec_free(&p->edge);
}
