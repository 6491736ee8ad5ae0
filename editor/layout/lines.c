#include "editor/layout/lines.h"
#include "editor/layout/slots.h"
#include "editor/layout/runs.h"

#include <float.h>
#include <stdlib.h>

enum { LINE = 1 << LINES_ALIGN, EVEN = 2, TURNS = 3 };

/* Cost of a change of line, in taken jumps. */
static const double CHANGE_COST = 1;

/* Line changes in a run, by its offset in a line. */
struct changes {
	double n[LINE];
};

/* The flow between slots. */
struct flow {
	const struct cfg *g;
	const struct layout *l;
	uint32_t *primary; /* layout_primary() */
	double *count;     /* of each slot */
};

struct lines {
	struct runs run;
	VEC(struct changes) cost; /* of each run */
	double price;
};

static uint64_t line_of(uint64_t at)
{
	return at >> LINES_ALIGN;
}

/* Straight-line execution, n times, from one byte of the run to a later one, … */
static void run_through(struct changes *c, uint64_t from, uint64_t to, double n)
{
	uint32_t at;

	for (at = 0; at < LINE; at++)
		c->n[at] += n * (double)(line_of(at + to) - line_of(at + from));
}

/* … and n jumps: no change where both ends are in one line. */
static void go(struct changes *c, uint64_t from, uint64_t to, double n)
{
	uint32_t at;

	for (at = 0; at < LINE; at++)
		c->n[at] += line_of(at + to) == line_of(at + from) ? 0 : n;
}

/* Adds the line changes of the slots of a run. Jumps from and to other runs are left out: they
 * almost always change the line. */
static void count_changes(
    const struct flow *f, const struct relaxed *at, const struct run *r, struct changes *out)
{
	const uint64_t base = at->addr[r->first];
	const uint32_t *order = f->l->order;
	const struct cfg_block *b;
	const struct cfg_edge *e;
	uint32_t k, to;
	uint64_t last;

	for (k = r->first; k < r->end; k++) {
		b = &f->g->block[order[k]];
		if (!(f->count[k] > 0) || !b->count)
			continue;
		last = at->end[k] - (at->end[k] > at->addr[k]) - base;
		run_through(out, at->addr[k] - base, last, f->count[k]);
		e = f->g->edge + f->g->succ[order[k]];
		for (; e < f->g->edge + f->g->succ[order[k] + 1]; e++) {
			to = f->primary[e->dst];
			if (e->kind != EDGE_INDIRECT && k + 1 < r->end && order[k + 1] == e->dst)
				to = k + 1;
			if (to >= r->first && to < r->end)
				go(out, last, at->addr[to] - base,
				    f->count[k] / (double)b->count * (double)e->count);
		}
	}
}

static void read_layout(const struct cfg *g, const struct layout *l, const uint8_t *fixed,
    struct lines *s, struct arena *a)
{
	struct flow f = {
	    g, l, xcalloc(g->nblock, sizeof *f.primary), xcalloc(l->n, sizeof *f.count)};
	uint32_t i;

	runs_read(g, l, fixed, &s->run, a);
	layout_primary(g, l, f.primary);
	layout_flow(g, l, f.count);
	s->cost.n = 0;
	for (i = 0; i < s->run.v.n; i++) {
		vec_push(&s->cost, (struct changes){{0}});
		count_changes(&f, &s->run.at, &s->run.v.v[i], &s->cost.v[i]);
	}
	free(f.primary);
	free(f.count);
}

/* In taken jumps, of a run that begins at `at` after so many bytes of padding. */
static double run_cost(const struct lines *s, uint32_t i, uint64_t at, uint32_t padding)
{
	return CHANGE_COST * s->cost.v[i].n[at % LINE] + s->price * padding;
}

/* Of the function with its entry at `at`. */
static double cost(const struct lines *s, uint64_t at)
{
	double sum = 0;
	uint32_t i, n;

	for (i = 0; i < s->run.v.n; i++) {
		n = relax_padding(at, s->run.v.v[i].align);
		at += n;
		sum += run_cost(s, i, at, n);
		at += s->run.v.v[i].bytes;
	}
	return sum;
}

static double cost_anywhere(const struct lines *s)
{
	double sum = 0;
	uint64_t at;

	for (at = 0; at < LINE; at += EVEN)
		sum += cost(s, at);
	return sum * EVEN / LINE;
}

/* Padding before the entry, on average, in bytes. */
static double entry_bytes(uint32_t entry_offset)
{
	return LINE / 2. + entry_offset;
}

/* The cheapest way to begin a run at an offset in a line. */
struct arrival {
	uint8_t align, from; /* offset of the previous run */
};

/* One step of the dynamic program, from the costs by offset of run i − 1 to those of run i. */
static void step(
    const struct lines *s, uint32_t i, const double *before, double *best, struct arrival *arrival)
{
	static const uint8_t choice[] = {0, 3, 4, 5, 6};
	const struct run *r = &s->run.v.v[i];
	uint32_t from, c, n, end, to;
	uint8_t align;
	double sum;

	for (to = 0; to < LINE; to++)
		best[to] = DBL_MAX;
	for (from = 0; from < LINE; from++) {
		if (before[from] == DBL_MAX)
			continue;
		end = (uint32_t)((from + r[-1].bytes) % LINE);
		for (c = 0; c < (r->fixed ? 1 : sizeof choice); c++) {
			align = r->fixed ? r->align : choice[c];
			n = relax_padding(end, align);
			to = (end + n) % LINE;
			sum = before[from] + run_cost(s, i, to, n);
			if (sum < best[to]) {
				best[to] = sum;
				arrival[to] = (struct arrival){align, (uint8_t)from};
			}
		}
	}
}

/* Sets the alignments of all runs after the first; returns the best entry offset, a multiple of
 * `every`. */
static uint8_t solve(struct lines *s, uint32_t every)
{
	struct arrival *arrival = xcalloc(s->run.v.n * LINE, sizeof *arrival), *w;
	double best[2][LINE], *now = best[0], *next = best[1], *t;
	uint32_t i, to = 0;

	for (i = 0; i < LINE; i++)
		now[i] = i % every ? DBL_MAX : run_cost(s, 0, i, 0) + s->price * entry_bytes(i);
	for (i = 1; i < s->run.v.n; i++) {
		step(s, i, now, next, &arrival[i * LINE]);
		t = now;
		now = next;
		next = t;
	}
	for (i = 0; i < LINE; i++)
		if (now[i] < now[to])
			to = i;
	for (i = s->run.v.n; i-- > 1; to = w->from) {
		w = &arrival[i * LINE + to];
		s->run.v.v[i].align = w->align;
	}
	free(arrival);
	return (uint8_t)to;
}

bool lines_pad(const struct cfg *g, double price, uint8_t least, struct layout *l, struct arena *a)
{
	uint32_t every = least > 1 ? 1u << least : EVEN, turn;
	const uint8_t *fixed = l->align;
	struct lines s = {.price = price};
	struct layout now, from = *l;
	bool better = false;
	double min, is;

	read_layout(g, l, fixed, &s, a);
	min = cost_anywhere(&s);
	/* Padding makes jumps longer, so iterate. */
	for (turn = 0; turn < TURNS; turn++) {
		from.entry_offset = solve(&s, every);
		now = runs_padded(&s.run, &from, a);
		read_layout(g, &now, fixed, &s, a);
		is = cost(&s, now.entry_offset) + price * entry_bytes(now.entry_offset);
		if (is < min) {
			min = is;
			*l = now;
			better = true;
		}
	}
	vec_free(&s.run.v);
	vec_free(&s.cost);
	return better;
}
