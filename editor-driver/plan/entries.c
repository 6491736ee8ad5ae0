#include "editor-driver/plan/entries.h"
#include "editor-driver/plan/callgraph.h"
#include "editor/infer/balance.h"
#include "editor/infer/infer.h"

#include <math.h>

/* Variance of a balance, in logarithms: constant, by the samples in an entry or a call block, and
 * by the sampled calls. */
static const double CALL_BIAS = 0.35 * 0.35;
static const double NOISE = 3;
enum { SEEN_MIN = 3 };

struct called {
	double entries;      /* of the function, from outside of it */
	double seen, direct; /* calls of it: all, those from a block that names it */
};

struct agreeing {
	const struct plan *p;
	struct callgraph g;
	struct called *called; /* by function of the artifact, as all below */
	uint32_t *caller;      /* sites by callee: caller[first[f]] … caller[first[f + 1]] */
	uint32_t *first;
	VEC(struct balance) balance;
	VEC(struct balance_part) part;
};

static const struct cfg *cfg_of(const struct plan *p, uint32_t f)
{
	const struct plan_tu *t = &p->tu[p->func[f].tu];

	return &t->unit->func[f - (uint32_t)(t->func - p->func)].cfg;
}

static double executions(const struct agreeing *a, uint32_t f, uint32_t block)
{
	return (double)cfg_of(a->p, f)->block[block].count;
}

static void count_entries(struct agreeing *a)
{
	const struct plan_func *w;
	const struct cfg *g;
	uint64_t inner;
	uint32_t f, i;

	for (w = a->p->weighed; w < a->p->weighed + a->p->nweighed; w++) {
		f = callgraph_func(a->p, w->tu, w->ord);
		g = cfg_of(a->p, f);
		for (i = 0, inner = 0; i < g->nedge; i++)
			inner += g->edge[i].dst ? 0 : g->edge[i].count;
		if (g->nblock && g->block[0].count > inner)
			a->called[f].entries = (double)(g->block[0].count - inner);
	}
}

static void count_seen(struct agreeing *a)
{
	const struct counts *c = a->p->counts;
	const struct counts_flow *v;

	for (v = c->call.v; v < c->call.v + c->call.n; v++) {
		a->called[v->to].seen += (double)v->value / SAMPLE_ONE;
		if (callgraph_names(a->p, &a->g, v->func, v->block, v->to))
			a->called[v->to].direct += (double)v->value / SAMPLE_ONE;
	}
}

/* Of functions that share their counts only the calls of one count. */
static bool counts_as_call(const struct agreeing *a, const struct call_site *s)
{
	return s->callee != CALL_POINTER && counts_stands(a->p->counts, s->caller) &&
	       executions(a, s->caller, s->block) > 0;
}

static void list_callers(struct agreeing *a)
{
	const struct call_site *s;
	uint32_t *next;
	size_t i;

	a->first = xcalloc(a->p->nfunc + 2, sizeof *a->first);
	a->caller = xcalloc(a->g.site.n + 1, sizeof *a->caller);
	next = a->first + 1;
	for (s = a->g.site.v; s < a->g.site.v + a->g.site.n; s++)
		if (counts_as_call(a, s))
			next[a->p->counts->first[s->callee] + 1]++;
	for (i = 1; i <= a->p->nfunc; i++)
		next[i] += next[i - 1];
	for (s = a->g.site.v; s < a->g.site.v + a->g.site.n; s++)
		if (counts_as_call(a, s))
			a->caller[next[a->p->counts->first[s->callee]]++] =
			    (uint32_t)(s - a->g.site.v);
}

/* Sums of the parts from `from` on that have none after them. */
static double sum_of(const struct agreeing *a, size_t from, size_t to)
{
	double sum = 0;

	for (; from < to; from++)
		sum += a->part.v[from].amount;
	return sum;
}

static void close_balance(struct agreeing *a, size_t left, size_t right, double seen)
{
	double l = sum_of(a, left, right), r = sum_of(a, right, a->part.n);

	vec_push(
	    &a->balance, (struct balance){(uint32_t)left, (uint32_t)right, (uint32_t)a->part.n,
			     1 / (CALL_BIAS + 1 / seen + NOISE * COUNT_ONE * (1 / l + 1 / r))});
}

/* A function's entries, less those through pointers, against the blocks that name it. Where no
 * calls were sampled none come through pointers. */
static void balance_entries(struct agreeing *a, uint32_t f)
{
	const struct called *c = &a->called[f];
	bool any = a->p->counts->call.n > 0;
	double seen =
	    any ? c->seen : (double)counts_weight(a->p->counts, a->p->func, f) / SAMPLE_ONE;
	double share = any ? c->direct / (c->seen + !c->seen) : 1;
	const struct call_site *s;
	size_t left = a->part.n;
	uint32_t i;

	if (a->first[f] == a->first[f + 1] || seen < SEEN_MIN || !(share * c->entries > 0))
		return;
	vec_push(&a->part, (struct balance_part){f, c->entries * share});
	for (i = a->first[f]; i < a->first[f + 1]; i++) {
		s = &a->g.site.v[a->caller[i]];
		vec_push(
		    &a->part, (struct balance_part){s->caller, executions(a, s->caller, s->block)});
	}
	close_balance(a, left, left + 1, seen);
}

/* A call through a pointer against the entries of its targets that come from there. */
static void balance_pointer(struct agreeing *a, const struct call_site *s)
{
	const struct call_target *v = a->g.target.v + s->target;
	double seen = 0, calls = executions(a, s->caller, s->block);
	const struct called *c;
	size_t left = a->part.n;
	uint32_t i;

	for (i = 0; i < s->ntarget; i++) {
		c = &a->called[v[i].callee];
		if (!(c->entries > 0))
			continue;
		seen += v[i].seen;
		vec_push(
		    &a->part, (struct balance_part){v[i].callee, c->entries * v[i].seen / c->seen});
	}
	if (seen < SEEN_MIN || !(calls > 0)) {
		a->part.n = left;
		return;
	}
	vec_push(&a->part, (struct balance_part){s->caller, calls});
	close_balance(a, left, a->part.n - 1, seen);
}

/* The targets of two pointers in one block cannot be distinguished. */
static bool second_of_block(const struct agreeing *a, const struct call_site *s)
{
	const struct call_site *of_block;

	callgraph_sites(&a->g, s->caller, s->block, &of_block);
	while (of_block->callee != CALL_POINTER)
		of_block++;
	return of_block != s;
}

static void balance_all(struct agreeing *a)
{
	const struct call_site *s;
	uint32_t f;

	for (f = 0; f < a->p->nfunc; f++)
		if (counts_stands(a->p->counts, f))
			balance_entries(a, f);
	for (s = a->g.site.v; s < a->g.site.v + a->g.site.n; s++)
		if (s->callee == CALL_POINTER && counts_stands(a->p->counts, s->caller) &&
		    !second_of_block(a, s))
			balance_pointer(a, s);
}

static void multiply(struct plan *p, const double *factor)
{
	const struct plan_func *w;
	uint64_t by;
	struct cfg *g;
	uint32_t f, i;

	for (w = p->weighed; w < p->weighed + p->nweighed; w++) {
		f = callgraph_func(p, w->tu, w->ord);
		g = &w->tu->unit->func[w->ord].cfg;
		by = (uint64_t)llround(factor[p->counts->first[f]] * ENTRIES_ONE);
		for (i = 0; i < g->nblock; i++)
			g->block[i].count *= by;
		for (i = 0; i < g->nedge; i++)
			g->edge[i].count *= by;
	}
}

void entries_agree(struct plan *p)
{
	struct agreeing a = {.p = p, .called = xcalloc(p->nfunc + 1, sizeof *a.called)};
	double *factor = xcalloc(p->nfunc + 1, sizeof *factor);
	struct arena scratch = {0};

	callgraph_make(p, &a.g);
	count_entries(&a);
	count_seen(&a);
	list_callers(&a);
	balance_all(&a);
	balance_fit(
	    a.balance.v, (uint32_t)a.balance.n, a.part.v, (uint32_t)p->nfunc, factor, &scratch);
	multiply(p, factor);
	callgraph_free(&a.g);
	arena_free(&scratch);
	vec_free(&a.balance);
	vec_free(&a.part);
	free(a.called);
	free(a.caller);
	free(a.first);
	free(factor);
}
