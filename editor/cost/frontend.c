#include "editor/cost/frontend.h"
#include "editor/layout/layout.h"

#include <string.h>

/* Cycles: an instruction, a taken branch, a change of line, a line from the next cache, a page's
 * entry from the next TLB. Only their ratios matter. Fitted by bench/run predict, except the last,
 * which is assumed. */
static const double FE_CPI = 0.3, FE_TAKEN = 0.26, FE_LINE = 0.16, FE_L1I = 4, FE_ITLB = 8;

enum {
	LINE_BITS = 6,
	PAGE_BITS = 12,
	WAYS = 8,
	L1I_SETS = 64,
	ITLB_SETS = 8,
	WARM = 4 /* the first quarter of a piece only warms the caches */
};

/* ---- terms that follow from counts ---- */

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

/* ---- terms that need an order of events ---- */

struct cache {
	uint64_t tag[L1I_SETS][WAYS]; /* most recently used first; 0 = empty */
	uint32_t sets;
};

static bool cache_miss(struct cache *c, uint64_t key)
{
	uint64_t *tag = c->tag[key % c->sets];
	uint32_t i;

	key++;
	for (i = 0; i < WAYS - 1 && tag[i] != key; i++)
		;
	if (i && tag[i] == key) {
		memmove(tag + 1, tag, i * sizeof *tag);
		tag[0] = key;
		return false;
	}
	if (tag[0] == key)
		return false;
	memmove(tag + 1, tag, (WAYS - 1) * sizeof *tag);
	tag[0] = key;
	return true;
}

struct tally {
	uint64_t l1i, itlb, insns;
};

struct fetch {
	struct cache l1i, itlb;
	uint64_t line, page; /* the last ones */
	struct tally n;
};

static void fetch_bytes(struct fetch *f, uint64_t from, uint64_t to)
{
	uint64_t line;

	for (line = from >> LINE_BITS; line <= to >> LINE_BITS; line++) {
		if (line == f->line)
			continue;
		f->line = line;
		f->n.l1i += cache_miss(&f->l1i, line);
		if (line >> (PAGE_BITS - LINE_BITS) != f->page) {
			f->page = line >> (PAGE_BITS - LINE_BITS);
			f->n.itlb += cache_miss(&f->itlb, f->page);
		}
	}
}

/* The slot that a step comes to from another one. */
static uint32_t step_to(const struct fe_layout *l, uint32_t step, uint32_t at, const uint32_t *last)
{
	uint32_t to;

	if (step & FE_RETURN)
		return last[step & ~FE_RETURN];
	to = at == FE_NONE ? FE_NONE : falls_into(l, at, step);
	return to == FE_NONE ? l->primary[step] : to;
}

static void fetch_all(const struct fe_program *p, const struct fe_walk *w,
    const struct fe_layout *l, struct fe_cost *c)
{
	struct fetch f = {.l1i.sets = L1I_SETS, .itlb.sets = ITLB_SETS};
	uint32_t *last = xcalloc(p->block.n, sizeof *last), at = FE_NONE;
	size_t i, piece = FE_STEPS / FE_SEGMENTS;
	struct tally before = {0};
	const struct fe_slot *to;

	memcpy(last, l->primary, (p->block.n - 1) * sizeof *last);
	for (i = 0; i < w->step.n; i++) {
		if (i % piece == 0)
			before = f.n;
		if (i % piece == piece / WARM)
			f.n = before;
		at = step_to(l, w->step.v[i], at, last);
		to = &l->slot.v[at];
		last[to->block] = at;
		if (!(w->step.v[i] & FE_RETURN))
			f.n.insns += p->block.v[to->block].insns;
		if (to->bytes)
			fetch_bytes(
			    &f, w->step.v[i] & FE_RETURN ? last_byte(to) : to->addr, last_byte(to));
	}
	if (f.n.insns) {
		c->l1i = (double)f.n.l1i / (double)f.n.insns;
		c->itlb = (double)f.n.itlb / (double)f.n.insns;
	}
	free(last);
}

/* ---- all together ---- */

void fe_run(const struct fe_program *p, const struct fe_walk *w, const struct fe_layout *l,
    struct fe_cost *out)
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
	fetch_all(p, w, l, out);
	out->cycles = FE_CPI * out->insns + FE_TAKEN * out->taken + FE_LINE * out->lines +
		      FE_L1I * out->l1i + FE_ITLB * out->itlb;
}

double fe_gain(const struct fe_cost *before, const struct fe_cost *after)
{
	return before->cycles > 0 ? 1 - after->cycles / before->cycles : 0;
}

void fe_free(struct fe_program *p)
{
	vec_free(&p->block);
	vec_free(&p->edge);
	vec_free(&p->call);
}
