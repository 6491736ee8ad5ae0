#include "editor-driver/plan/callees.h"
#include "common/sort.h"

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
			*slot = plan_index(p, t, i);
	}
}

void callees_begin(struct callees *c, const struct plan *p)
{
	const struct plan_tu *t;

	*c = (struct callees){.p = p};
	for (t = p->tu; t < p->tu + p->ntu; t++)
		add_names(p, t, true, &c->global);
}

void callees_free(struct callees *c)
{
	htab_free(&c->own);
	htab_free(&c->global);
	vec_free(&c->call);
}

/* A call means the caller's unit's own function of that name before any other's global one. NULL:
 * a function without a weight, or a pointer. */
static const uint64_t *callee_of(const struct callees *c, const struct unit_call *call)
{
	return htab_get_str(&c->own, call->callee) ?: htab_get_str(&c->global, call->callee);
}

/* Does one of these calls name the callee? Duplicates of one function that share their counts are
 * equal here. */
static bool names(
    const struct callees *c, const struct unit_call *call, uint32_t n, uint32_t callee)
{
	const struct counts *k = c->p->counts;
	const uint64_t *named;

	for (; n--; call++) {
		named = callee_of(c, call);
		if (named && k->block[callee] && k->first[*named] == k->first[callee])
			return true;
	}
	return false;
}

/* A pointer calls the callees it was sampled with that none of the calls [first, end) in its block
 * names. */
static void add_pointer(struct callees *c, const struct unit_func *f, uint32_t func,
    struct plan_call from, uint32_t first, uint32_t end)
{
	const struct unit_call *call = f->call + first;
	double unit = c->p->counts->form == COUNTS_SAMPLES ? SAMPLE_ONE : 1, seen = 0;
	const struct counts_flow *v;
	size_t all = counts_flows(c->p->counts, func, COUNTS_CALLS, &v), i;
	size_t begin = partition_point(0, all, i, v[i].block < from.block);

	for (i = begin; i < all && v[i].block == from.block; i++)
		seen += names(c, call, end - first, v[i].to) ? 0 : (double)v[i].value / unit;
	for (i = begin; i < all && v[i].block == from.block && seen > 0; i++)
		if (!names(c, call, end - first, v[i].to)) {
			from.callee = v[i].to;
			from.share = (double)v[i].value / unit / seen;
			vec_push(&c->call, from);
		}
}

void callees_find(struct callees *c, const struct plan_tu *t, uint32_t i)
{
	const struct unit_func *f = &t->unit->func[i];
	uint32_t k, first = 0, end = 0;
	const uint64_t *callee;

	if (c->now != t) {
		htab_free(&c->own);
		add_names(c->p, c->now = t, false, &c->own);
	}
	c->call.n = 0;
	for (k = 0; k < f->ncall; k++) {
		struct plan_call call = {.call = k, .block = f->call[k].block, .share = 1};

		if (k == end)
			for (first = k; end < f->ncall && f->call[end].block == call.block; end++)
				;
		callee = callee_of(c, &f->call[k]);
		call.callee = callee ? (uint32_t)*callee : 0;
		if (callee)
			vec_push(&c->call, call);
		else if (!*f->call[k].callee)
			add_pointer(c, f, plan_index(c->p, t, i), call, first, end);
	}
}
