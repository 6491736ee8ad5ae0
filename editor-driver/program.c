#include "editor-driver/program.h"
#include "editor-driver/callgraph.h"

static void add_edges(struct fe_program *p, const struct cfg *g, uint32_t b, uint32_t *e)
{
	uint32_t first = (uint32_t)p->block.n - b;

	for (; *e < g->nedge && g->edge[*e].src == b; ++*e)
		vec_push(&p->edge, (struct fe_edge){first + g->edge[*e].dst, g->edge[*e].kind,
				       (double)g->edge[*e].count});
}

static void add_calls(struct fe_program *p, const struct callgraph *calls, uint32_t f, uint32_t b,
    const uint32_t *first)
{
	const struct call_site *s;
	uint32_t n = callgraph_sites(calls, f, b, &s);

	for (; n--; s++)
		vec_push(&p->call,
		    (struct fe_call){s->callee == CALL_POINTER ? FE_NONE : first[s->callee]});
}

static void add_func(struct fe_program *p, const struct cfg *g, const struct callgraph *calls,
    uint32_t f, const uint32_t *first)
{
	uint32_t b, e = 0;
	const struct cfg_block *k;

	for (b = 0; b < g->nblock; b++) {
		k = &g->block[b];
		struct fe_block made = {(double)k->count, k->insns, k->flags, first[f],
		    (uint32_t)p->edge.n, (uint32_t)p->call.n};

		add_edges(p, g, b, &e);
		add_calls(p, calls, f, b, first);
		vec_push(&p->block, made);
	}
}

/* Where every function will be, before any call can name one. */
static void place_entries(const struct plan *p, uint32_t *first)
{
	const struct plan_tu *t;
	uint32_t i, at = 0;

	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; i < t->nfunc; i++, first++) {
			*first = t->edited && t->weight[i] ? at : FE_NONE;
			if (*first != FE_NONE)
				at += t->unit->func[i].cfg.nblock;
		}
}

void program_make(const struct plan *p, struct fe_program *out, uint32_t *first)
{
	const struct plan_tu *t;
	struct callgraph calls;
	uint32_t i, f = 0;

	*out = (struct fe_program){0};
	place_entries(p, first);
	callgraph_make(p, &calls);
	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; i < t->nfunc; i++, f++)
			if (first[f] != FE_NONE)
				add_func(out, &t->unit->func[i].cfg, &calls, f, first);
	vec_push(&out->block,
	    (struct fe_block){.edge = (uint32_t)out->edge.n, .call = (uint32_t)out->call.n});
	callgraph_free(&calls);
}
