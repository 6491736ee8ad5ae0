#include "common/sort.h"
#include "editor-driver/plan/passes.h"
#include "editor/infer/infer.h"

#include <stdlib.h>

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

static int by_callee(const void *pa, const void *pb)
{
	const struct infer_site *a = pa, *b = pb;

	return ORDER(a->callee, b->callee) ?: ORDER(a->block, b->block);
}

static void join_sites(const struct plan *p, size_t f, struct cfg *g, struct arena *scratch)
{
	const struct counts_flow *call;
	size_t n = counts_calls(p->counts, f, &call), i, k = 0;
	struct infer_site *site = arena_array(scratch, n, sizeof *site);

	for (i = 0; i < n; i++)
		if (call[i].value)
			site[k++] = (struct infer_site){call[i].to, call[i].block, call[i].value};
	qsort(site, k, sizeof *site, by_callee);
	infer_sites(g, site, k, scratch);
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
	nedge = counts_edges(p->counts, f, &edge);
	nedge = set_outcomes(g, edge, nedge, false);
	if (counts_stands(p->counts, f))
		atomic_fetch_add(&p->no_edge, nedge);
	if (p->counts->form == COUNTS_SAMPLES) {
		join_sites(p, f, g, scratch);
		nedge = counts_pred(p->counts, f, &edge);
		set_outcomes(g, edge, nedge, true);
		unit_signatures(t->unit, i);
	}
}

/* Representatives of duplicates first. */
static void compare_signatures(const struct plan *p)
{
	struct cfg **g = xcalloc(p->nweighed, sizeof *g), *one;
	size_t i, first = 0, rest = p->nweighed;

	for (i = 0; i < p->nweighed; i++) {
		one = &p->weighed[i].tu->unit->func[p->weighed[i].ord].cfg;
		g[plan_stands(p, &p->weighed[i]) ? first++ : --rest] = one;
	}
	infer_similarity(g, p->nweighed, first);
	free(g);
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
	if (p->counts->form == COUNTS_SAMPLES)
		compare_signatures(p);
	plan_each_weighed(p, infer_func);
}
