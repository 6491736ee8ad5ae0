#include "editor-driver/plan/order.h"
#include "editor-driver/plan/passes.h"
#include "editor-driver/plan/shift.h"

#include <stdlib.h>
#include <string.h>

enum { FUNC_ALIGN = 4 /* log2 */ };
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
	to->align = kept(l->align, l->n, sizeof *to->align);
	to->hop = kept(l->hop, l->n, sizeof *to->hop);
}

void plan_keep_align(const struct layout *l, struct layout *to)
{
	if (l->align == to->align)
		return;
	free(to->align);
	to->align = kept(l->align, l->n, sizeof *to->align);
}

/* Hot calls of other modules, where the symbol is bound at the start anyway. */
static bool *direct_calls(const struct plan *p, const struct unit_func *f, uint64_t seed)
{
	bool *direct;
	uint32_t i;

	if (!(p->transforms & LAYOUT_GOT) || !p->binds_now || !f->ncall)
		return NULL;
	direct = xcalloc(f->ncall, sizeof *direct);
	for (i = 0; i < f->ncall; i++) {
		if (!strcmp(f->call[i].callee, "__tls_get_addr"))
			continue;
		if (p->mode == PLAN_RANDOM)
			direct[i] = seed >> i % 64 & 1;
		else
			direct[i] = f->cfg.block[f->call[i].block].count >= p->hot &&
				    !htab_get_str(&p->defined, f->call[i].callee);
	}
	return direct;
}

double plan_executed(const struct cfg *g)
{
	const struct cfg_block *b;
	double n = 0;

	for (b = g->block; b < g->block + g->nblock; b++)
		n += (double)b->count * b->insns;
	return n;
}

static uint8_t entry_alignment(const struct plan *p, const struct plan_tu *t, uint32_t i)
{
	if (!(p->transforms & LAYOUT_ALIGN))
		return 0;
	return p->mode == PLAN_RANDOM ? func_seed(p, t, i) % 7 : FUNC_ALIGN;
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
	    .transforms = p->transforms,
	    .hot = p->hot,
	    .executed = p->executed,
	    .calls = calls_of(f)};
	struct unit_placement *at = &t->placement[i];
	struct layout l;

	at->edit = f->movable;
	at->padding = shift_padding(p, t, i);
	at->align = entry_alignment(p, t, i);
	if (f->opaque)
		layout_identity(&f->cfg, &l, scratch);
	else if (p->mode == PLAN_RANDOM)
		layout_random(&f->cfg, &o, func_seed(p, t, i), &l, scratch);
	else {
		if (p->transforms & LAYOUT_THREAD)
			layout_thread(&f->cfg);
		layout_blocks(&f->cfg, &o, &l, scratch);
	}
	keep_layout(&l, &at->layout);
	at->direct = direct_calls(p, f, func_seed(p, t, i));
}

struct hot_block {
	uint64_t count, weight;
};

static int by_count(const void *a, const void *b)
{
	const struct hot_block *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

/* The count of the coldest of the hottest blocks that together execute HOT_INSNS of all
 * instructions. */
static uint64_t hot_count(const struct plan *p)
{
	VEC(struct hot_block) list = {0};
	const struct cfg_block *b;
	const struct cfg *g;
	uint64_t count = 0;
	double sum = 0;
	size_t i;

	for (i = 0; i < p->nweighed; i++) {
		if (!plan_stands(p, &p->weighed[i]))
			continue;
		g = &p->weighed[i].tu->unit->func[p->weighed[i].ord].cfg;
		for (b = g->block; b < g->block + g->nblock; b++) {
			if (b->count)
				vec_push(&list, (struct hot_block){b->count, b->count * b->insns});
		}
	}
	if (list.n)
		qsort(list.v, list.n, sizeof *list.v, by_count);
	for (i = 0; i < list.n && sum < HOT_INSNS * p->executed; i++) {
		sum += (double)list.v[i].weight;
		count = list.v[i].count;
	}
	vec_free(&list);
	return count;
}

void plan_layout(struct plan *p)
{
	size_t i;

	for (i = 0; i < p->nweighed; i++)
		if (plan_stands(p, &p->weighed[i]))
			p->executed +=
			    plan_executed(&p->weighed[i].tu->unit->func[p->weighed[i].ord].cfg);
	p->hot = hot_count(p);
	plan_each_weighed(p, layout_func);
	if (p->mode == PLAN_PROFILE && p->transforms & LAYOUT_SPREAD)
		plan_spread(p);
	if (p->mode == PLAN_PROFILE && p->transforms & LAYOUT_LINES)
		plan_lines(p);
}

/* The first function of the order begins on a page. */
static void begin_page(struct plan *p)
{
	enum { PAGE = 12 };
	struct unit_placement *at;
	size_t i;

	for (i = 0; i < p->nweighed; i++) {
		at = &p->weighed[i].tu->placement[p->weighed[i].ord];
		if (at->edit && !at->rank)
			at->align = PAGE;
	}
}

void plan_order(struct plan *p)
{
	if (p->mode == PLAN_RANDOM)
		order_random(p);
	else if (p->mode == PLAN_COUNT)
		order_original(p);
	else
		order_calls(p);
	if (p->transforms & LAYOUT_PAGE)
		begin_page(p);
}
