#include "editor-driver/score.h"
#include "editor/infer.h"

#include <stdlib.h>
#include <string.h>

enum { FUNC_ALIGN = 16 };
static const double HOT_SHARE = 0.95;

/* All blocks of all weighed functions, one behind the other. */
struct blocks {
	VEC(uint64_t) addr;
	VEC(uint32_t) bytes;
	VEC(uint64_t) weight;
};

static void add_block(struct blocks *b, uint64_t addr, uint32_t bytes, double weight)
{
	vec_push(&b->addr, addr);
	vec_push(&b->bytes, bytes);
	vec_push(&b->weight, (uint64_t)weight);
}

static void add_layout(
    struct score *s, const struct plan *p, const struct cfg *g, const struct layout *l)
{
	double unit = p->counts->form == COUNTS_SAMPLES ? COUNT_ONE : 1;
	struct layout_score one;

	layout_score(g, l, &one);
	s->exttsp += one.exttsp / unit;
	s->taken += one.taken / unit;
	s->total += one.total / unit;
}

static void finish(struct blocks *b, struct score *s)
{
	s->lines95 = layout_hot_lines(
	    b->addr.v, b->bytes.v, b->weight.v, (uint32_t)b->addr.n, HOT_SHARE);
	vec_free(&b->addr);
	vec_free(&b->bytes);
	vec_free(&b->weight);
}

/* The function's layout in a build; blocks the build does not have come last. */
static void build_func(const struct plan *p, const struct mapindex *build, uint64_t tu,
    const struct unit_func *f, struct blocks *all, struct score *s)
{
	uint8_t *seen = xcalloc(f->cfg.nblock, 1);
	struct arena mem = {0};
	struct func_blocks b;
	struct layout l = {0};
	double *count;
	uint32_t i;

	mapindex_blocks(build, tu, f->ord, f->cfg.nblock, &b);
	l.order = arena_array(&mem, b.block.n + f->cfg.nblock, sizeof *l.order);
	for (i = 0; i < b.block.n; i++) {
		l.order[l.n++] = b.block.v[i]->id;
		seen[b.block.v[i]->id] = 1;
	}
	for (i = 0; i < f->cfg.nblock; i++)
		if (!seen[i])
			l.order[l.n++] = i;
	l.nhot = b.nhot ? b.nhot : l.n;
	count = arena_array(&mem, l.n, sizeof *count);
	layout_flow(&f->cfg, &l, count);
	for (i = 0; i < b.block.n; i++)
		add_block(all, b.block.v[i]->addr, b.block.v[i]->size,
		    count[i] * f->cfg.block[l.order[i]].insns);
	add_layout(s, p, &f->cfg, &l);
	mapindex_blocks_free(&b);
	free(seen);
	arena_free(&mem);
}

void score_build(const struct plan *p, const struct mapindex *build, struct score *s)
{
	struct blocks all = {0};
	struct plan_tu *t;
	uint32_t i;

	*s = (struct score){0};
	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; t->edited && i < t->nfunc; i++)
			if (t->weight[i])
				build_func(p, build, hash_short(&t->art->hash), &t->unit->func[i],
				    &all, s);
	finish(&all, s);
}

struct placed {
	const struct unit_func *f;
	const struct unit_place *at;
	double *count; /* of each place */
};

static int by_rank(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->at->edit != y->at->edit)
		return x->at->edit ? -1 : 1;
	if (x->at->rank != y->at->rank)
		return x->at->rank < y->at->rank ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static uint64_t place_run(
    struct blocks *all, const struct placed *x, uint32_t from, uint32_t to, uint64_t at)
{
	const struct cfg_block *b;
	uint32_t i;

	for (i = from; i < to; i++) {
		b = &x->f->cfg.block[x->at->layout.order[i]];
		add_block(all, at, b->bytes, x->count[i] * b->insns);
		at += b->bytes;
	}
	return at;
}

static struct placed placed(const struct unit_func *f, const struct unit_place *at)
{
	struct placed x = {f, at, xcalloc(at->layout.n, sizeof *x.count)};

	layout_flow(&f->cfg, &at->layout, x.count);
	return x;
}

void score_plan(const struct plan *p, struct score *s)
{
	VEC(struct placed) list = {0};
	struct blocks all = {0};
	const struct plan_tu *t;
	const struct layout *l;
	uint64_t at = 0;
	size_t k;
	uint32_t i;

	*s = (struct score){0};
	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; t->edited && i < t->nfunc; i++)
			if (t->weight[i])
				vec_push(&list, placed(&t->unit->func[i], &t->place[i]));
	if (list.n)
		qsort(list.v, list.n, sizeof *list.v, by_rank);
	for (k = 0; k < list.n; k++) {
		l = &list.v[k].at->layout;
		at = (at + FUNC_ALIGN - 1) & -(uint64_t)FUNC_ALIGN;
		at = place_run(&all, &list.v[k], 0, l->nhot, at);
		add_layout(s, p, &list.v[k].f->cfg, l);
	}
	for (k = 0; k < list.n; k++) {
		l = &list.v[k].at->layout;
		at = place_run(&all, &list.v[k], l->nhot, l->n, at);
		free(list.v[k].count);
	}
	finish(&all, s);
	vec_free(&list);
}
