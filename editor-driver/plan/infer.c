#include "editor/infer/infer.h"
#include "editor-driver/plan/passes.h"

static size_t set_outcomes(struct cfg *g, const struct counts_flow *v, size_t n, bool pred)
{
	uint32_t k, end;
	size_t i, lost = 0;

	for (i = 0; i < n; i++) {
		end = g->succ[v[i].block + 1];
		for (k = g->succ[v[i].block]; k < end && g->edge[k].dst != v[i].to; k++)
			;
		if (k < end)
			*(pred ? &g->edge[k].pred : &g->edge[k].outcomes) = v[i].value;
		else
			lost++;
	}
	return lost;
}

/* From the profile of a function. */
static void infer_func(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch)
{
	bool sampled = p->counts->form == COUNTS_SAMPLES;
	size_t f = (size_t)(t->func - p->func) + i, n, lost;
	const uint64_t *value = p->counts->block[f];
	struct cfg *g = &t->unit->func[i].cfg;
	const struct counts_flow *flow;
	uint32_t b;

	for (b = 0; b < g->nblock; b++)
		*(sampled ? &g->block[b].samples : &g->block[b].count) = value[b];
	n = counts_flows(p->counts, f, COUNTS_EDGES, &flow);
	lost = set_outcomes(g, flow, n, false);
	if (counts_stands(p->counts, f))
		atomic_fetch_add(&p->no_edge, lost);
	if (sampled) {
		n = counts_flows(p->counts, f, COUNTS_PRED, &flow);
		set_outcomes(g, flow, n, true);
	}
	infer(g, sampled ? INFER_SAMPLES : INFER_COUNTS, scratch);
}

void plan_infer(struct plan *p)
{
	if (p->counts && p->counts->block)
		plan_each_weighed(p, infer_func);
}
