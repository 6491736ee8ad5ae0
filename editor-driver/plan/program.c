#include "editor-driver/plan/program.h"
#include "editor-driver/plan/callgraph.h"

static void add_edges(struct fe_program *p, const struct cfg *g, uint32_t b)
{
	uint32_t first = (uint32_t)p->block.n - b, i;

	for (i = g->succ[b]; i < g->succ[b + 1]; i++)
		vec_push(&p->edge, (struct fe_edge){first + g->edge[i].dst, g->edge[i].kind,
				       (double)g->edge[i].count});
}

struct making {
	const struct plan *p;
	struct callgraph calls;
	struct fe_program *out;
	uint32_t *first;
};

static void add_calls(struct making *m, uint32_t f, uint32_t b)
{
	const uint32_t *same = m->p->counts->first;
	const struct call_site *s;
	uint32_t n = callgraph_sites(&m->calls, f, b, &s);

	for (; n--; s++)
		vec_push(&m->out->call,
		    (struct fe_call){
			s->callee == CALL_POINTER ? FE_NONE : m->first[same[s->callee]]});
}

static void add_func(struct making *m, const struct cfg *g, uint32_t f)
{
	struct fe_program *p = m->out;
	const struct cfg_block *k;
	uint32_t b;

	for (b = 0; b < g->nblock; b++) {
		k = &g->block[b];
		struct fe_block made = {(double)k->count, k->insns, k->flags, m->first[f],
		    (uint32_t)p->edge.n, (uint32_t)p->call.n};

		add_edges(p, g, b);
		add_calls(m, f, b);
		vec_push(&p->block, made);
	}
}

/* Assign every function's first block before calls refer to it. */
static void place_entries(const struct plan *p, uint32_t *first)
{
	const struct plan_tu *t;
	uint32_t i, f = 0, at = 0;

	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; i < t->nfunc; i++, f++) {
			first[f] = FE_NONE;
			if (!t->weight[i] || !counts_stands(p->counts, f))
				continue;
			first[f] = at;
			at += t->unit->func[i].cfg.nblock;
		}
}

void program_make(const struct plan *p, struct fe_program *out, uint32_t *first)
{
	struct making m = {.p = p, .out = out, .first = first};
	const struct plan_tu *t;
	uint32_t i, f = 0;

	*out = (struct fe_program){0};
	place_entries(p, first);
	callgraph_make(p, &m.calls);
	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; i < t->nfunc; i++, f++)
			if (first[f] != FE_NONE)
				add_func(&m, &t->unit->func[i].cfg, f);
	vec_push(&out->block,
	    (struct fe_block){.edge = (uint32_t)out->edge.n, .call = (uint32_t)out->call.n});
	callgraph_free(&m.calls);
}
