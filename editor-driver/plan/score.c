#include "editor-driver/plan/score.h"
#include "common/sort.h"
#include "editor-driver/plan/program.h"
#include "editor/infer/infer.h"
#include "editor/layout/relax.h"

#include <stdlib.h>
#include <string.h>

static const double LINES_SHARE = 0.95;

void scorer_open(struct scorer *s, const struct plan *p)
{
	*s = (struct scorer){.p = p, .first = xcalloc(p->nfunc, sizeof *s->first)};
	program_make(p, &s->program, s->first);
}

void scorer_close(struct scorer *s)
{
	fe_free(&s->program);
	free(s->first);
}

/* ---- one layout ---- */

struct scoring {
	const struct scorer *s;
	struct fe_layout layout;
	struct score *out;
};

static struct scoring begin(const struct scorer *s, struct score *out)
{
	struct scoring g = {s, {{0}, xcalloc(s->program.block.n, sizeof *g.layout.primary)}, out};

	*out = (struct score){0};
	return g;
}

/* Adds a function that begins at this block of the program; its slots have no
 * addresses yet. */
static void add_layout(
    struct scoring *g, const struct cfg *cfg, const struct layout *l, uint32_t first)
{
	double unit = g->s->p->counts->form == COUNTS_SAMPLES ? (double)COUNT_ONE : 1;
	double *count = xcalloc(l->n, sizeof *count);
	uint32_t *primary = &g->layout.primary[first], k;
	struct layout_score one;

	layout_score(cfg, l, &one);
	g->out->exttsp += one.exttsp / unit;
	g->out->taken += one.taken / unit;
	g->out->total += one.total / unit;
	layout_primary(cfg, l, primary);
	for (k = 0; k < cfg->nblock; k++)
		primary[k] += (uint32_t)g->layout.slot.n;
	layout_flow(cfg, l, count);
	for (k = 0; k < l->n; k++)
		vec_push(&g->layout.slot, (struct fe_slot){.bytes = cfg->block[l->order[k]].bytes,
					      .block = first + l->order[k],
					      .falls = layout_adjoins(l, k),
					      .count = count[k]});
	free(count);
}

static void finish(struct scoring *g)
{
	const struct fe_program *p = &g->s->program;
	uint32_t i, n = (uint32_t)g->layout.slot.n;
	uint64_t *addr = xcalloc(n, sizeof *addr), *weight = xcalloc(n, sizeof *weight);
	uint32_t *bytes = xcalloc(n, sizeof *bytes);
	const struct fe_slot *at = g->layout.slot.v;

	for (i = 0; i < n; i++) {
		addr[i] = at[i].addr;
		bytes[i] = at[i].bytes;
		weight[i] = (uint64_t)(at[i].count * p->block.v[at[i].block].insns);
	}
	g->out->lines95 = layout_hot_lines(addr, bytes, weight, n, LINES_SHARE);
	fe_run(p, &g->layout, &g->out->cost);
	free(addr);
	free(weight);
	free(bytes);
	vec_free(&g->layout.slot);
	free(g->layout.primary);
}

/* ---- a build ---- */

/* The function's layout in a build; blocks that the build lacks come last. */
static void build_func(struct scoring *g, const struct mapindex *build, uint64_t tu,
    const struct unit_func *f, uint32_t first)
{
	uint8_t *seen = xcalloc(f->cfg.nblock, 1);
	struct arena mem = {0};
	struct func_blocks b;
	struct layout l = {0};
	struct fe_slot *at;
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
	add_layout(g, &f->cfg, &l, first);
	at = g->layout.slot.v + g->layout.slot.n - l.n;
	for (i = 0; i < b.block.n; i++) {
		at[i].addr = b.block.v[i]->addr;
		at[i].bytes = b.block.v[i]->size;
	}
	mapindex_blocks_free(&b);
	free(seen);
	arena_free(&mem);
}

void score_build(const struct scorer *s, const struct mapindex *build, struct score *out)
{
	const uint32_t *first = s->first;
	struct scoring g = begin(s, out);
	const struct plan_tu *t;
	uint32_t i;

	for (t = s->p->tu; t < s->p->tu + s->p->ntu; t++)
		for (i = 0; i < t->nfunc; i++, first++)
			if (*first != FE_NONE)
				build_func(&g, build, hash_short(&t->art->hash), &t->unit->func[i],
				    *first);
	finish(&g);
}

/* ---- a plan ---- */

struct placed {
	const struct cfg *cfg;
	const struct unit_placement *at; /* NULL: the plan has nothing of it */
	struct layout layout;
	uint32_t first; /* block of the program */
};

static int by_rank(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	bool moves[] = {x->at && x->at->edit, y->at && y->at->edit};

	if (moves[0] != moves[1])
		return moves[0] ? -1 : 1;
	if (moves[0] && x->at->rank != y->at->rank)
		return x->at->rank < y->at->rank ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
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

/* Hot parts in this order, after them the cold ones, as they will be printed. */
static void place_all(struct scoring *g, const struct placed *x, size_t n, struct arena *a)
{
	struct relaxed *printed = arena_array(a, n, sizeof *printed);
	struct fe_slot *p = g->layout.slot.v;
	uint64_t at = 0, align;
	size_t k;

	for (k = 0; k < n; p += x[k++].layout.n) {
		align = x[k].layout.entry_align > 1 ? (uint64_t)1 << x[k].layout.entry_align : 2;
		at = ((at + align - 1) & -align) + x[k].layout.entry_offset;
		relax_slots(x[k].cfg, &x[k].layout, &printed[k], a);
		at = place_part(p, 0, x[k].layout.nhot, &printed[k], at);
	}
	for (p = g->layout.slot.v, k = 0; k < n; p += x[k++].layout.n)
		at = place_part(p, x[k].layout.nhot, x[k].layout.n, &printed[k], at);
}

void score_plan(const struct scorer *s, const struct plan *layout, struct score *out)
{
	const struct plan_tu *t = s->p->tu, *l = layout->tu;
	struct scoring g = begin(s, out);
	const uint32_t *first = s->first;
	VEC(struct placed) list = {0};
	struct arena mem = {0};
	struct placed x;
	uint32_t i;
	size_t k;

	for (; t < s->p->tu + s->p->ntu; t++, l++)
		for (i = 0; i < t->nfunc; i++, first++) {
			if (*first == FE_NONE)
				continue;
			x = (struct placed){.cfg = &t->unit->func[i].cfg, .first = *first};
			if (l->edited && l->weight[i])
				x.layout = (x.at = &l->placement[i])->layout;
			else
				layout_identity(x.cfg, &x.layout, &mem);
			vec_push(&list, x);
		}
	vec_sort(&list, by_rank);
	for (k = 0; k < list.n; k++)
		add_layout(&g, list.v[k].cfg, &list.v[k].layout, list.v[k].first);
	place_all(&g, list.v, list.n, &mem);
	finish(&g);
	arena_free(&mem);
	vec_free(&list);
}
