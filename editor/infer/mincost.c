#include "editor/infer/mincost.h"

#include <stdbool.h>
#include <string.h>

enum {
	SCALE_LOG = 5,        /* epsilon falls by 2 to this power per phase */
	WORK_PER_ARC = 20000, /* limit for inputs made to be slow */
	FAR = 4,              /* times the number of nodes: where distances end */
};
static const uint32_t NONE = UINT32_MAX;

/* A node on the list of one distance. */
struct visit {
	uint32_t node, next;
};

/* What is left of an arc: [0] along it, [1] against it. */
struct residual {
	int64_t room[2];  /* up to the next change of slope; 0 = none */
	int64_t slope[2]; /* of a unit sent this way */
	uint32_t node[2]; /* where a unit sent this way arrives */
};

struct solver {
	struct mincost *m;
	struct residual *arc;
	uint32_t *first; /* incidences of node v: inc[first[v]] … inc[first[v + 1]] */
	uint32_t *inc;   /* arc << 1 | (1 when v is the arc's head) */
	uint32_t *cur;   /* where the search for an admissible arc continues */
	int64_t *price, *excess;
	uint32_t *queue; /* ring of active nodes */
	uint8_t *queued;
	uint32_t head, nactive;
	int64_t eps; /* a power of two */
	int eps_log;
	uint64_t work, limit;
	uint32_t *dist, *bucket; /* in steps of eps; per distance: its visits */
	struct visit *visit;
	uint32_t nvisit, relabels;
};

static void set_residual(struct solver *s, uint32_t arc)
{
	const struct mc_arc *a = &s->m->arc[arc];
	const struct mc_seg *first = s->m->seg + a->seg, *seg = first + a->at;
	struct residual *r = &s->arc[arc];

	/* At the end of a segment, forward is the next one. */
	if (a->flow == seg->end && a->at + 1 < a->nseg)
		r->slope[0] = seg[1].slope, r->room[0] = seg[1].end - seg->end;
	else
		r->slope[0] = seg->slope, r->room[0] = seg->end - a->flow;
	r->slope[1] = -seg->slope;
	r->room[1] = a->flow - (seg > first ? seg[-1].end : 0);
}

/* Moves d units, at most the room there is. A flow on a border belongs to the
 * segment below it. */
static void move(struct solver *s, uint32_t inc, int64_t d)
{
	struct mc_arc *a = &s->m->arc[inc >> 1];
	const struct mc_seg *seg = s->m->seg + a->seg;

	if (inc & 1) {
		a->flow -= d;
		if (a->at && a->flow == seg[a->at - 1].end)
			a->at--;
		s->excess[a->to] -= d;
		s->excess[a->from] += d;
	} else {
		if (a->flow == seg[a->at].end)
			a->at++;
		a->flow += d;
		s->excess[a->from] -= d;
		s->excess[a->to] += d;
	}
	set_residual(s, inc >> 1);
}

static void activate(struct solver *s, uint32_t v)
{
	uint32_t n = s->m->nnode, at = s->head + s->nactive;

	if (s->queued[v] || s->excess[v] <= 0)
		return;
	s->queued[v] = 1;
	s->queue[at < n ? at : at - n] = v;
	s->nactive++;
}

/* Puts every arc at its cheapest flow under the present prices. */
static void saturate(struct solver *s)
{
	const struct residual *r = s->arc;
	int64_t diff;
	uint32_t i;

	for (i = 0; i < s->m->narc; i++, r++) {
		diff = s->price[r->node[1]] - s->price[r->node[0]];
		while (r->room[0] && r->slope[0] + diff < 0)
			move(s, i << 1, r->room[0]);
		while (r->room[1] && r->slope[1] - diff < 0)
			move(s, i << 1 | 1, r->room[1]);
	}
	s->work += s->m->narc;
}

/* Puts node v on the list of its distance, unless that is out of range. */
static void reach(struct solver *s, uint32_t v, int64_t dist)
{
	if (dist >= s->dist[v])
		return;
	s->dist[v] = (uint32_t)dist;
	s->visit[s->nvisit] = (struct visit){v, s->bucket[dist]};
	s->bucket[dist] = s->nvisit++;
}

/* From node v backwards, along incoming arcs. */
static void spread(struct solver *s, uint32_t v)
{
	const struct residual *r;
	int64_t reduced;
	uint32_t i, w;
	int way;

	s->work += s->first[v + 1] - s->first[v];
	for (i = s->first[v]; i < s->first[v + 1]; i++) {
		way = !(s->inc[i] & 1);
		r = &s->arc[s->inc[i] >> 1];
		if (!r->room[way])
			continue;
		w = r->node[!way];
		reduced = r->slope[way] + s->price[w] - s->price[v];
		reach(s, w, s->dist[v] + (reduced < 0 ? 0 : (reduced >> s->eps_log) + 1));
	}
}

/* Sets the prices by the distance to the nearest deficit, in steps of eps.
 * What is farther than FAR counts as that far. */
static void update_prices(struct solver *s)
{
	uint32_t n = s->m->nnode, far = FAR * n, v, d, at, active = 0;

	s->nvisit = 0;
	for (d = 0; d < far; d++)
		s->bucket[d] = NONE;
	for (v = 0; v < n; v++) {
		s->dist[v] = far;
		active += s->excess[v] > 0;
	}
	for (v = 0; v < n; v++)
		if (s->excess[v] < 0)
			reach(s, v, 0);
	for (d = 0; d < far && active; d++)
		while ((at = s->bucket[d]) != NONE) {
			s->bucket[d] = s->visit[at].next;
			v = s->visit[at].node;
			if (s->dist[v] != d)
				continue;
			active -= s->excess[v] > 0;
			spread(s, v);
		}
	for (v = 0; v < n; v++) {
		s->price[v] -= s->eps * (s->dist[v] < d ? s->dist[v] : d);
		s->cur[v] = s->first[v];
	}
	s->relabels = 0;
}

static void relabel(struct solver *s, uint32_t v)
{
	int64_t best = INT64_MIN, p;
	const struct residual *r;
	uint32_t i;
	int way;

	for (i = s->first[v]; i < s->first[v + 1]; i++) {
		way = s->inc[i] & 1;
		r = &s->arc[s->inc[i] >> 1];
		p = s->price[r->node[way]] - r->slope[way];
		if (r->room[way] && p > best)
			best = p;
	}
	s->work += s->first[v + 1] - s->first[v];
	s->price[v] = best - s->eps;
	s->cur[v] = s->first[v];
	s->relabels++;
}

static void discharge(struct solver *s, uint32_t v)
{
	const struct residual *r;
	uint32_t inc, to;

	while (s->excess[v] > 0) {
		if (s->cur[v] == s->first[v + 1]) {
			relabel(s, v);
			continue;
		}
		s->work++;
		inc = s->inc[s->cur[v]];
		r = &s->arc[inc >> 1];
		to = r->node[inc & 1];
		if (!r->room[inc & 1] || r->slope[inc & 1] + s->price[v] - s->price[to] >= 0) {
			s->cur[v]++;
			continue;
		}
		move(s, inc, r->room[inc & 1] < s->excess[v] ? r->room[inc & 1] : s->excess[v]);
		activate(s, to);
	}
}

/* One phase: from any flow to a circulation whose reduced costs are >= -eps.
 * False when the work ran out. */
static bool refine(struct solver *s)
{
	uint32_t n = s->m->nnode, v;

	saturate(s);
	update_prices(s);
	s->head = s->nactive = 0;
	memset(s->queued, 0, n);
	for (v = 0; v < n; v++)
		activate(s, v);
	while (s->nactive) {
		v = s->queue[s->head];
		s->head = s->head + 1 < n ? s->head + 1 : 0;
		s->nactive--;
		s->queued[v] = 0;
		discharge(s, v);
		if (s->relabels > n / 2)
			update_prices(s);
		if (s->work > s->limit)
			return false;
	}
	return true;
}

static void index_arcs(struct solver *s, struct arena *a)
{
	const struct mincost *m = s->m;
	uint32_t i, v;

	s->first = arena_array(a, m->nnode + 2, sizeof *s->first);
	s->inc = arena_array(a, 2 * (size_t)m->narc, sizeof *s->inc);
	for (i = 0; i < m->narc; i++) {
		s->first[m->arc[i].from + 2]++;
		s->first[m->arc[i].to + 2]++;
	}
	for (v = 2; v <= m->nnode; v++)
		s->first[v] += s->first[v - 1];
	for (i = 0; i < m->narc; i++) {
		s->inc[s->first[m->arc[i].from + 1]++] = i << 1;
		s->inc[s->first[m->arc[i].to + 1]++] = i << 1 | 1;
	}
}

static int64_t steepest(const struct mincost *m)
{
	int64_t c = 1, slope;
	uint32_t i, k;

	for (i = 0; i < m->narc; i++)
		for (k = 0; k < m->arc[i].nseg; k++) {
			slope = m->seg[m->arc[i].seg + k].slope;
			c = slope > c ? slope : -slope > c ? -slope : c;
		}
	return c;
}

/* With slopes in units of 1 / (nodes + 1), an eps of 1 means the optimum. Less
 * where prices, up to 4 * nodes * steepest slope, would leave 62 bits. */
static void scale_slopes(struct mincost *m)
{
	int64_t n = m->nnode, most = (INT64_MAX >> 1) / (4 * (n + 1) * MC_MAX_SLOPE), by;
	uint32_t i, k;

	if (m->slack)
		return;
	by = n + 1 < most ? n + 1 : most > 1 ? most : 1;
	for (i = 0; i < m->narc; i++)
		for (k = 0; k < m->arc[i].nseg; k++)
			m->seg[m->arc[i].seg + k].slope *= by;
}

/* The least power of two that is not below v; of 1 where v is less. */
static int log2_up(int64_t v)
{
	return v > 1 ? 64 - __builtin_clzll((uint64_t)v - 1) : 0;
}

static void keep(const struct mincost *m, int64_t *best)
{
	uint32_t i;

	for (i = 0; i < m->narc; i++)
		best[i] = m->arc[i].flow;
}

uint64_t mincost_solve(struct mincost *m, struct arena *scratch)
{
	struct solver s = {.m = m};
	int64_t *best = arena_array(scratch, m->narc, sizeof *best);
	int stop = log2_up(m->slack);
	uint32_t i, n = m->nnode;

	index_arcs(&s, scratch);
	s.arc = arena_array(scratch, m->narc, sizeof *s.arc);
	s.cur = arena_array(scratch, n, sizeof *s.cur);
	s.price = arena_array(scratch, n, sizeof *s.price);
	s.excess = arena_array(scratch, n, sizeof *s.excess);
	s.queue = arena_array(scratch, n, sizeof *s.queue);
	s.queued = arena_array(scratch, n, sizeof *s.queued);
	s.dist = arena_array(scratch, n, sizeof *s.dist);
	s.bucket = arena_array(scratch, FAR * (size_t)n, sizeof *s.bucket);
	s.visit = arena_array(scratch, 2 * (size_t)m->narc + n, sizeof *s.visit);
	s.limit = (uint64_t)WORK_PER_ARC * ((uint64_t)m->narc + n);
	scale_slopes(m);
	s.eps_log = log2_up(steepest(m));
	for (i = 0; i < m->narc; i++) {
		m->arc[i].flow = m->arc[i].at = 0;
		s.arc[i].node[0] = m->arc[i].to;
		s.arc[i].node[1] = m->arc[i].from;
		set_residual(&s, i);
	}
	do {
		s.eps_log = s.eps_log - SCALE_LOG > stop ? s.eps_log - SCALE_LOG : stop;
		s.eps = (int64_t)1 << s.eps_log;
		if (!refine(&s)) {
			for (i = 0; i < m->narc; i++)
				m->arc[i].flow = best[i];
			break;
		}
		keep(m, best);
	} while (s.eps_log > stop);
	return s.work;
}
