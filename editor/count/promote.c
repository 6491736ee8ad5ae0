/*
 * Register promotion of counters: an increment in memory waits for the store of the last one, which
 * dominates the time of a loop of a few instructions. Compilers sink such a store out of the loop;
 * here, a register must be found that the loop does not name and that is dead after it.
 */
#include "editor/count/counters.h"

#include <stdlib.h>

/* Costs in increments in memory: an increment in a register, clearing it, adding it to memory, a
 * detour through a side block. */
static const double COST_PROMOTED = 0.25, COST_CLEAR = 0.25, COST_ADD = 1, COST_SIDE = 1,
		    COST_FLAGS = 3;
/* The gain must be this many times the cost of entering and leaving. */
static const double CLEARLY = 1.5;

enum { DEPTH = 12 }; /* of loop nesting */

struct loop {
	uint32_t *block, n; /* its blocks */
	uint16_t spare;     /* registers that are free in it */
	double cost;        /* cost of promoting one counter through it */
};

struct promotion {
	const struct regs *r;
	const struct unit_impl *u;
	const struct func *f;
	const struct cfg *g;
	struct probes *p;
	struct arena *mem, *scratch;
	struct probe_weights w;
	const uint8_t *flags;
	uint16_t *live, *touched;
	uint16_t spare;
	uint32_t *first_in, *in; /* edges by dst */
	uint32_t *first_out;     /* edges by src */
	uint32_t *mark, stamp;   /* per block: of the last loop it was found in */
	uint8_t *cut, *cut_next; /* per block: its incoming edges are ignored when loops are
				    searched */
	bool found;
	VEC(struct loop) loop;
	uint32_t *first_of, *of; /* per block: the loops it is in, ascending */
};

/* ---- blocks ---- */

static void index_edges(struct promotion *h)
{
	const struct cfg *g = h->g;
	uint32_t i, *fill;

	h->first_in = arena_array(h->scratch, (size_t)g->nblock + 2, sizeof *h->first_in);
	h->first_out = arena_array(h->scratch, (size_t)g->nblock + 2, sizeof *h->first_out);
	h->in = arena_array(h->scratch, g->nedge, sizeof *h->in);
	for (i = 0; i < g->nedge; i++) {
		h->first_in[g->edge[i].dst + 2]++;
		h->first_out[g->edge[i].src + 1]++;
	}
	fill = h->first_in + 1;
	for (i = 0; i < g->nblock; i++) {
		fill[i + 1] += fill[i];
		h->first_out[i + 1] += h->first_out[i];
	}
	for (i = 0; i < g->nedge; i++)
		h->in[fill[g->edge[i].dst]++] = i;
}

/* The registers block b uses; REGS_ALL where no counter can be promoted: at calls and what is not
 * understood. */
static uint16_t touched_by(const struct promotion *h, uint32_t b)
{
	enum {
		UNPROMOTABLE = BLK_EXIT | BLK_NORETURN | BLK_INDIRECT | BLK_ADDRESSED | BLK_ONCE |
			       BLK_CALLS | BLK_OPEN
	};
	const struct blk *k = &h->f->blk[b];
	const struct stmt *st;
	uint16_t mask = 0;
	uint32_t i;

	if (!b || h->g->block[b].flags & UNPROMOTABLE || k->term == TERM_END ||
	    k->term == TERM_INDIRECT)
		return REGS_ALL;
	for (i = k->first; i < k->last && mask != REGS_ALL; i++) {
		st = &h->u->stmt.v[h->f->code.v[i]];
		if (st->kind == ST_DIR && st->dir == DIR_CFI)
			return REGS_ALL;
		mask |= regs_of_stmt(h->r, st).touches;
	}
	return mask;
}

static bool inside(const struct promotion *h, uint32_t b)
{
	return h->mark[b] == h->stamp;
}

/* ---- loops ---- */

static double side(const struct cfg_edge *e)
{
	return e->kind == EDGE_TAKEN ? COST_SIDE : 0;
}

static uint16_t saved_at(const struct promotion *h, uint32_t cfi)
{
	return regs_unwound(&h->u->cfi.v[cfi]);
}

/* Executions and cost of the entry or exit edges of a loop. */
struct edge_sum {
	double count, cost;
	uint32_t n;
};

static void add_edge(struct edge_sum *w, double count, double cost)
{
	w->count += count;
	w->cost += count * cost;
	w->n++;
}

/* Adds the loop's entry edges to block b; false when one of them cannot carry code. */
static bool entry_edges(const struct promotion *h, struct loop *l, uint32_t b, struct edge_sum *w)
{
	const struct cfg_edge *e;
	uint32_t k;

	for (k = h->first_in[b]; k < h->first_in[b + 1]; k++) {
		e = &h->g->edge[h->in[k]];
		if (inside(h, e->src))
			continue;
		if (e->kind == EDGE_INDIRECT)
			return false;
		l->spare &= saved_at(h, h->f->blk[e->src].cfi_out);
		add_edge(w, h->w.edge[h->in[k]], COST_CLEAR + side(e));
	}
	return true;
}

static void exit_edges(const struct promotion *h, struct loop *l, uint32_t b, struct edge_sum *w)
{
	const struct cfg_edge *e;
	uint32_t k;

	for (k = h->first_out[b]; k < h->first_out[b + 1]; k++) {
		e = &h->g->edge[k];
		if (inside(h, e->dst))
			continue;
		l->spare &= ~h->live[e->dst];
		add_edge(w, h->w.edge[k], COST_ADD * (h->flags[e->dst] ? COST_FLAGS : 1) + side(e));
	}
}

/* Sets the free registers of a loop and the cost of promotion in it. It is exited as often as it is
 * entered, even where guessed counts disagree. False when promotion is impossible. */
static bool find_bounds(const struct promotion *h, struct loop *l)
{
	struct edge_sum in = {0}, out = {0};
	uint32_t i, b;
	double each;

	for (i = 0; i < l->n; i++) {
		b = l->block[i];
		l->spare &= ~h->touched[b] & saved_at(h, h->f->blk[b].cfi_in) &
			    saved_at(h, h->f->blk[b].cfi_out);
		if (!entry_edges(h, l, b, &in))
			return false;
		exit_edges(h, l, b, &out);
	}
	if (!in.n || !out.n)
		return false;
	each = in.count < out.count ? in.count : out.count;
	l->cost = each > 0 ? each * (in.cost / in.count + out.cost / out.count) : 0;
	return l->spare;
}

static void index_loops(struct promotion *h)
{
	uint32_t i, k, *fill;
	size_t all = 0;

	h->first_of = arena_array(h->scratch, (size_t)h->g->nblock + 2, sizeof *h->first_of);
	for (i = 0; i < h->loop.n; i++)
		for (k = 0; k < h->loop.v[i].n; k++, all++)
			h->first_of[h->loop.v[i].block[k] + 2]++;
	h->of = arena_array(h->scratch, all, sizeof *h->of);
	fill = h->first_of + 1;
	for (i = 0; i < h->g->nblock; i++)
		fill[i + 1] += fill[i];
	for (i = 0; i < h->loop.n; i++)
		for (k = 0; k < h->loop.v[i].n; k++)
			h->of[fill[h->loop.v[i].block[k]]++] = i;
}

static int ascending(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

/* Adds the loop with these n blocks when counters can be promoted in it. */
static void add_loop(struct promotion *h, uint32_t *block, uint32_t n)
{
	struct loop l = {.block = block, .n = n, .spare = h->spare};
	uint32_t i;

	h->stamp++;
	for (i = 0; i < n; i++)
		h->mark[block[i]] = h->stamp;
	if (!find_bounds(h, &l))
		return;
	l.block = arena_array(h->mem, n, sizeof *l.block);
	memcpy(l.block, block, n * sizeof *block);
	qsort(l.block, n, sizeof *l.block, ascending);
	vec_push(&h->loop, l);
}

/* Does an edge lead to block b from outside of the loop that was found last? */
static bool entered(const struct promotion *h, uint32_t b)
{
	uint32_t k;

	for (k = h->first_in[b]; k < h->first_in[b + 1]; k++)
		if (!inside(h, h->g->edge[h->in[k]].src))
			return true;
	return false;
}

/* Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1972; without
 * recursion. */
struct visit {
	uint32_t block, edge;
};
struct search {
	uint32_t *number, *low; /* per block; number 0: not seen */
	uint32_t *stack, depth; /* of blocks that are in no component yet */
	struct visit *path;
	uint32_t length, last;
};

static bool on_stack(const struct search *s, uint32_t b)
{
	return s->number[b] && s->number[b] != UINT32_MAX;
}

static void visit(struct search *s, const struct promotion *h, uint32_t b)
{
	s->number[b] = s->low[b] = ++s->last;
	s->stack[s->depth++] = b;
	s->path[s->length++] = (struct visit){b, h->first_out[b]};
}

/* Pops the component that begins at block b off the stack; it is a loop when it has a cycle. */
static void component(struct promotion *h, struct search *s, uint32_t b)
{
	uint32_t at = s->depth, k;
	bool loop;

	do
		s->number[s->stack[--at]] = UINT32_MAX;
	while (s->stack[at] != b);
	loop = s->depth - at > 1;
	for (k = h->first_out[b]; k < h->first_out[b + 1]; k++)
		loop |= h->g->edge[k].dst == b && !h->cut[b];
	if (loop) {
		add_loop(h, s->stack + at, s->depth - at);
		for (k = at; k < s->depth; k++)
			h->cut_next[s->stack[k]] |= entered(h, s->stack[k]);
		h->found = true;
	}
	s->depth = at;
}

static void search_from(struct promotion *h, struct search *s, uint32_t root)
{
	struct visit *v;
	uint32_t b, to;

	visit(s, h, root);
	while (s->length) {
		v = &s->path[s->length - 1];
		b = v->block;
		if (v->edge < h->first_out[b + 1]) {
			to = h->g->edge[v->edge++].dst;
			if (h->touched[to] == REGS_ALL || h->cut[to])
				continue;
			if (!s->number[to])
				visit(s, h, to);
			else if (on_stack(s, to) && s->number[to] < s->low[b])
				s->low[b] = s->number[to];
			continue;
		}
		s->length--;
		if (s->length && s->low[b] < s->low[s->path[s->length - 1].block])
			s->low[s->path[s->length - 1].block] = s->low[b];
		if (s->low[b] == s->number[b])
			component(h, s, b);
	}
}

/*
 * Finds loops in which counters can be promoted, and the loops nested in them: what is still cyclic
 * without the edges to their headers (Steensgaard, "Sequentializing program dependence graphs for
 * irreducible programs", 1993).
 */
static void find_loops(struct promotion *h)
{
	uint32_t n = h->g->nblock, b, depth;
	struct search s = {.number = arena_array(h->scratch, n, sizeof *s.number),
	    .low = arena_array(h->scratch, n, sizeof *s.low),
	    .stack = arena_array(h->scratch, n, sizeof *s.stack),
	    .path = arena_array(h->scratch, n, sizeof *s.path)};

	h->cut = arena_array(h->scratch, n, 1);
	h->cut_next = arena_array(h->scratch, n, 1);
	for (depth = 0; depth < DEPTH; depth++) {
		h->found = false;
		memset(s.number, 0, n * sizeof *s.number);
		for (b = 0; b < n; b++)
			if (!s.number[b] && h->touched[b] != REGS_ALL)
				search_from(h, &s, b);
		if (!h->found)
			break;
		memcpy(h->cut, h->cut_next, n);
	}
}

/* ---- counters ---- */

struct candidate {
	uint32_t counter, block, other; /* the blocks in which it must be promoted */
	double weight;                  /* what it costs in memory */
	bool dear;
};

static int heaviest_first(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->counter < b->counter ? -1 : a->counter > b->counter;
}

/* Counter k, if it is at a head or on an edge; false for others. */
static bool candidate(const struct promotion *h, uint32_t k, struct candidate *c)
{
	struct probe at = probe_site(h->g, h->p->site[k]);
	const struct cfg_edge *e;

	if (at.at == PROBE_END)
		return false;
	*c = (struct candidate){.counter = k, .block = at.index, .other = at.index};
	if (at.at == PROBE_EDGE) {
		e = &h->g->edge[at.index];
		c->block = e->src;
		c->other = e->dst;
	}
	c->weight = at.at == PROBE_EDGE ? h->w.edge[at.index] : h->w.block[at.index];
	if (h->flags[c->other])
		c->weight *= COST_FLAGS;
	return true;
}

/* Registers of a loop that hold nothing in any of its blocks. */
static uint16_t left_in(const struct loop *l, const uint16_t *taken)
{
	uint16_t mask = l->spare;
	uint32_t i;

	for (i = 0; i < l->n; i++)
		mask &= (uint16_t)~taken[l->block[i]];
	return mask;
}

/* Is block b in loop number l? */
static bool contains(const struct promotion *h, uint32_t l, uint32_t b)
{
	uint32_t i;

	for (i = h->first_of[b]; i < h->first_of[b + 1]; i++)
		if (h->of[i] == l)
			return true;
	return false;
}

static const struct loop *best_loop(
    const struct promotion *h, const struct candidate *c, const uint16_t *taken)
{
	const struct loop *l, *best = NULL;
	uint32_t i;

	for (i = h->first_of[c->block]; i < h->first_of[c->block + 1]; i++) {
		l = &h->loop.v[h->of[i]];
		if (c->weight * (1 - COST_PROMOTED) < CLEARLY * l->cost ||
		    (best && l->cost >= best->cost))
			continue;
		if (contains(h, h->of[i], c->other) && left_in(l, taken))
			best = l;
	}
	return best;
}

static void promote(
    struct promotion *h, const struct candidate *c, const struct loop *l, uint16_t *taken)
{
	struct probe_promoted *promoted = &h->p->promoted[h->p->npromoted++];
	uint32_t i;

	*promoted = (struct probe_promoted){
	    c->counter, (uint8_t)__builtin_ctz(left_in(l, taken)), l->block, l->n};
	for (i = 0; i < l->n; i++)
		taken[l->block[i]] |= (uint16_t)(1 << promoted->reg);
}

static void choose(struct promotion *h)
{
	struct probes *p = h->p;
	uint32_t n = p->pairs.njump ? p->pairs.first : p->n, ncand = 0, k;
	struct candidate *c = arena_array(h->scratch, n, sizeof *c);
	uint16_t *taken = arena_array(h->scratch, h->g->nblock, sizeof *taken);
	const struct loop *l;

	for (k = 0; k < n; k++)
		ncand += candidate(h, k, &c[ncand]);
	if (ncand)
		qsort(c, ncand, sizeof *c, heaviest_first);
	p->promoted = arena_array(h->mem, ncand, sizeof *p->promoted);
	for (k = 0; k < ncand; k++) {
		l = best_loop(h, &c[k], taken);
		if (l)
			promote(h, &c[k], l, taken);
	}
}

void counters_promote(const struct regs *r, const struct func *f, const struct probe_want *want,
    struct probes *p, struct arena *a)
{
	struct arena scratch = {0};
	struct promotion h = {.r = r,
	    .u = r->u,
	    .f = f,
	    .g = &f->pub->cfg,
	    .p = p,
	    .mem = a,
	    .scratch = &scratch,
	    .flags = want->dear};
	uint32_t b;

	/* Most code uses %rax, and the code that saves flags uses it, too. */
	h.spare = regs_spare(r, f) & ~(1 << UR_AX | 1 << UR_SP);
	if (h.spare && p->n) {
		h.w = probes_weigh(h.g, want->weighed, &scratch);
		h.touched = arena_array(&scratch, h.g->nblock, sizeof *h.touched);
		h.mark = arena_array(&scratch, h.g->nblock, sizeof *h.mark);
		for (b = 0; b < h.g->nblock; b++)
			h.touched[b] = touched_by(&h, b);
		index_edges(&h);
		h.live = regs_live(r, f, &scratch);
		find_loops(&h);
		index_loops(&h);
		choose(&h);
		vec_free(&h.loop);
	}
	arena_free(&scratch);
}
