#include "editor-driver/plan/program.h"

static void add_edges(struct fe_program *p, const struct cfg *g, uint32_t b)
{
	uint32_t first = (uint32_t)p->block.n - b, i;

	for (i = g->succ[b]; i < g->succ[b + 1]; i++)
		vec_push(&p->edge, (struct fe_edge){first + g->edge[i].dst, g->edge[i].kind,
				       (double)g->edge[i].count});
}

static void add_func(struct fe_program *p, const struct cfg *g)
{
	const struct cfg_block *k;
	uint32_t b;

	for (b = 0; b < g->nblock; b++) {
		k = &g->block[b];
		struct fe_block made = {(double)k->count, k->insns, (uint32_t)p->edge.n};

		add_edges(p, g, b);
		vec_push(&p->block, made);
	}
}

/* Assign every function's first block …. */
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
	const struct plan_tu *t;
	uint32_t i, f = 0;

	*out = (struct fe_program){0};
	place_entries(p, first);
	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; i < t->nfunc; i++, f++)
			if (first[f] != FE_NONE)
				add_func(out, &t->unit->func[i].cfg);
	vec_push(&out->block, (struct fe_block){.edge = (uint32_t)out->edge.n});
}
