#include "common/random.h"
#include "common/sort.h"
#include "editor-driver/plan/callees.h"
#include "editor-driver/plan/passes.h"
#include "editor/layout/funcorder.h"

#include <stdlib.h>

struct node {
	struct plan_tu *t;
	uint32_t func; /* ord */
};

struct graph {
	VEC(struct node) node;
	VEC(struct fo_func) func;
	VEC(struct fo_call) call;
	uint32_t *node_of; /* by function of the artifact: node + 1 */
	struct callees callees;
};

static void gather(struct plan *p, struct graph *g)
{
	struct plan_tu *t;
	uint32_t i;

	*g = (struct graph){{0}};
	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; t->edited && i < t->nfunc; i++)
			if (t->placement[i].edit)
				vec_push(&g->node, (struct node){t, i});
}

/* ---- calls ---- */

/* The calls in a block of a function; `from` has their caller and count, and the block's offset. */
static void add_calls(
    struct graph *g, const struct unit_func *f, uint32_t block, struct fo_call from)
{
	const struct cfg_block *b = &f->cfg.block[block];
	const struct plan_call *call = g->callees.call.v, *end = call + g->callees.call.n;
	uint64_t at = from.offset;
	struct fo_call c;

	call += partition_point(0, g->callees.call.n, i, call[i].block < block);
	for (; call < end && call->block == block; call++) {
		c = from;
		c.offset = at + (uint64_t)b->bytes * f->call[call->call].insn / (b->insns + 1);
		c.callee = g->node_of[call->callee] - 1;
		c.count = (uint64_t)((double)c.count * call->share);
		if (g->node_of[call->callee] && c.count)
			vec_push(&g->call, c);
	}
}

/* A function and its calls, by the slots of its hot part. */
static void add_func(struct graph *g, uint32_t n)
{
	const struct node *node = &g->node.v[n];
	const struct unit_func *f = &node->t->unit->func[node->func];
	const struct cfg *cfg = &f->cfg;
	const struct layout *l = &node->t->placement[node->func].layout;
	double *count = xcalloc(l->n, sizeof *count);
	struct fo_func fo = {0, 0};
	uint32_t k, b;

	callees_find(&g->callees, node->t, node->func);
	layout_flow(cfg, l, count);
	for (k = 0; k < l->nhot; k++) {
		b = l->order[k];
		add_calls(g, f, b,
		    (struct fo_call){.caller = n, .offset = fo.bytes, .count = (uint64_t)count[k]});
		fo.bytes += cfg->block[b].bytes;
		fo.weight += (uint64_t)(count[k] * cfg->block[b].insns);
	}
	free(count);
	fo.bytes += !fo.bytes;
	vec_push(&g->func, fo);
}

/* ---- the orders ---- */

struct ranked {
	struct unit_placement *at;
	uint32_t first, rank;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return ORDER(x->first, y->first) ?: ORDER(x->rank, y->rank);
}

/* order[k]: the node at rank k, but for those that come first; NULL: as they are. Ends the graph.
 */
static void set_ranks(struct graph *g, const uint32_t *order)
{
	VEC(struct ranked) list = {0};
	const struct node *n;
	uint32_t k, first;

	for (k = 0; k < g->node.n; k++) {
		n = &g->node.v[order ? order[k] : k];
		first = plan_first(n->t, n->func);
		vec_push(&list, (struct ranked){&n->t->placement[n->func], first ?: UINT32_MAX, k});
	}
	vec_sort(&list, by_rank);
	for (k = 0; k < list.n; k++)
		list.v[k].at->rank = k;
	vec_free(&list);
	vec_free(&g->node);
}

void order_calls(struct plan *p)
{
	struct arena scratch = {0};
	struct graph g;
	uint32_t *order, i;

	gather(p, &g);
	callees_begin(&g.callees, p);
	g.node_of = arena_array(&scratch, p->nfunc, sizeof *g.node_of);
	for (i = 0; i < g.node.n; i++)
		g.node_of[plan_index(p, g.node.v[i].t, g.node.v[i].func)] = i + 1;
	for (i = 0; i < g.node.n; i++)
		add_func(&g, i);
	order = arena_array(&scratch, g.node.n, sizeof *order);
	funcorder(g.func.v, (uint32_t)g.func.n, g.call.v, (uint32_t)g.call.n, order, &scratch);
	set_ranks(&g, order);
	arena_free(&scratch);
	callees_free(&g.callees);
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
