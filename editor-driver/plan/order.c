#include "common/random.h"
#include "common/sort.h"
#include "editor-driver/plan/passes.h"
#include "editor/layout/funcorder.h"

#include <stdlib.h>

struct node {
	struct plan_tu *t;
	uint32_t func; /* ord */
};

struct graph {
	const struct plan *p;
	VEC(struct node) node;
	VEC(struct fo_func) func;
	VEC(struct fo_call) call;
	uint32_t *node_of; /* by function of the artifact: node + 1 */
	/* Functions of the artifact by name, of those with a weight: the current unit's, and all
	 * global ones. */
	const struct plan_tu *now;
	struct htab own, global;
};

static void gather(struct plan *p, struct graph *g)
{
	struct plan_tu *t;
	uint32_t i;

	*g = (struct graph){.p = p};
	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; t->edited && i < t->nfunc; i++)
			if (t->placement[i].edit)
				vec_push(&g->node, (struct node){t, i});
}

static uint32_t func_of(const struct plan *p, const struct plan_tu *t, uint32_t i)
{
	return (uint32_t)(t->func - p->func) + i;
}

/* ---- calls ---- */

static void add_names(
    const struct plan *p, const struct plan_tu *t, bool global, struct htab *names)
{
	uint64_t *slot;
	bool fresh;
	uint32_t i;

	for (i = 0; t->edited && i < t->nfunc; i++) {
		if (!t->weight[i] || (global && !t->unit->func[i].global))
			continue;
		slot = htab_put_str(names, t->unit->func[i].name, &fresh);
		if (fresh)
			*slot = func_of(p, t, i);
	}
}

/* A call means the caller's unit's own function of that name before any other's global one. NULL:
 * a function without a weight, or a pointer. */
static const uint64_t *callee_of(const struct graph *g, const struct unit_call *c)
{
	return htab_get_str(&g->own, c->callee) ?: htab_get_str(&g->global, c->callee);
}

/* Does one of these calls name the callee? Duplicates of one function that share their counts are
 * equal here. */
static bool names(const struct graph *g, const struct unit_call *c, uint32_t n, uint32_t callee)
{
	const struct counts *k = g->p->counts;
	const uint64_t *named;

	for (; n--; c++) {
		named = callee_of(g, c);
		if (named && k->block[callee] && k->first[*named] == k->first[callee])
			return true;
	}
	return false;
}

static void add_call(struct graph *g, struct fo_call c, uint32_t callee, double share)
{
	c.callee = g->node_of[callee] - 1;
	c.count = (uint64_t)((double)c.count * share);
	if (g->node_of[callee] && c.count)
		vec_push(&g->call, c);
}

/* A pointer calls the callees it was sampled with that none of the n calls in its block names. */
static void add_pointer(struct graph *g, struct fo_call from, uint32_t func, uint32_t block,
    const struct unit_call *call, uint32_t n)
{
	double unit = g->p->counts->form == COUNTS_SAMPLES ? SAMPLE_ONE : 1, seen = 0;
	const struct counts_flow *v;
	size_t all = counts_flows(g->p->counts, func, COUNTS_CALLS, &v), i;
	size_t first = partition_point(0, all, i, v[i].block < block);

	for (i = first; i < all && v[i].block == block; i++)
		seen += names(g, call, n, v[i].to) ? 0 : (double)v[i].value / unit;
	for (i = first; i < all && v[i].block == block && seen > 0; i++)
		if (!names(g, call, n, v[i].to))
			add_call(g, from, v[i].to, (double)v[i].value / unit / seen);
}

/* The calls in a block of a function; `from` has their caller and count, and the block's offset. */
static void add_calls(struct graph *g, const struct node *node, uint32_t block, struct fo_call from)
{
	const struct unit_func *f = &node->t->unit->func[node->func];
	const struct cfg_block *b = &f->cfg.block[block];
	size_t first = partition_point(0, f->ncall, i, f->call[i].block < block);
	size_t end = partition_point(first, f->ncall, i, f->call[i].block == block);
	uint64_t at = from.offset;
	const struct unit_call *c;
	const uint64_t *callee;

	for (c = f->call + first; c < f->call + end; c++) {
		from.offset = at + (uint64_t)b->bytes * c->insn / (b->insns + 1);
		callee = callee_of(g, c);
		if (callee)
			add_call(g, from, (uint32_t)*callee, 1);
		else if (!*c->callee)
			add_pointer(g, from, func_of(g->p, node->t, node->func), block,
			    f->call + first, (uint32_t)(end - first));
	}
}

/* A function and its calls, by the slots of its hot part. */
static void add_func(struct graph *g, uint32_t n)
{
	const struct node *node = &g->node.v[n];
	const struct cfg *cfg = &node->t->unit->func[node->func].cfg;
	const struct layout *l = &node->t->placement[node->func].layout;
	double *count = xcalloc(l->n, sizeof *count);
	struct fo_func fo = {0, 0};
	uint32_t k, b;

	if (g->now != node->t) {
		htab_free(&g->own);
		add_names(g->p, g->now = node->t, false, &g->own);
	}
	layout_flow(cfg, l, count);
	for (k = 0; k < l->nhot; k++) {
		b = l->order[k];
		add_calls(g, node, b,
		    (struct fo_call){.caller = n, .offset = fo.bytes, .count = (uint64_t)count[k]});
		fo.bytes += cfg->block[b].bytes;
		fo.weight += (uint64_t)(count[k] * cfg->block[b].insns);
	}
	free(count);
	fo.bytes += !fo.bytes;
	vec_push(&g->func, fo);
}

/* ---- the orders ---- */

/* order[k]: the node at rank k; NULL: as they are. Ends the graph. */
static void set_ranks(struct graph *g, const uint32_t *order)
{
	const struct node *n;
	uint32_t k;

	for (k = 0; k < g->node.n; k++) {
		n = &g->node.v[order ? order[k] : k];
		n->t->placement[n->func].rank = k;
	}
	vec_free(&g->node);
}

void order_calls(struct plan *p)
{
	struct arena scratch = {0};
	const struct plan_tu *t;
	struct graph g;
	uint32_t *order, i;

	gather(p, &g);
	for (t = p->tu; t < p->tu + p->ntu; t++)
		add_names(p, t, true, &g.global);
	g.node_of = arena_array(&scratch, p->nfunc, sizeof *g.node_of);
	for (i = 0; i < g.node.n; i++)
		g.node_of[func_of(p, g.node.v[i].t, g.node.v[i].func)] = i + 1;
	for (i = 0; i < g.node.n; i++)
		add_func(&g, i);
	order = arena_array(&scratch, g.node.n, sizeof *order);
	funcorder(g.func.v, (uint32_t)g.func.n, g.call.v, (uint32_t)g.call.n, order, &scratch);
	set_ranks(&g, order);
	arena_free(&scratch);
	htab_free(&g.own);
	htab_free(&g.global);
	vec_free(&g.func);
	vec_free(&g.call);
}

void order_original(struct plan *p)
{
	struct graph g;

	gather(p, &g);
	set_ranks(&g, NULL);
}

void order_random(struct plan *p)
{
	uint64_t state = p->seed;
	struct graph g;
	uint32_t *order;
	size_t i, k;

	gather(p, &g);
	order = xcalloc(g.node.n, sizeof *order);
	for (i = 0; i < g.node.n; i++) {
		k = random_next(&state) % (i + 1);
		order[i] = order[k];
		order[k] = (uint32_t)i;
	}
	set_ranks(&g, order);
	free(order);
}
