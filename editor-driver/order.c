#include "editor-driver/order.h"
#include "common/random.h"
#include "editor/funcorder.h"

#include <stdlib.h>

struct node {
	struct plan_tu *t;
	uint32_t func; /* ord */
};

struct graph {
	VEC(struct node) node;
	VEC(struct fo_func) func;
	VEC(struct fo_call) call;
	struct htab global; /* name -> node + 1 */
};

static void gather(struct plan *p, struct graph *g)
{
	struct plan_tu *t;
	uint32_t i;

	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; t->edited && i < t->nfunc; i++)
			if (t->place[i].edit)
				vec_push(&g->node, (struct node){t, i});
}

static void add_func(struct graph *g, size_t n)
{
	const struct unit_func *f = &g->node.v[n].t->unit->func[g->node.v[n].func];
	const struct layout *l = &g->node.v[n].t->place[g->node.v[n].func].layout;
	double *count = xcalloc(l->n, sizeof *count);
	struct fo_func fo = {0, 0};
	const struct cfg_block *b;
	uint64_t *slot;
	uint32_t i;
	bool fresh;

	layout_flow(&f->cfg, l, count);
	for (i = 0; i < l->nhot; i++) {
		b = &f->cfg.block[l->order[i]];
		fo.bytes += b->bytes;
		fo.weight += (uint64_t)(count[i] * b->insns);
	}
	free(count);
	fo.bytes += !fo.bytes;
	vec_push(&g->func, fo);
	if (f->global) {
		slot = htab_put_str(&g->global, f->name, &fresh);
		if (fresh)
			*slot = n + 1;
	}
}

/* Calls from the hot part; a name means the unit's own function before any
 * other's global one. */
static void add_calls(struct graph *g, size_t n, const struct htab *own)
{
	const struct unit_func *f = &g->node.v[n].t->unit->func[g->node.v[n].func];
	const struct layout *l = &g->node.v[n].t->place[g->node.v[n].func].layout;
	uint64_t *start = xcalloc(f->cfg.nblock, sizeof *start), at = 0, *callee;
	const struct cfg_block *b;
	const struct unit_call *c;
	uint32_t i;

	for (i = 0; i < l->nhot; i++) {
		if (!start[l->order[i]])
			start[l->order[i]] = at + 1; /* 0: not in the hot part */
		at += f->cfg.block[l->order[i]].bytes;
	}
	for (c = f->call; c < f->call + f->ncall; c++) {
		b = &f->cfg.block[c->block];
		callee = htab_get_str(own, c->callee);
		if (!callee)
			callee = htab_get_str(&g->global, c->callee);
		if (callee && start[c->block] && b->count)
			vec_push(&g->call, (struct fo_call){(uint32_t)n, (uint32_t)*callee - 1,
			    start[c->block] - 1 + (uint64_t)b->bytes * c->insn / (b->insns + 1),
			    b->count});
	}
	free(start);
}

static void link_calls(struct graph *g)
{
	struct htab own = {0};
	size_t i, k, end;
	bool fresh;

	for (i = 0; i < g->node.n; i = end) {
		for (end = i; end < g->node.n && g->node.v[end].t == g->node.v[i].t; end++)
			*htab_put_str(&own,
			    g->node.v[end].t->unit->func[g->node.v[end].func].name, &fresh) =
			    end + 1;
		for (k = i; k < end; k++)
			add_calls(g, k, &own);
		htab_free(&own);
	}
}

static void set_ranks(struct graph *g, const uint32_t *order)
{
	const struct node *n;
	uint32_t k;

	for (k = 0; k < g->node.n; k++) {
		n = &g->node.v[order[k]];
		n->t->place[n->func].rank = k;
	}
}

void order_calls(struct plan *p)
{
	struct arena scratch = {0};
	struct graph g = {0};
	uint32_t *order;
	size_t i;

	gather(p, &g);
	for (i = 0; i < g.node.n; i++)
		add_func(&g, i);
	link_calls(&g);
	order = arena_array(&scratch, g.node.n, sizeof *order);
	funcorder(g.func.v, (uint32_t)g.func.n, g.call.v, (uint32_t)g.call.n, order, &scratch);
	set_ranks(&g, order);
	arena_free(&scratch);
	htab_free(&g.global);
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
		g.node.v[k].t->place[g.node.v[k].func].rank = k;
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
