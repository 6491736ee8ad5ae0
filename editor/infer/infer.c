#include "editor/infer/flow.h"

static void clear(struct cfg *g)
{
	uint32_t i;

	for (i = 0; i < g->nblock; i++)
		g->block[i].count = 0;
	for (i = 0; i < g->nedge; i++)
		g->edge[i].count = 0;
}

static bool any_evidence(const struct cfg *g, enum infer_input input)
{
	uint32_t b;

	for (b = 0; b < g->nblock; b++)
		if (input == INFER_COUNTS ? g->block[b].count : g->block[b].samples)
			return true;
	return false;
}

void infer(struct cfg *g, enum infer_input input, struct arena *scratch)
{
	double *estimate = arena_array(scratch, g->nblock, sizeof *estimate);
	struct flows f;
	struct reach r;

	if (!any_evidence(g, input)) {
		clear(g);
		return;
	}
	reach_find(&r, g, scratch);
	infer_joint(g, &r, input, &f, estimate, scratch);
	if (!(input == INFER_COUNTS && flow_round(g, &r, &f, true, scratch)) &&
	    !flow_round(g, &r, &f, false, scratch)) {
		clear(g);
		flow_cover(g, &r, estimate, scratch);
	}
	if (input == INFER_SAMPLES)
		flow_minimum(g, &r, scratch);
}
