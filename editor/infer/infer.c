#include "editor/infer/model.h"

static bool any_evidence(const struct cfg *g, enum infer_input input)
{
	uint32_t b;

	for (b = 0; b < g->nblock; b++)
		if (input == INFER_COUNTS ? g->block[b].count : g->block[b].samples)
			return true;
	return false;
}

static void set_flows(struct flows *f, const struct model *m, struct arena *a)
{
	const struct succ *v;
	uint32_t b;

	f->edge = arena_array(a, m->g->nedge, sizeof *f->edge);
	f->out = arena_array(a, m->g->nblock, sizeof *f->out);
	f->in = m->in;
	for (b = 0; b < m->g->nblock; b++)
		for (v = m->succ + m->first[b]; v < m->succ + m->first[b + 1]; v++)
			*(v->edge == UINT32_MAX ? &f->out[b] : &f->edge[v->edge]) = v->flow;
}

void infer(struct cfg *g, enum infer_input input, struct arena *scratch)
{
	struct flows f;
	struct model m;
	struct reach r;

	if (!any_evidence(g, input)) {
		flow_clear(g);
		return;
	}
	reach_find(&r, g, scratch);
	model_make(&m, g, &r, input, scratch);
	newton_solve(&m, scratch);
	if (input == INFER_SAMPLES)
		model_shrink(&m);
	set_flows(&f, &m, scratch);
	if (!(input == INFER_COUNTS && flow_round(g, &r, &f, true, scratch)) &&
	    !flow_round(g, &r, &f, false, scratch))
		flow_cover(g, &r, m.used, m.estimate, scratch);
	if (input == INFER_SAMPLES)
		flow_minimum(g, &r, scratch);
}
