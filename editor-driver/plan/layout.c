#include "common/sort.h"
#include "editor-driver/plan/passes.h"
#include "editor-driver/plan/shift.h"

#include <stdlib.h>
#include <string.h>

/* Share of the executed instructions that hot blocks have together, by convention (as "lines of
 * 95 %" in bench). */
static const double HOT_INSNS = 0.95;

static uint64_t func_seed(const struct plan *p, const struct plan_tu *t, uint32_t i)
{
	struct {
		struct hash128 tu;
		uint64_t seed, ord;
	} in = {t->art->hash, p->seed, i};
	struct hash128 h = hash_bytes(&in, sizeof in);

	return hash_short(&h);
}

static void *kept(const void *p, size_t n, size_t size)
{
	return p ? memcpy(xcalloc(n, size), p, n * size) : NULL;
}

/* Out of the arena of one thread; plan_free() frees it. Those of PLAN_COUNT
 * lie in their unit's. */
static void keep_layout(const struct layout *l, struct layout *to)
{
	*to = *l;
	to->order = kept(l->order, l->n, sizeof *to->order);
	to->copy = kept(l->copy, l->n, sizeof *to->copy);
	to->hop = kept(l->hop, l->n, sizeof *to->hop);
	to->align = kept(l->align, l->n, sizeof *to->align);
}

/* Hot calls of other modules, where the symbol is bound at the start anyway. */
static bool *direct_calls(const struct plan *p, const struct unit_func *f, uint64_t seed)
{
	const struct unit_call *c;
	bool *direct;
	uint32_t i;

	if (p->omit.got || !f->ncall)
		return NULL;
	direct = xcalloc(f->ncall, sizeof *direct);
	for (i = 0; i < f->ncall; i++) {
		c = &f->call[i];
		if (!(p->binds_now || c->bound) || !strcmp(c->callee, "__tls_get_addr"))
			continue;
		if (p->mode == PLAN_RANDOM)
			direct[i] = seed >> i % 64 & 1;
		else
			direct[i] = f->cfg.block[c->block].count >= p->hot &&
				    (c->bound || !htab_get_str(&p->defined, c->callee));
	}
	return direct;
}

static uint64_t calls_of(const struct unit_func *f)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < f->ncall; i++)
		n += f->cfg.block[f->call[i].block].count;
	return n;
}

static void layout_func(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch)
{
	struct unit_func *f = &t->unit->func[i];
	struct layout_options o = {.split = !f->one_part,
	    .copies = !p->omit.tails,
	    .cpu = p->cpu,
	    .hot = p->hot,
	    .calls = calls_of(f),
	    .executed = p->executed};
	struct unit_placement *at = &t->placement[i];
	struct layout l;

	at->edit = f->movable;
	at->padding = shift_padding(p, t, i);
	if (f->opaque)
		layout_identity(&f->cfg, &l, scratch);
	else if (p->mode == PLAN_RANDOM)
		layout_random(&f->cfg, &o, func_seed(p, t, i), &l, scratch);
	else
		layout_blocks(&f->cfg, &o, &l, scratch);
	keep_layout(&l, &at->layout);
	at->direct = direct_calls(p, f, func_seed(p, t, i));
}

struct hot_block {
	uint64_t count, weight;
};

static int by_count(const void *a, const void *b)
{
	const struct hot_block *x = a, *y = b;

	return ORDER(y->count, x->count);
}

/* It is not a copy of an earlier one (counts_stands()): sums over the program count it once. */
static bool stands(const struct plan *p, const struct plan_func *f)
{
	return !p->counts || !p->counts->block ||
	       counts_stands(p->counts, (size_t)(f->tu->func - p->func) + f->ord);
}

/* The count of the coldest of the hottest blocks that together execute HOT_INSNS of all
 * instructions; adds these up, too. */
static uint64_t hot_count(struct plan *p)
{
	VEC(struct hot_block) list = {0};
	const struct cfg_block *b;
	const struct cfg *g;
	double sum = 0;
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < p->nweighed; i++) {
		if (!stands(p, &p->weighed[i]))
			continue;
		g = &p->weighed[i].tu->unit->func[p->weighed[i].ord].cfg;
		for (b = g->block; b < g->block + g->nblock; b++) {
			if (!b->count)
				continue;
			vec_push(&list, (struct hot_block){b->count, b->count * b->insns});
			p->executed += (double)(b->count * b->insns);
		}
	}
	vec_sort(&list, by_count);
	for (i = 0; i < list.n && sum < HOT_INSNS * p->executed; i++) {
		sum += (double)list.v[i].weight;
		count = list.v[i].count;
	}
	vec_free(&list);
	return count;
}

void plan_layout(struct plan *p)
{
	p->hot = hot_count(p);
	plan_each_weighed(p, layout_func);
	first_lay_out(p);
}

void plan_order(struct plan *p)
{
	if (p->mode == PLAN_RANDOM)
		order_random(p);
	else if (p->mode == PLAN_COUNT || p->mode == PLAN_IDENTITY)
		order_original(p);
	else
		order_calls(p);
}
