#include "editor-driver/plan/callgraph.h"
#include "common/sort.h"
#include "editor/cfg.h"

uint32_t callgraph_func(const struct plan *p, const struct plan_tu *t, uint32_t i)
{
	return (uint32_t)(t->func - p->func) + i;
}

static void add_names(
    const struct plan *p, const struct plan_tu *t, bool global, struct htab *names)
{
	uint64_t *slot;
	bool fresh;
	uint32_t i;

	for (i = 0; t->edited && i < t->nfunc; i++) {
		if (!t->weight[i] || (global && !t->unit->func[i].global))
			continue;
		slot = htab_put_str(names, t->unit->func[i].name, &fresh);
		if (fresh)
			*slot = callgraph_func(p, t, i);
	}
}

static void add_sites(struct callgraph *g, uint32_t caller, const struct unit_func *f,
    const struct htab *own, const struct htab *global)
{
	const struct unit_call *c;
	const uint64_t *callee;

	for (c = f->call; c < f->call + f->ncall; c++) {
		callee = htab_get_str(own, c->callee);
		if (!callee)
			callee = htab_get_str(global, c->callee);
		if (callee || !*c->callee)
			vec_push(&g->site,
			    (struct call_site){caller, callee ? (uint32_t)*callee : CALL_POINTER,
				c->block, c->insn, 0, 0});
	}
}

uint32_t callgraph_sites(
    const struct callgraph *g, uint32_t f, uint32_t block, const struct call_site **s)
{
	size_t end = g->first[f + 1];
	size_t lo = partition_point(g->first[f], end, i, g->site.v[i].block < block);

	*s = g->site.v + lo;
	return (uint32_t)(partition_point(lo, end, i, g->site.v[i].block == block) - lo);
}

/* Does a call in that block name the callee? Duplicates of one function that share their counts
 * are equal here. */
static bool names(
    const struct plan *p, const struct callgraph *g, uint32_t f, uint32_t block, uint32_t callee)
{
	const uint32_t *same = p->counts->first;
	const struct call_site *s;
	uint32_t n = callgraph_sites(g, f, block, &s);

	for (; n--; s++)
		if (s->callee != CALL_POINTER && p->counts->block[callee] &&
		    same[s->callee] == same[callee])
			return true;
	return false;
}

/* Both sites and what was seen ascend by block. */
static void add_targets(struct callgraph *g, const struct plan *p, uint32_t f)
{
	const struct counts_flow *v;
	size_t n = counts_calls(p->counts, f, &v), i = 0, k;
	struct call_site *s;

	for (s = g->site.v + g->first[f]; s < g->site.v + g->first[f + 1]; s++) {
		if (s->callee != CALL_POINTER)
			continue;
		for (; i < n && v[i].block < s->block; i++)
			;
		s->target = (uint32_t)g->target.n;
		for (k = i; k < n && v[k].block == s->block; k++)
			if (!names(p, g, f, s->block, v[k].to))
				vec_push(&g->target,
				    (struct call_target){v[k].to,
					(double)v[k].value /
					    (p->counts->form == COUNTS_SAMPLES ? SAMPLE_ONE : 1)});
		s->ntarget = (uint32_t)g->target.n - s->target;
	}
}

void callgraph_make(const struct plan *p, struct callgraph *out)
{
	struct htab global = {0}, own;
	const struct plan_tu *t;
	uint32_t i, f = 0;

	*out = (struct callgraph){.first = xcalloc(p->nfunc + 1, sizeof *out->first)};
	for (t = p->tu; t < p->tu + p->ntu; t++)
		add_names(p, t, true, &global);
	for (t = p->tu; t < p->tu + p->ntu; t++) {
		own = (struct htab){0};
		add_names(p, t, false, &own);
		for (i = 0; i < t->nfunc; i++) {
			out->first[f] = (uint32_t)out->site.n;
			if (t->edited && t->weight[i])
				add_sites(out, f, &t->unit->func[i], &own, &global);
			f++;
		}
		htab_free(&own);
	}
	out->first[f] = (uint32_t)out->site.n;
	for (f = 0; f < p->nfunc && p->counts; f++)
		if (out->first[f] < out->first[f + 1])
			add_targets(out, p, f);
	htab_free(&global);
}

void callgraph_free(struct callgraph *g)
{
	vec_free(&g->site);
	vec_free(&g->target);
	free(g->first);
}
