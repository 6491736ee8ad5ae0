#include "editor-driver/plan/order.h"
#include "common/random.h"
#include "editor-driver/plan/callgraph.h"
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
};

static void gather(struct plan *p, struct graph *g)
{
	struct plan_tu *t;
	uint32_t i;

	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; t->edited && i < t->nfunc; i++)
			if (t->placement[i].edit)
				vec_push(&g->node, (struct node){t, i});
}

static void add_call(struct graph *g, struct fo_call c, uint32_t callee, double share)
{
	c.callee = g->node_of[callee] - 1;
	c.count = (uint64_t)((double)c.count * share);
	if (g->node_of[callee] && c.count)
		vec_push(&g->call, c);
}

/* A call site: `from` has its caller, offset and count. A pointer calls the callees it was sampled
 * with. */
static void add_site(
    struct graph *g, const struct callgraph *calls, const struct call_site *s, struct fo_call from)
{
	const struct call_target *v = calls->target.v + s->target;
	double seen = 0;
	uint32_t i;

	if (s->callee != CALL_POINTER)
		add_call(g, from, s->callee, 1);
	for (i = 0; i < s->ntarget; i++)
		seen += v[i].seen;
	for (i = 0; i < s->ntarget && seen > 0; i++)
		add_call(g, from, v[i].callee, v[i].seen / seen);
}

/* A function and its calls, by the slots of its hot part. */
static void add_func(struct graph *g, const struct callgraph *calls, uint32_t func, uint32_t n)
{
	const struct node *node = &g->node.v[n];
	const struct cfg *cfg = &node->t->unit->func[node->func].cfg;
	const struct layout *l = &node->t->placement[node->func].layout;
	double *count = xcalloc(l->n, sizeof *count);
	struct fo_func fo = {0, 0};
	const struct cfg_block *b;
	const struct call_site *s;
	uint32_t k, i, nsite;

	layout_flow(cfg, l, count);
	for (k = 0; k < l->nhot; k++) {
		b = &cfg->block[l->order[k]];
		nsite = callgraph_sites(calls, func, l->order[k], &s);
		for (i = 0; i < nsite; i++)
			add_site(g, calls, &s[i],
			    (struct fo_call){.caller = n,
				.offset =
				    fo.bytes + (uint64_t)b->bytes * s[i].insn / (b->insns + 1),
				.count = (uint64_t)count[k]});
		fo.bytes += b->bytes;
		fo.weight += (uint64_t)(count[k] * b->insns);
	}
	free(count);
	fo.bytes += !fo.bytes;
	vec_push(&g->func, fo);
}

static void set_ranks(struct graph *g, const uint32_t *order)
{
	const struct node *n;
	uint32_t k;

	for (k = 0; k < g->node.n; k++) {
		n = &g->node.v[order[k]];
		n->t->placement[n->func].rank = k;
	}
}

void order_calls(struct plan *p)
{
	struct arena scratch = {0};
	struct callgraph calls;
	struct graph g = {0};
	uint32_t *order, *func;
	size_t i;

	gather(p, &g);
	callgraph_make(p, &calls);
	g.node_of = arena_array(&scratch, p->nfunc, sizeof *g.node_of);
	func = arena_array(&scratch, g.node.n, sizeof *func);
	for (i = 0; i < g.node.n; i++) {
		func[i] = callgraph_func(p, g.node.v[i].t, g.node.v[i].func);
		g.node_of[func[i]] = (uint32_t)i + 1;
	}
	for (i = 0; i < g.node.n; i++)
		add_func(&g, &calls, func[i], (uint32_t)i);
	order = arena_array(&scratch, g.node.n, sizeof *order);
	funcorder(g.func.v, (uint32_t)g.func.n, g.call.v, (uint32_t)g.call.n, order, &scratch);
	set_ranks(&g, order);
	callgraph_free(&calls);
	arena_free(&scratch);
	vec_free(&g.node);
	vec_free(&g.func);
	vec_free(&g.call);
}

void order_original(struct plan *p)
{
	struct graph g = {0};
	uint32_t k;

	gather(p, &g);
	for (k = 0; k < g.node.n; k++)
		g.node.v[k].t->placement[g.node.v[k].func].rank = k;
	vec_free(&g.node);
}

void order_random(struct plan *p)
{
	uint64_t state = p->seed;
	struct graph g = {0};
	uint32_t *order, tmp;
	size_t i, k;

	gather(p, &g);
	order = xcalloc(g.node.n, sizeof *order);
	for (i = 0; i < g.node.n; i++) {
		order[i] = (uint32_t)i;
		k = random_next(&state) % (i + 1);
		tmp = order[k];
		order[k] = order[i];
		order[i] = tmp;
	}
	set_ranks(&g, order);
	free(order);
	vec_free(&g.node);
}
