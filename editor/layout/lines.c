#include "editor/layout/lines.h"
#include "editor/layout/relax.h"
#include "editor/layout/slots.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1 << LINES_ALIGN, EVEN = 2, TURNS = 3 };

/* A fallthrough run of the hot slots: nothing falls through into it, so padding before it costs
 * only its bytes. */
struct run {
	uint32_t first, end; /* slots first … end − 1 */
	uint64_t bytes;
	uint8_t align;     /* log2, of its first slot; 0 for the run at the entry */
	double cost[LINE]; /* line changes in it, by its offset in a line */
};

/* The flow between slots. */
struct flow {
	const struct cfg *g;
	const struct layout *l;
	uint32_t *primary; /* layout_primary() */
	double *count;     /* of each slot */
};

struct lines {
	VEC(struct run) run;
	double price;
};

static uint64_t line_of(uint64_t at)
{
	return at >> LINES_ALIGN;
}

/* Straight-line execution, n times, from one byte of the run to a later one, … */
static void run_through(struct run *r, uint64_t from, uint64_t to, double n)
{
	uint32_t at;

	for (at = 0; at < LINE; at++)
		r->cost[at] += n * (double)(line_of(at + to) - line_of(at + from));
}

/* … and n jumps: no change where both ends are in one line. */
static void go(struct run *r, uint64_t from, uint64_t to, double n)
{
	uint32_t at;

	for (at = 0; at < LINE; at++)
		r->cost[at] += line_of(at + to) == line_of(at + from) ? 0 : n;
}

/* Adds the line changes of the slots of a run. Jumps from and to other runs are left out: they
 * almost always change the line. */
static void count_changes(const struct flow *f, const struct relaxed *at, struct run *r)
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
		run_through(r, at->addr[k] - base, last, f->count[k]);
		e = f->g->edge + f->g->succ[order[k]];
		for (; e < f->g->edge + f->g->succ[order[k] + 1]; e++) {
			to = f->primary[e->dst];
			if (edge_direct(e->kind) && k + 1 < r->end && order[k + 1] == e->dst)
				to = k + 1;
			if (to >= r->first && to < r->end)
				go(r, last, at->addr[to] - base,
				    f->count[k] / (double)b->count * (double)e->count);
		}
	}
}

/* Reads l as the assembler lays it out. */
static void read_layout(
    const struct cfg *g, const struct layout *l, struct lines *s, struct arena *a)
{
	struct flow f = {
	    g, l, xcalloc(g->nblock, sizeof *f.primary), xcalloc(l->n, sizeof *f.count)};
	struct relaxed at;
	uint64_t count;
	struct run *r;
	uint32_t k;

	relax_slots(g, l, &at, a);
	layout_primary(g, l, f.primary);
	layout_flow(g, l, f.count);
	s->run.n = 0;
	for (k = 0; k < l->nhot; k++) {
		if (!k || !layout_falls(g, l, k - 1, &count))
			vec_push(&s->run,
			    (struct run){.first = k, .align = k && l->align ? l->align[k] : 0});
		r = &s->run.v[s->run.n - 1];
		r->end = k + 1;
		r->bytes = at.end[k] - at.addr[r->first];
	}
	for (r = s->run.v; r < s->run.v + s->run.n; r++)
		count_changes(&f, &at, r);
	free(f.primary);
	free(f.count);
}

/* l with the present alignments of the runs; the lengths of its jumps are not updated. */
static struct layout padded(const struct lines *s, const struct layout *l, struct arena *a)
{
	struct layout out = *l;
	uint32_t i;

	out.align = arena_array(a, l->n, sizeof *out.align);
	for (i = 1; i < s->run.n; i++)
		out.align[s->run.v[i].first] = s->run.v[i].align;
	return out;
}

/* In taken jumps, of a run that begins at `at` after so many bytes of padding. */
static double run_cost(const struct lines *s, uint32_t i, uint64_t at, uint32_t padding)
{
	return s->run.v[i].cost[at % LINE] + s->price * padding;
}

/* Of the function with its entry at `at`. */
static double cost(const struct lines *s, uint64_t at)
{
	double sum = 0;
	uint32_t i, n;

	for (i = 0; i < s->run.n; i++) {
		n = relax_padding(at, s->run.v[i].align);
		at += n;
		sum += run_cost(s, i, at, n);
		at += s->run.v[i].bytes;
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
	const struct run *r = &s->run.v[i];
	uint32_t from, c, n, end, to;
	uint8_t align;
	double sum;

	for (to = 0; to < LINE; to++)
		best[to] = DBL_MAX;
	for (from = 0; from < LINE; from++) {
		if (before[from] == DBL_MAX)
			continue;
		end = (uint32_t)((from + r[-1].bytes) % LINE);
		for (c = 0; c < sizeof choice; c++) {
			align = choice[c];
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

/* Sets the alignments of all runs after the first; returns the best entry offset. */
static uint8_t solve(struct lines *s)
{
	struct arrival *arrival = xcalloc(s->run.n * LINE, sizeof *arrival), *w;
	double best[2][LINE], *now = best[0], *next = best[1], *t;
	uint32_t i, to = 0;

	for (i = 0; i < LINE; i++)
		now[i] = i % EVEN ? DBL_MAX : run_cost(s, 0, i, 0) + s->price * entry_bytes(i);
	for (i = 1; i < s->run.n; i++) {
		step(s, i, now, next, &arrival[i * LINE]);
		t = now;
		now = next;
		next = t;
	}
	for (i = 0; i < LINE; i++)
		if (now[i] < now[to])
			to = i;
	for (i = s->run.n; i-- > 1; to = w->from) {
		w = &arrival[i * LINE + to];
		s->run.v[i].align = w->align;
	}
	free(arrival);
	return (uint8_t)to;
}

void lines_pad(const struct cfg *g, double price, struct layout *l, struct arena *a)
{
	struct layout now, from = *l;
	struct lines s = {.price = price};
	double min, is;
	uint32_t turn;

	read_layout(g, l, &s, a);
	min = cost_anywhere(&s);
	/* Padding makes jumps longer, so iterate. */
	for (turn = 0; turn < TURNS; turn++) {
		from.entry_offset = solve(&s);
		now = padded(&s, &from, a);
		read_layout(g, &now, &s, a);
		is = cost(&s, now.entry_offset) + price * entry_bytes(now.entry_offset);
		if (is < min) {
			min = is;
			*l = now;
			l->entry_align = LINES_ALIGN;
		}
	}
	vec_free(&s.run);
}
