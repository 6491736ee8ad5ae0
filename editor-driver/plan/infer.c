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

/* The profile of a function. */
static void set_profile(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch)
{
	size_t f = (size_t)(t->func - p->func) + i, nedge;
	const uint64_t *value = p->counts->block[f];
	struct cfg *g = &t->unit->func[i].cfg;
	const struct counts_flow *edge;
	uint32_t b;

	for (b = 0; b < g->nblock; b++) {
		if (p->counts->form == COUNTS_SAMPLES)
			g->block[b].samples = value[b];
		else
			g->block[b].count = value[b];
	}
	nedge = counts_flows(p->counts, f, COUNTS_EDGES, &edge);
	nedge = set_outcomes(g, edge, nedge, false);
	if (counts_stands(p->counts, f))
		atomic_fetch_add(&p->no_edge, nedge);
	if (p->counts->form == COUNTS_SAMPLES) {
		nedge = counts_flows(p->counts, f, COUNTS_PRED, &edge);
		set_outcomes(g, edge, nedge, true);
	}
}

static void infer_func(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch)
{
	infer(&t->unit->func[i].cfg,
	    p->counts->form == COUNTS_SAMPLES ? INFER_SAMPLES : INFER_COUNTS, scratch);
}

void plan_infer(struct plan *p)
{
	if (!p->counts || !p->counts->block)
		return;
	plan_each_weighed(p, set_profile);
	plan_each_weighed(p, infer_func);
}
