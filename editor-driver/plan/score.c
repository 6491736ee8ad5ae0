#include "editor-driver/plan/score.h"
#include "common/sort.h"
#include "editor-driver/plan/built.h"
#include "editor/infer/infer.h"
#include "editor/layout/relax.h"

#include <stdlib.h>

static const double LINES_SHARE = 0.95;

/* A function in the layout that is scored. */
struct placed {
	const struct unit_func *f;
	const struct unit_placement *at;
	uint64_t tu; /* hash_short */
	size_t ord;  /* in the plan */
	struct layout layout;
	struct fe_slot *slot; /* one for each of the layout's */
};

struct scoring {
	VEC(struct placed) func;
	double insns; /* executed */
	struct arena mem;
};

/* Where the plan has the n-th function of a TU; one without a weight stays. */
static const struct unit_placement *placed_by(const struct plan *p, size_t tu, uint32_t n)
{
	static const struct unit_placement stays;
	const struct plan_tu *t = &p->tu[tu];

	return t->edited && t->weight[n] ? &t->placement[n] : &stays;
}

static void list_funcs(struct scoring *g, const struct plan *p, const struct plan *laid_out)
{
	const struct plan_tu *t;
	const struct cfg *cfg;
	uint32_t i, b, f = 0;

	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; i < t->nfunc; i++, f++) {
			if (!t->weight[i] || !counts_stands(p->counts, f))
				continue;
			cfg = &t->unit->func[i].cfg;
			for (b = 0; b < cfg->nblock; b++)
				g->insns += (double)cfg->block[b].count * cfg->block[b].insns;
			vec_push(&g->func, (struct placed){&t->unit->func[i],
					       placed_by(laid_out, (size_t)(t - p->tu), i),
					       hash_short(&t->art->hash), g->func.n});
		}
}

/* Lines that hold most of what is executed. */
static uint64_t hot_lines(const struct scoring *g)
{
	VEC(struct layout_block) block = {0};
	const struct placed *x;
	uint64_t lines;
	uint32_t k;

	for (x = g->func.v; x < g->func.v + g->func.n; x++)
		for (k = 0; k < x->layout.n; k++)
			vec_push(&block, (struct layout_block){x->slot[k].addr,
					     (uint64_t)(x->slot[k].count *
							x->f->cfg.block[x->layout.order[k]].insns),
					     x->slot[k].bytes});
	lines = layout_hot_lines(block.v, block.n, LINES_SHARE);
	vec_free(&block);
	return lines;
}

/* The score of the layouts, whose slots have their places. */
static void sum_up(struct scoring *g, const struct plan *p, struct score *out)
{
	double unit = p->counts->form == COUNTS_SAMPLES ? (double)COUNT_ONE : 1, *count;
	struct layout_score one;
	struct placed *x;
	uint32_t k;

	*out = (struct score){0};
	for (x = g->func.v; x < g->func.v + g->func.n; x++) {
		layout_score(&x->f->cfg, &x->layout, &one);
		out->exttsp += one.exttsp / unit;
		out->taken += one.taken / unit;
		out->total += one.total / unit;
		count = arena_array(&g->mem, x->layout.n, sizeof *count);
		layout_flow(&x->f->cfg, &x->layout, count);
		for (k = 0; k < x->layout.n; k++)
			x->slot[k].count = count[k];
		fe_add(&x->f->cfg, &x->layout, x->slot, &out->cost);
	}
	fe_end(&out->cost, g->insns);
	out->lines95 = hot_lines(g);
	arena_free(&g->mem);
	vec_free(&g->func);
}

/* ---- a build ---- */

static void read_build(
    struct placed *x, const struct mapindex *index, const struct built_code *build, struct arena *a)
{
	struct layout *l = &x->layout;
	uint32_t n = built_func(index, x->tu, x->f, a, l, &x->slot), *primary, k;

	primary = arena_array(a, x->f->cfg.nblock, sizeof *primary);
	built_jumps(&x->f->cfg, l, x->slot, n, build, primary, a);
	l->copy = arena_array(a, l->n, sizeof *l->copy);
	for (k = 0; k < l->n; k++)
		l->copy[k] = primary[l->order[k]] != k;
}

void score_build(const struct plan *p, const struct built_code *build, struct score *out)
{
	struct scoring g = {{0}};
	struct mapindex index;
	size_t i;

	mapindex_make(&index, build->map);
	list_funcs(&g, p, p);
	for (i = 0; i < g.func.n; i++)
		read_build(&g.func.v[i], &index, build, &g.mem);
	sum_up(&g, p, out);
	mapindex_free(&index);
}

/* ---- a plan ---- */

static int by_rank(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->at->edit && y->at->edit && x->at->rank != y->at->rank)
		return ORDER(x->at->rank, y->at->rank);
	return ORDER(y->at->edit, x->at->edit) ?: ORDER(x->ord, y->ord);
}

static uint64_t place_part(
    struct fe_slot *p, uint32_t from, uint32_t to, const struct relaxed *printed, uint64_t at)
{
	uint32_t k;

	for (k = from; k < to; k++) {
		p[k].addr = at + printed->addr[k] - printed->addr[from];
		p[k].bytes = (uint32_t)(printed->end[k] - printed->addr[k]);
	}
	return from < to ? at + printed->end[to - 1] - printed->addr[from] : at;
}

/* Where the hot parts of a build begin of which these were laid out. */
static uint64_t begin_of(const struct scoring *g, const struct mapindex *build)
{
	const struct placed *x;
	const struct bm_frag *f;
	uint64_t begin = UINT64_MAX;
	int64_t i;

	for (x = g->func.v; x < g->func.v + g->func.n; x++)
		for (i = x->at->edit ? mapindex_first(build, x->tu, x->f->ord) : -1; i != -1;
		     i = build->next[i]) {
			f = &build->map->frag.v[i];
			if (!f->fragment && f->addr < begin)
				begin = f->addr;
		}
	return begin == UINT64_MAX ? 0 : begin;
}

/* From an address on: hot parts in this order, after them the cold ones, as they will be printed;
 * but for those that have their places. */
static void place_all(struct placed *x, size_t n, uint64_t at, struct arena *a)
{
	struct relaxed *printed = arena_array(a, n, sizeof *printed);
	struct layout *l;
	uint64_t align;
	size_t i;

	while (n && x[n - 1].slot)
		n--;
	for (i = 0; i < n; i++) {
		l = &x[i].layout;
		x[i].slot = arena_array(a, l->n, sizeof *x[i].slot);
		align = l->entry_align > 1 ? (uint64_t)1 << l->entry_align : 2;
		at = ((at + align - 1) & -align) + l->entry_offset;
		relax_slots(&x[i].f->cfg, l, &printed[i], a);
		at = place_part(x[i].slot, 0, l->nhot, &printed[i], at);
	}
	for (i = 0; i < n; i++)
		at = place_part(x[i].slot, x[i].layout.nhot, x[i].layout.n, &printed[i], at);
}

void score_plan(const struct plan *p, const struct plan *laid_out, const struct built_code *present,
    struct score *out)
{
	struct scoring g = {{0}};
	struct mapindex build;
	uint64_t begin = 0;
	struct placed *x;

	list_funcs(&g, p, laid_out);
	if (present)
		mapindex_make(&build, present->map);
	for (x = g.func.v; x < g.func.v + g.func.n; x++)
		if (x->at->layout.n)
			x->layout = x->at->layout;
		else if (present)
			read_build(x, &build, present, &g.mem);
		else
			layout_identity(&x->f->cfg, &x->layout, &g.mem);
	vec_sort(&g.func, by_rank);
	if (present && !build_id_equal(&present->map->id, &p->map.id))
		begin = begin_of(&g, &build);
	place_all(g.func.v, g.func.n, begin, &g.mem);
	sum_up(&g, p, out);
	if (present)
		mapindex_free(&build);
}
