#include "editor/probe/probes.h"
#include "common/sort.h"
#include "editor/probe/spantree.h"

#include <string.h>

enum { NONE = UINT32_MAX };

/* What one counter costs, in increments in line. */
static const double COST_HEAD = 1, COST_END = 1.02, COST_LINE = 1.01, COST_TAKEN = 2, COST_DEAR = 3;

/* Executions of every block and edge; only their ratios matter. */
struct probe_weights {
	double *block, *edge;
};

struct graph {
	const struct cfg *g;
	const struct probe_want *want; /* NULL: costs do not matter */
	struct probe_weights w;
	struct arena *a;
	uint32_t outside, nnode;
	VEC(struct span_edge) e;
	VEC(uint32_t) site; /* probe site of each, or NONE */
};

static uint32_t node_in(uint32_t b)
{
	return 2 * b;
}

static uint32_t node_out(uint32_t b)
{
	return 2 * b + 1;
}

struct probe probe_site(const struct cfg *g, uint32_t site)
{
	if (site < g->nblock)
		return (struct probe){PROBE_HEAD, site};
	if (site < g->nblock + g->nedge)
		return (struct probe){PROBE_EDGE, site - g->nblock};
	return (struct probe){PROBE_END, site - g->nblock - g->nedge};
}

/* ---- rough frequencies ---- */

/* Compilers print the blocks of a loop together: a block's depth is the number of backward jumps
 * that span it, counting the longest to each target. */
static uint32_t *loop_depth(const struct cfg *g, struct arena *a)
{
	uint32_t *last = arena_array(a, g->nblock, sizeof *last);
	int32_t *step = arena_array(a, (size_t)g->nblock + 1, sizeof *step), depth = 0;
	uint32_t *out = arena_array(a, g->nblock, sizeof *out), i;

	for (i = 0; i < g->nedge; i++)
		if (g->edge[i].src >= g->edge[i].dst && g->edge[i].src + 1 > last[g->edge[i].dst])
			last[g->edge[i].dst] = g->edge[i].src + 1;
	for (i = 0; i < g->nblock; i++)
		if (last[i]) {
			step[i]++;
			step[last[i]]--;
		}
	for (i = 0; i < g->nblock; i++) {
		depth += step[i];
		out[i] = (uint32_t)depth;
	}
	return out;
}

static double guess(const struct cfg_block *b, uint32_t depth)
{
	static const double by_depth[] = {1, 8, 64, 512, 4096, 32768};
	double f = by_depth[depth < 5 ? depth : 5];

	return b->flags & (BLK_COLD | BLK_NORETURN) ? f / 1000 : f;
}

/* Loops iterate: back edges take most of their source's executions. */
static void guess_edges(const struct cfg *g, uint32_t b, struct probe_weights *w)
{
	static const double ROUND = 0.875;
	uint32_t i, n = g->succ[b + 1] - g->succ[b], back = 0;
	double from, to;

	for (i = g->succ[b]; i < g->succ[b + 1]; i++)
		back += b >= g->edge[i].dst;
	for (i = g->succ[b]; i < g->succ[b + 1]; i++) {
		from = w->block[b];
		to = w->block[g->edge[i].dst];
		if (back && back < n)
			from *= b >= g->edge[i].dst ? ROUND / back : (1 - ROUND) / (n - back);
		else
			from /= n;
		w->edge[i] = from < to ? from : to;
	}
}

static struct probe_weights weigh(const struct cfg *g, bool weighed, struct arena *a)
{
	uint32_t *depth = loop_depth(g, a), i;
	struct probe_weights w = {
	    arena_array(a, g->nblock, sizeof *w.block), arena_array(a, g->nedge, sizeof *w.edge)};

	for (i = 0; i < g->nblock; i++)
		w.block[i] = guess(&g->block[i], depth[i]);
	for (i = 0; i < g->nblock; i++)
		guess_edges(g, i, &w);
	/* Guesses only break ties in a profile. */
	for (i = 0; weighed && i < g->nblock; i++)
		w.block[i] = (double)g->block[i].count + w.block[i] * 1e-9;
	for (i = 0; weighed && i < g->nedge; i++)
		w.edge[i] = (double)g->edge[i].count + w.edge[i] * 1e-9;
	return w;
}

/* ---- the graph ---- */

static void add(struct graph *m, uint32_t from, uint32_t to, uint32_t site, double cost)
{
	vec_push(&m->e, (struct span_edge){.from = from, .to = to, .cost = cost});
	vec_push(&m->site, site);
}

static void add_never(struct graph *m, uint32_t from, uint32_t to)
{
	add(m, from, to, NONE, -1);
}

static double dear(const struct graph *m, uint32_t b)
{
	return m->want && m->want->dear[b] ? COST_DEAR : 1;
}

static double block_cost(const struct graph *m, uint32_t b, double each)
{
	return m->want ? m->w.block[b] * each : 0;
}

static void add_blocks(struct graph *m)
{
	uint32_t b;

	for (b = 0; b < m->g->nblock; b++)
		add(m, node_in(b), node_out(b), b, block_cost(m, b, COST_HEAD) * dear(m, b));
}

static void add_edges(struct graph *m)
{
	const struct cfg_edge *e = m->g->edge;
	uint32_t i;
	double each;

	for (i = 0; i < m->g->nedge; i++) {
		if (!edge_direct(e[i].kind))
			continue;
		each = (e[i].kind == EDGE_TAKEN ? COST_TAKEN : COST_LINE) * dear(m, e[i].dst);
		add(m, node_out(e[i].src), node_in(e[i].dst), m->g->nblock + i,
		    m->want ? m->w.edge[i] * each : 0);
	}
}

enum { SUCCS_ALONE = 1, SUCCS_MEET = 2, IS_TARGET = 4 };

static uint8_t *edge_kinds(const struct graph *m)
{
	uint8_t *kinds = arena_array(m->a, m->g->nblock, 1);
	const struct cfg_edge *e;
	uint32_t i;

	for (i = 0; i < m->g->nedge; i++) {
		e = &m->g->edge[i];
		if (e->kind == EDGE_THROW)
			continue;
		kinds[e->src] |= e->kind == EDGE_INDIRECT ? SUCCS_MEET : SUCCS_ALONE;
		if (e->kind == EDGE_INDIRECT)
			kinds[e->dst] |= IS_TARGET;
	}
	return kinds;
}

static uint32_t end_site(const struct cfg *g, uint32_t b)
{
	return g->nblock + g->nedge + b;
}

/* Does control leave the function at the end of b, and only there? */
static bool plain_exit(const struct cfg *g, const uint8_t *kinds, uint32_t b)
{
	return !(kinds[b] & (SUCCS_ALONE | SUCCS_MEET)) &&
	       (g->block[b].flags & (BLK_EXIT | BLK_NORETURN)) == BLK_EXIT;
}

/* May control leave it otherwise, or return twice? */
static bool leaks(const struct cfg *g, const uint8_t *kinds, uint32_t b)
{
	uint32_t flags = g->block[b].flags;

	if (flags & (BLK_CALLS | BLK_NORETURN))
		return true;
	if (kinds[b] & (SUCCS_ALONE | SUCCS_MEET))
		return flags & BLK_EXIT; /* a conditional tail call */
	return !(flags & BLK_EXIT);
}

static bool enters(const struct cfg *g, uint32_t b)
{
	return !b || g->block[b].flags & (BLK_ADDRESSED | BLK_PAD);
}

static void add_outside(struct graph *m, const uint8_t *kinds)
{
	uint32_t b;

	for (b = 0; b < m->g->nblock; b++) {
		if (enters(m->g, b))
			add_never(m, m->outside, node_in(b));
		if (plain_exit(m->g, kinds, b))
			add(m, node_out(b), m->outside, end_site(m->g, b),
			    block_cost(m, b, COST_END));
		if (leaks(m->g, kinds, b))
			add_never(m, node_out(b), m->outside);
	}
}

/* Per node of a block: the node where it meets its indirect edges, or NONE. */
static uint32_t *meeting_nodes(struct graph *m, const uint8_t *kinds)
{
	const struct cfg *g = m->g;
	uint32_t n = 2 * g->nblock, *root = arena_array(m->a, n, sizeof *root);
	uint32_t *node = arena_array(m->a, n, sizeof *node), i;

	for (i = 0; i < n; i++)
		root[i] = i;
	for (i = 0; i < g->nedge; i++)
		if (g->edge[i].kind == EDGE_INDIRECT)
			span_join(root, node_out(g->edge[i].src), node_in(g->edge[i].dst));
	/* A root is the lowest of its set, so it comes first. */
	for (i = 0; i < n; i++) {
		if (!(kinds[i / 2] & (i & 1 ? SUCCS_MEET : IS_TARGET)))
			node[i] = NONE;
		else
			node[i] = span_root(root, i) == i ? m->nnode++ : node[span_root(root, i)];
	}
	return node;
}

static void add_indirect(struct graph *m, const uint8_t *kinds)
{
	uint32_t *node = meeting_nodes(m, kinds), b, v;

	for (b = 0; b < m->g->nblock; b++) {
		if (node[node_in(b)] != NONE)
			add_never(m, node[node_in(b)], node_in(b));
		if (node[node_out(b)] == NONE)
			continue;
		if (m->g->block[b].flags & BLK_INDIRECT && !(kinds[b] & SUCCS_ALONE))
			add(m, node_out(b), node[node_out(b)], end_site(m->g, b),
			    block_cost(m, b, COST_END));
		else
			add_never(m, node_out(b), node[node_out(b)]);
	}
	for (v = m->outside + 1; v < m->nnode; v++)
		add_never(m, v, m->outside);
}

static void whole_graph(struct graph *m)
{
	const uint8_t *kinds = edge_kinds(m);

	add_blocks(m);
	add_edges(m);
	add_outside(m, kinds);
	add_indirect(m, kinds);
}

/* Everything except the blocks themselves contracted. */
static void block_graph(struct graph *m)
{
	const struct cfg *g = m->g;
	const uint8_t *kinds = edge_kinds(m);
	uint32_t *root = arena_array(m->a, m->nnode, sizeof *root), i;

	for (i = 0; i < m->nnode; i++)
		root[i] = i;
	for (i = 0; i < g->nedge; i++) {
		span_join(root, node_out(g->edge[i].src), node_in(g->edge[i].dst));
		if (g->edge[i].kind == EDGE_INDIRECT)
			span_join(root, node_out(g->edge[i].src), m->outside);
	}
	for (i = 0; i < g->nblock; i++) {
		if (enters(g, i))
			span_join(root, node_in(i), m->outside);
		if (plain_exit(g, kinds, i) || leaks(g, kinds, i))
			span_join(root, node_out(i), m->outside);
	}
	add_blocks(m);
	for (i = 0; i < m->e.n; i++) {
		m->e.v[i].from = span_root(root, m->e.v[i].from);
		m->e.v[i].to = span_root(root, m->e.v[i].to);
	}
}

static void graph_make(struct graph *m, const struct cfg *g, const struct probe_want *want,
    enum probes_form form, struct arena *a)
{
	*m = (struct graph){.g = g, .want = want, .a = a, .outside = 2 * g->nblock};
	m->nnode = m->outside + 1;
	if (want)
		m->w = weigh(g, want->weighed, a);
	if (form == PROBES_EDGES)
		whole_graph(m);
	else
		block_graph(m);
}

static void graph_free(struct graph *m)
{
	vec_free(&m->e);
	vec_free(&m->site);
}

/* ---- choosing ---- */

/* The cost of the counters chosen, < 0 when this form is not possible. */
static double choose(const struct cfg *g, const struct probe_want *want, enum probes_form form,
    struct probes *out, struct arena *a)
{
	struct arena scratch = {0};
	struct graph m;
	double cost = 0;
	uint32_t i;

	*out = (struct probes){.form = form};
	graph_make(&m, g, want, form, &scratch);
	out->site = arena_array(a, m.e.n, sizeof *out->site);
	if (span_choose(m.e.v, (uint32_t)m.e.n, m.nnode, &scratch)) {
		for (i = 0; i < m.e.n; i++)
			if (m.e.v[i].counted) {
				out->site[out->n++] = m.site.v[i];
				cost += m.e.v[i].cost;
			}
		if (out->n)
			qsort(out->site, out->n, sizeof *out->site, order_u32);
	} else {
		cost = -1;
	}
	graph_free(&m);
	arena_free(&scratch);
	return cost;
}

void probes_choose(
    const struct cfg *g, const struct probe_want *want, struct probes *out, struct arena *a)
{
	struct probes by_edges = {0};
	double cost = want->heads_only ? -1 : choose(g, want, PROBES_EDGES, &by_edges, a);

	if (cost >= 0 && want->edges)
		*out = by_edges;
	else if (choose(g, want, PROBES_BLOCKS, out, a) > cost && cost >= 0)
		*out = by_edges;
}

/* ---- from counters to counts ---- */

static uint64_t take(uint64_t flow, uint64_t *off)
{
	if (flow >> 63) {
		*off += -flow;
		return 0;
	}
	return flow;
}

/* Gives the counters their values; -1 when a site is not in the graph. */
static int assign(struct graph *m, const struct probes *p, const uint64_t *value)
{
	uint32_t nsite = 2 * m->g->nblock + m->g->nedge, i;
	uint32_t *at = arena_array(m->a, nsite, sizeof *at);
	struct span_edge *e;

	for (i = 0; i < m->e.n; i++)
		if (m->site.v[i] != NONE)
			at[m->site.v[i]] = i + 1;
	for (i = 0; i < p->n; i++) {
		if (p->site[i] >= nsite || !at[p->site[i]])
			return -1;
		e = &m->e.v[at[p->site[i]] - 1];
		if (e->known)
			return -1;
		e->known = true;
		e->flow = value[i];
	}
	return 0;
}

/* Does this edge lead from a node where indirect jumps meet to one of their targets? */
static bool from_meeting(const struct graph *m, const struct span_edge *s)
{
	return s->from > m->outside && s->to < m->outside;
}

enum { GOES = 1, COMES = 2 }; /* to unknown targets, from unknown jumps */

/* Per node where jumps meet: what its balance, which is of both, cannot rule out. */
static uint8_t *find_leaks(const struct graph *m)
{
	uint8_t *leak = arena_array(m->a, m->nnode, 1);
	const struct span_edge *s;

	for (s = m->e.v; s < m->e.v + m->e.n; s++) {
		if (s->from > m->outside && s->to == m->outside && s->flow)
			leak[s->from] |= s->flow >> 63 ? COMES : GOES;
		if (from_meeting(m, s) && m->g->block[s->to / 2].flags & BLK_OPEN)
			leak[s->from] |= COMES | GOES;
	}
	return leak;
}

/*
 * The flows between indirect jumps and their shared targets, as far as the sums on both sides
 * determine them. Where some of a side's flow may go to unknown targets, or come from elsewhere,
 * its sum is unusable.
 */
static void solve_indirect(struct graph *m, struct cfg *g, uint8_t *known, uint64_t *off)
{
	uint32_t i, first, n;
	uint8_t *leak = find_leaks(m);
	uint32_t open = 2 * g->nblock;
	VEC(struct span_edge) e = {0};
	const struct span_edge *s;

	for (i = 0; i < m->e.n; i++) {
		s = &m->e.v[i];
		if (from_meeting(m, s))
			vec_push(&e, (struct span_edge){s->to, open, 0, false, true, s->flow});
		if (s->to > m->outside)
			vec_push(&e, (struct span_edge){open, s->from, 0, false, true, s->flow});
		if (s->to > m->outside && leak[s->to] & GOES)
			vec_push(&e, (struct span_edge){.from = s->from, .to = open});
		if (from_meeting(m, s) && leak[s->from] & COMES)
			vec_push(&e, (struct span_edge){.from = open, .to = s->to});
	}
	first = (uint32_t)e.n;
	for (i = 0; i < g->nedge; i++)
		if (g->edge[i].kind == EDGE_INDIRECT)
			vec_push(&e, (struct span_edge){.from = node_out(g->edge[i].src),
					 .to = node_in(g->edge[i].dst)});
	span_solve(e.v, (uint32_t)e.n, open + 1, open, m->a);
	for (i = 0, n = first; i < g->nedge; i++)
		if (g->edge[i].kind == EDGE_INDIRECT) {
			known[i] = e.v[n].known;
			g->edge[i].count = known[i] ? take(e.v[n].flow, off) : 0;
			n++;
		}
	vec_free(&e);
}

int probes_solve(struct cfg *g, const struct probes *p, const uint64_t *value, uint8_t *known,
    uint64_t *off, struct arena *scratch, struct err *e)
{
	struct graph m;
	struct probe at;
	uint32_t i;
	int rc;

	*off = 0;
	memset(known, 0, g->nedge);
	graph_make(&m, g, NULL, p->form, scratch);
	rc = assign(&m, p, value) || span_solve(m.e.v, (uint32_t)m.e.n, m.nnode, NONE, scratch);
	for (i = 0; !rc && i < m.e.n; i++) {
		if (m.site.v[i] == NONE)
			continue;
		at = probe_site(g, m.site.v[i]);
		if (at.at == PROBE_HEAD)
			g->block[at.index].count = take(m.e.v[i].flow, off);
		if (at.at == PROBE_EDGE) {
			g->edge[at.index].count = take(m.e.v[i].flow, off);
			known[at.index] = 1;
		}
	}
	if (!rc && p->form == PROBES_EDGES)
		solve_indirect(&m, g, known, off);
	graph_free(&m);
	return rc ? err_set(e, "its counters do not give all counts") : 0;
}
