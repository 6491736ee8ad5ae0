#include "editor-driver/program.h"

static void add_entries(
    const struct plan_tu *t, const uint32_t *first, bool global, struct htab *names)
{
	bool fresh;
	uint64_t *slot;
	uint32_t i;

	for (i = 0; i < t->nfunc; i++) {
		if (first[i] == FE_NONE || (global && !t->unit->func[i].global))
			continue;
		slot = htab_put_str(names, t->unit->func[i].name, &fresh);
		if (fresh)
			*slot = first[i];
	}
}

static void add_edges(struct fe_program *p, const struct cfg *g, uint32_t b, uint32_t *e)
{
	uint32_t first = (uint32_t)p->block.n - b;

	for (; *e < g->nedge && g->edge[*e].src == b; ++*e)
		vec_push(&p->edge, (struct fe_edge){first + g->edge[*e].dst, g->edge[*e].kind,
		    (double)g->edge[*e].count});
}

static void add_calls(struct fe_program *p, const struct unit_func *f, uint32_t b, uint32_t *c,
    const struct htab *own, const struct htab *global)
{
	const uint64_t *callee;

	for (; *c < f->ncall && f->call[*c].block == b; ++*c) {
		callee = htab_get_str(own, f->call[*c].callee);
		if (!callee)
			callee = htab_get_str(global, f->call[*c].callee);
		if (callee || !*f->call[*c].callee)
			vec_push(&p->call,
			    (struct fe_call){callee ? (uint32_t)*callee : FE_NONE});
	}
}

static void add_func(struct fe_program *p, const struct unit_func *f, const struct htab *own,
    const struct htab *global)
{
	uint32_t b, e = 0, c = 0, entry = (uint32_t)p->block.n;
	const struct cfg_block *k;

	for (b = 0; b < f->cfg.nblock; b++) {
		k = &f->cfg.block[b];
		struct fe_block made = {(double)k->count, k->insns, k->flags, entry,
		    (uint32_t)p->edge.n, (uint32_t)p->call.n};

		add_edges(p, &f->cfg, b, &e);
		add_calls(p, f, b, &c, own, global);
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
	struct htab global = {0}, own;
	const struct plan_tu *t;
	const uint32_t *at;
	uint32_t i;

	*out = (struct fe_program){0};
	place_entries(p, first);
	for (t = p->tu, at = first; t < p->tu + p->ntu; at += t->nfunc, t++)
		add_entries(t, at, true, &global);
	for (t = p->tu, at = first; t < p->tu + p->ntu; at += t->nfunc, t++) {
		own = (struct htab){0};
		add_entries(t, at, false, &own);
		for (i = 0; i < t->nfunc; i++)
			if (at[i] != FE_NONE)
				add_func(out, &t->unit->func[i], &own, &global);
		htab_free(&own);
	}
	vec_push(&out->block,
	    (struct fe_block){.edge = (uint32_t)out->edge.n, .call = (uint32_t)out->call.n});
	htab_free(&global);
}
