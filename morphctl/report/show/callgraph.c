#include "morphctl/report/show/callgraph.h"
#include "common/sort.h"
#include "morphctl/report/show/breakdown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES, ARCS };

uint32_t callgraph_node(struct callgraph *g, uint32_t file, uint32_t function)
{
	uint32_t key[3] = {NODES, file, function};
	bool fresh;
	uint64_t *at = htab_put(&g->index, key, sizeof key, &fresh);

	if (fresh) {
		*at = g->node.n;
		vec_push(&g->node, (struct callgraph_node){.file = file, .function = function});
	}
	return (uint32_t)*at;
}

void callgraph_arc(struct callgraph *g, uint32_t caller, uint32_t callee, double calls, double time)
{
	uint32_t key[3] = {ARCS, caller, callee};
	struct callgraph_arc *arc;
	bool fresh;
	uint64_t *at = htab_put(&g->index, key, sizeof key, &fresh);

	if (fresh) {
		*at = g->arc.n;
		vec_push(&g->arc, (struct callgraph_arc){caller, callee, 0, 0});
	}
	arc = &g->arc.v[*at];
	arc->calls += calls;
	arc->time += time;
}

static uint32_t node_at(struct callgraph *g, const struct recording *r, uint32_t location)
{
	return callgraph_node(g, g->builds.file[r->location.v[location].file],
	    builds_function(&g->builds, r, location));
}

/* ---- of call chains ---- */

struct chains {
	uint32_t *node;          /* of each location */
	VEC(uint32_t) on;        /* nodes of a stack, the innermost first */
	VEC(uint32_t) node_seen; /* of each node: 1 + the sample that was added last */
	struct htab arc_seen;    /* caller and callee -> the same */
};

static bool is_new(struct chains *c, uint32_t node, uint32_t sample)
{
	while (c->node_seen.n <= node)
		vec_push(&c->node_seen, 0);
	if (c->node_seen.v[node] == sample + 1)
		return false;
	c->node_seen.v[node] = sample + 1;
	return true;
}

static bool is_new_arc(struct chains *c, uint32_t caller, uint32_t callee, uint32_t sample)
{
	uint32_t key[2] = {caller, callee};
	uint64_t *at = htab_put(&c->arc_seen, key, sizeof key, NULL);

	if (*at == sample + 1)
		return false;
	*at = sample + 1;
	return true;
}

static void add_chain(struct callgraph *g, struct chains *c, const struct recording *r, uint32_t i)
{
	const struct recording_sample *s = &r->sample.v[i];
	double time = (double)s->period;
	uint32_t at;
	size_t k;

	c->on.n = 0;
	for (at = s->stack; at != RECORDING_NONE; at = r->stack.v[at].caller)
		vec_push(&c->on, c->node[r->stack.v[at].location]);
	g->node.v[c->on.v[0]].self += time;
	g->sum += time;
	for (k = 0; k < c->on.n; k++) {
		if (is_new(c, c->on.v[k], i))
			g->node.v[c->on.v[k]].total += time;
		if (k > 0 && is_new_arc(c, c->on.v[k], c->on.v[k - 1], i))
			callgraph_arc(g, c->on.v[k], c->on.v[k - 1], NAN, time);
	}
}

void callgraph_of_chains(struct callgraph *g, const struct recording *r, uint32_t event)
{
	struct chains c = {.node = xcalloc(r->location.n + 1, sizeof *c.node)};
	uint32_t i;

	builds_join(&g->builds, r);
	for (i = 0; i < r->location.n; i++)
		c.node[i] = node_at(g, r, i);
	for (i = 0; i < r->sample.n; i++)
		if (r->sample.v[i].event == event && r->sample.v[i].stack != RECORDING_NONE)
			add_chain(g, &c, r, i);
	free(c.node);
	vec_free(&c.on);
	vec_free(&c.node_seen);
	htab_free(&c.arc_seen);
}

/* ---- of numbers of calls ---- */

static bool is_start(const struct recording *r, uint32_t location, uint32_t function)
{
	uint64_t start = r->function.v[function].start;

	return start == UINT64_MAX || r->location.v[location].offset == start;
}

static void add_branches(struct callgraph *g, const struct recording *r)
{
	const struct recording_branch *b;
	uint32_t from, to;

	for (b = r->branch.v; b < r->branch.v + r->branch.n; b++) {
		if (b->from == RECORDING_NONE || b->to == RECORDING_NONE)
			continue;
		from = breakdown_function(r, b->from);
		to = breakdown_function(r, b->to);
		if (from != RECORDING_NONE && to != RECORDING_NONE && from != to &&
		    is_start(r, b->to, to))
			callgraph_arc(
			    g, node_at(g, r, b->from), node_at(g, r, b->to), (double)b->n, 0);
	}
}

void callgraph_of_calls(struct callgraph *g, const struct recording *r, uint32_t event)
{
	const struct recording_sample *s;
	uint32_t at;

	builds_join(&g->builds, r);
	for (s = r->sample.v; s < r->sample.v + r->sample.n; s++) {
		if (s->event != event || s->stack == RECORDING_NONE)
			continue;
		at = node_at(g, r, r->stack.v[s->stack].location);
		g->node.v[at].self += (double)s->period;
	}
	add_branches(g, r);
	callgraph_propagate(g);
}

/* ---- of nearest callers ---- */

/* Of each file, whether some code of it is a caller. */
static bool *find_calling(const struct builds *b, const struct recording *r)
{
	bool *calls = xcalloc(r->file.n + 1, sizeof *calls);
	uint32_t up;
	size_t i;

	for (i = 0; i < r->stack.n; i++) {
		up = r->stack.v[i].caller;
		if (up != RECORDING_NONE)
			calls[b->file[r->location.v[r->stack.v[up].location].file]] = true;
	}
	return calls;
}

void callgraph_of_callers(struct callgraph *g, const struct recording *r, uint32_t event)
{
	const struct recording_sample *s;
	const struct recording_waiting *w;
	uint32_t at, up, to;
	bool *calls;
	size_t i;

	builds_join(&g->builds, r);
	calls = find_calling(&g->builds, r);
	for (s = r->sample.v; s < r->sample.v + r->sample.n; s++) {
		if (s->event != event || s->stack == RECORDING_NONE)
			continue;
		at = r->stack.v[s->stack].location;
		up = r->stack.v[s->stack].caller;
		to = node_at(g, r, at);
		g->node.v[to].self += (double)s->period;
		if (up != RECORDING_NONE)
			up = node_at(g, r, r->stack.v[up].location);
		if (up != RECORDING_NONE && up != to)
			callgraph_arc(g, up, to, (double)s->period, 0);
		else if (!calls[g->node.v[to].file])
			g->node.v[to].apart += (double)s->period;
	}
	free(calls);
	for (w = r->waiting.v; w < r->waiting.v + r->waiting.n; w++) {
		up = node_at(g, r, w->caller);
		to = node_at(g, r, w->callee);
		if (up != to)
			callgraph_arc(g, up, to, w->period, 0);
	}
	add_branches(g, r);
	callgraph_propagate(g);
	for (i = 0; i < g->arc.n; i++)
		g->arc.v[i].calls = NAN;
}

static int by_caller(const void *a, const void *b)
{
	const struct callgraph_arc *x = a, *y = b;

	return ORDER(x->caller, y->caller) ?: ORDER(x->callee, y->callee);
}

/* Tarjan's strongly connected components, callees first (SIAM J. Comput. 1972), without recursion.
 */
struct scc {
	const struct callgraph *g;
	uint32_t *first;       /* of each node: its first arc; one beyond */
	uint32_t *index, *low; /* 1 + number; 0 = not seen */
	uint32_t *component;   /* 1 + number; 0 = none yet */
	uint32_t *next;        /* of each node on the path: the arc that is followed next */
	VEC(uint32_t) path, open;
	uint32_t nindex, ncomponent;
};

static void enter(struct scc *s, uint32_t node)
{
	s->index[node] = s->low[node] = ++s->nindex;
	s->next[node] = s->first[node];
	vec_push(&s->path, node);
	vec_push(&s->open, node);
}

/* All that is reached from a node is numbered: it may be the first of a component. */
static void leave(struct scc *s, uint32_t node)
{
	uint32_t up, member;

	s->path.n--;
	if (s->low[node] == s->index[node]) {
		s->ncomponent++;
		do {
			member = s->open.v[--s->open.n];
			s->component[member] = s->ncomponent;
		} while (member != node);
	}
	if (s->path.n) {
		up = s->path.v[s->path.n - 1];
		s->low[up] = s->low[node] < s->low[up] ? s->low[node] : s->low[up];
	}
}

static void visit(struct scc *s, uint32_t root)
{
	uint32_t node, callee;

	enter(s, root);
	while (s->path.n) {
		node = s->path.v[s->path.n - 1];
		if (s->next[node] == s->first[node + 1]) {
			leave(s, node);
			continue;
		}
		callee = s->g->arc.v[s->next[node]++].callee;
		if (!s->index[callee])
			enter(s, callee);
		else if (!s->component[callee] && s->index[callee] < s->low[node])
			s->low[node] = s->index[callee];
	}
}

static void find_components(struct scc *s, const struct callgraph *g)
{
	size_t n = g->node.n, i;

	*s = (struct scc){.g = g,
	    .first = xcalloc(n + 2, sizeof *s->first),
	    .index = xcalloc(n + 1, sizeof *s->index),
	    .low = xcalloc(n + 1, sizeof *s->low),
	    .component = xcalloc(n + 1, sizeof *s->component),
	    .next = xcalloc(n + 1, sizeof *s->next)};
	for (i = 0; i < g->arc.n; i++)
		s->first[g->arc.v[i].caller + 1]++;
	for (i = 0; i < n; i++)
		s->first[i + 1] += s->first[i];
	for (i = 0; i < n; i++)
		if (!s->index[i])
			visit(s, (uint32_t)i);
}

static void free_components(struct scc *s)
{
	free(s->first);
	free(s->index);
	free(s->low);
	free(s->component);
	free(s->next);
	vec_free(&s->path);
	vec_free(&s->open);
}

static bool is_inner(const struct scc *s, const struct callgraph_arc *a)
{
	return s->component[a->caller] == s->component[a->callee];
}

/* Calls into each component from others, and the time of each, callees' before callers'. */
static void divide_time(struct callgraph *g, const struct scc *s)
{
	double *time = xcalloc(s->ncomponent + 1, sizeof *time);
	double *calls = xcalloc(s->ncomponent + 1, sizeof *calls);
	double *apart = xcalloc(s->ncomponent + 1, sizeof *apart);
	struct callgraph_arc **order = xcalloc(g->arc.n + 1, sizeof *order), *a;
	uint32_t *first = xcalloc(s->ncomponent + 2, sizeof *first), c;
	size_t i;

	for (i = 0; i < g->node.n; i++) {
		time[s->component[i]] += g->node.v[i].self;
		apart[s->component[i]] += g->node.v[i].apart;
	}
	for (i = 0; i < g->arc.n; i++) {
		a = &g->arc.v[i];
		a->time = 0;
		if (!is_inner(s, a)) {
			calls[s->component[a->callee]] += a->calls;
			first[s->component[a->callee] + 1]++;
		}
	}
	for (c = 1; c <= s->ncomponent + 1; c++)
		first[c] += first[c - 1];
	for (i = 0; i < g->arc.n; i++)
		if (!is_inner(s, &g->arc.v[i]))
			order[first[s->component[g->arc.v[i].callee]]++] = &g->arc.v[i];
	/* Components are numbered callees first; `first` now ends each one's arcs. */
	for (c = 1, i = 0; c <= s->ncomponent; c++) {
		for (; i < first[c]; i++) {
			a = order[i];
			a->time = calls[c] > 0 ? (time[c] - apart[c]) * a->calls / calls[c] : 0;
			time[s->component[a->caller]] += a->time;
		}
	}
	for (i = 0; i < g->node.n; i++)
		g->node.v[i].total = time[s->component[i]];
	free(time);
	free(calls);
	free(apart);
	free(order);
	free(first);
}

/* Only components of several functions are cycles; one that calls itself is not. */
static void number_cycles(struct callgraph *g, const struct scc *s)
{
	uint32_t *members = xcalloc(s->ncomponent + 1, sizeof *members), *number, next = 0;
	size_t i;

	number = xcalloc(s->ncomponent + 1, sizeof *number);
	for (i = 0; i < g->node.n; i++)
		members[s->component[i]]++;
	for (i = 0; i < g->node.n; i++) {
		if (members[s->component[i]] < 2)
			continue;
		if (!number[s->component[i]])
			number[s->component[i]] = ++next;
		g->node.v[i].cycle = number[s->component[i]];
	}
	free(members);
	free(number);
}

void callgraph_propagate(struct callgraph *g)
{
	struct scc s;
	size_t i;

	vec_sort(&g->arc, by_caller);
	g->sum = 0;
	for (i = 0; i < g->node.n; i++)
		g->sum += g->node.v[i].self;
	find_components(&s, g);
	divide_time(g, &s);
	number_cycles(g, &s);
	free_components(&s);
}

/* ---- the end ---- */

struct ranked {
	struct callgraph_node node;
	uint32_t old;
};

static int by_total(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return ORDER(y->node.total, x->node.total) ?: ORDER(y->node.self, x->node.self)
	    ?: ORDER(x->old, y->old);
}

void callgraph_end(struct callgraph *g)
{
	struct ranked *rank = xcalloc(g->node.n + 1, sizeof *rank);
	uint32_t *now = xcalloc(g->node.n + 1, sizeof *now), i;

	for (i = 0; i < g->node.n; i++)
		rank[i] = (struct ranked){g->node.v[i], i};
	qsort(rank, g->node.n, sizeof *rank, by_total);
	for (i = 0; i < g->node.n; i++) {
		g->node.v[i] = rank[i].node;
		now[rank[i].old] = i;
	}
	for (i = 0; i < g->arc.n; i++) {
		g->arc.v[i].caller = now[g->arc.v[i].caller];
		g->arc.v[i].callee = now[g->arc.v[i].callee];
	}
	vec_sort(&g->arc, by_caller);
	htab_free(&g->index);
	free(rank);
	free(now);
}

void callgraph_free(struct callgraph *g)
{
	vec_free(&g->node);
	vec_free(&g->arc);
	htab_free(&g->index);
	builds_free(&g->builds);
}
