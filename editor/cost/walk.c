#include "common/random.h"
#include "editor/cost/frontend.h"

#include <stdbool.h>

enum { DEPTH = 64, SEED = 1997 };

/* Programs repeat themselves: the probability that a choice repeats the last one of the same block
 * or call. Independent choices would be as frequent, and miss an instruction cache three to five
 * times as often as real runs do (docs/notes/front-end.md). */
static const double AGAIN = 0.8;

/* Numbers to draw from in proportion to weights. */
struct urn {
	VEC(uint32_t) item;
	VEC(double) sum; /* of all weights up to this one */
};

struct frame {
	uint32_t block, call; /* the call to go on after */
};

struct walker {
	const struct fe_program *p;
	uint64_t random;
	double *entered;     /* by block, of entries: from other functions */
	double *share;       /* by call: of the block's executions so many call */
	struct urn start;    /* blocks, by executions */
	struct urn pointed;  /* entries that no known call explains, by how often */
	struct urn pointer;  /* calls through pointers, by executions */
	double through;      /* share of these entries that come from `pointer` */
	struct urn *callers; /* by block, of entries: the calls that lead there */
	struct frame stack[DEPTH];
	uint32_t depth, base; /* a ring: deeper entries are forgotten … */
	uint32_t forgotten;   /* … but their number is kept */
	bool rooted;          /* the walk saw the outside call what it is in */
	uint32_t *caller_of;  /* by call: its block */
	uint32_t *next;       /* by block: the last successor + 2, 1 = it left, 0 = none yet */
	uint32_t *callee;     /* by call through a pointer: the last callee + 1 */
};

/* ---- drawing ---- */

static double draw_unit(struct walker *w)
{
	return (double)(random_next(&w->random) >> 11) * 0x1p-53;
}

static bool draw_chance(struct walker *w, double p)
{
	return p >= 1 || (p > 0 && draw_unit(w) < p);
}

static double urn_total(const struct urn *u)
{
	return u->sum.n ? u->sum.v[u->sum.n - 1] : 0;
}

static void urn_add(struct urn *u, uint32_t item, double weight)
{
	if (!(weight > 0))
		return;
	weight += urn_total(u);
	vec_push(&u->item, item);
	vec_push(&u->sum, weight);
}

static uint32_t urn_draw(struct walker *w, const struct urn *u)
{
	double x = draw_unit(w) * urn_total(u);
	size_t lo = 0, hi = u->sum.n - 1, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (u->sum.v[mid] <= x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return u->item.v[lo];
}

static void urn_free(struct urn *u)
{
	vec_free(&u->item);
	vec_free(&u->sum);
}

/* ---- call counts ---- */

static void count_entries(struct walker *w)
{
	const struct fe_program *p = w->p;
	uint32_t n = (uint32_t)p->block.n - 1, b;
	const struct fe_edge *e;

	for (b = 0; b < n; b++)
		w->entered[b] = p->block.v[b].entry == b ? p->block.v[b].count : 0;
	for (e = p->edge.v; e < p->edge.v + p->edge.n; e++)
		w->entered[e->dst] -= e->count;
	for (b = 0; b < n; b++)
		w->entered[b] = w->entered[b] > 0 ? w->entered[b] : 0;
}

/* A callee cannot be called more often than it is entered: conditional tail calls, and errors of
 * counts, are clamped. Entries that exceed its known calls come through pointers or from outside.
 * */
static void explain_entries(struct walker *w)
{
	const struct fe_program *p = w->p;
	uint32_t n = (uint32_t)p->block.n - 1, b, c;
	double *calls = xcalloc(n, sizeof *calls);

	for (b = 0; b < n; b++)
		for (c = p->block.v[b].call; c < p->block.v[b + 1].call; c++) {
			w->caller_of[c] = b;
			if (p->call.v[c].entry != FE_NONE)
				calls[p->call.v[c].entry] += p->block.v[b].count;
		}
	for (c = 0; c < p->call.n; c++) {
		b = p->call.v[c].entry;
		if (b == FE_NONE) {
			urn_add(&w->pointer, c, p->block.v[w->caller_of[c]].count);
			continue;
		}
		w->share[c] = calls[b] > w->entered[b] ? w->entered[b] / calls[b] : 1;
		urn_add(&w->callers[b], c, w->share[c] * p->block.v[w->caller_of[c]].count);
	}
	for (b = 0; b < n; b++)
		urn_add(&w->pointed, b, w->entered[b] - calls[b]);
	free(calls);
}

static void share_pointers(struct walker *w)
{
	double calls = urn_total(&w->pointer), entries = urn_total(&w->pointed);
	uint32_t c;

	w->through = calls < entries ? calls / entries : 1;
	for (c = 0; c < w->p->call.n; c++)
		if (w->p->call.v[c].entry == FE_NONE && calls > 0)
			w->share[c] = calls > entries ? entries / calls : 1;
}

/* ---- steps ---- */

static void push(struct walker *w, struct frame f)
{
	w->stack[(w->base + w->depth) % DEPTH] = f;
	if (w->depth < DEPTH) {
		w->depth++;
	} else {
		w->base = (w->base + 1) % DEPTH;
		w->forgotten++;
	}
}

/* Where a function of this entry returns to when the walk did not see the call, or forgot it;
 * false: to the outside. */
static bool guess_caller(struct walker *w, uint32_t entry, struct frame *f)
{
	const struct urn *known = &w->callers[entry];
	bool sure = w->forgotten > 0;
	uint32_t c;

	if (known->sum.n && (sure || draw_chance(w, urn_total(known) / w->entered[entry])))
		c = urn_draw(w, known);
	else if (w->pointer.sum.n && (sure || draw_chance(w, w->through)))
		c = urn_draw(w, &w->pointer);
	else
		return false;
	w->forgotten -= sure;
	*f = (struct frame){w->caller_of[c], c};
	return true;
}

static bool leave(struct walker *w, uint32_t b, struct frame *f)
{
	const struct fe_block *k = &w->p->block.v[b];

	if (k->flags & BLK_NORETURN)
		return false;
	if (!w->depth)
		return (w->forgotten || !w->rooted) && guess_caller(w, k->entry, f);
	w->depth--;
	*f = w->stack[(w->base + w->depth) % DEPTH];
	return true;
}

/* What the outside calls next; where pointers explain all such entries only functions that are
 * never called are left, and the walk restarts anywhere. */
static uint32_t from_outside(struct walker *w)
{
	w->depth = w->forgotten = 0;
	w->rooted = w->pointed.sum.n && !draw_chance(w, w->through);
	return urn_draw(w, w->rooted ? &w->pointed : &w->start);
}

/* A block's successor, or FE_NONE when control leaves its function. */
static uint32_t draw_next(struct walker *w, uint32_t b)
{
	const struct fe_block *k = &w->p->block.v[b];
	double sum = 0, x;
	uint32_t e;

	for (e = k[0].edge; e < k[1].edge; e++)
		sum += w->p->edge.v[e].count;
	if (!(sum > 0))
		return FE_NONE;
	x = draw_unit(w) * (k->flags & BLK_EXIT && k->count > sum ? k->count : sum);
	for (e = k[0].edge; e < k[1].edge; e++) {
		x -= w->p->edge.v[e].count;
		if (x < 0)
			return w->p->edge.v[e].dst;
	}
	return FE_NONE;
}

static uint32_t next_block(struct walker *w, uint32_t b)
{
	if (!w->next[b] || !draw_chance(w, AGAIN))
		w->next[b] = draw_next(w, b) + 2;
	return w->next[b] - 2;
}

/* The callee of a call, or FE_NONE. What is being executed is not called through a pointer: main
 * would recurse for ever. */
static uint32_t draw_callee(struct walker *w, uint32_t b, uint32_t c)
{
	uint32_t entry = w->p->call.v[c].entry, i;

	if (entry != FE_NONE)
		return entry;
	if (!w->callee[c] || !draw_chance(w, AGAIN))
		w->callee[c] = urn_draw(w, &w->pointed) + 1;
	entry = w->callee[c] - 1;
	for (i = 0; i < w->depth; i++)
		if (w->p->block.v[w->stack[(w->base + i) % DEPTH].block].entry == entry)
			return FE_NONE;
	return w->p->block.v[b].entry == entry ? FE_NONE : entry;
}

/* The first of the calls [c, …) of a block that is made. */
static bool draw_call(struct walker *w, uint32_t b, uint32_t c, uint32_t *callee)
{
	for (; c < w->p->block.v[b + 1].call; c++) {
		if (!draw_chance(w, w->share[c]))
			continue;
		*callee = draw_callee(w, b, c);
		if (*callee == FE_NONE)
			continue;
		push(w, (struct frame){b, c});
		return true;
	}
	return false;
}

static void walk(struct walker *w, uint32_t steps, struct fe_walk *out)
{
	uint32_t b = urn_draw(w, &w->start), c = w->p->block.v[b].call, back = 0, next;
	struct frame f;

	w->depth = w->forgotten = 0;
	w->rooted = false;
	for (; steps; steps--) {
		vec_push(&out->step, b | back);
		back = 0;
		if (!draw_call(w, b, c, &next)) {
			next = next_block(w, b);
			if (next == FE_NONE && leave(w, b, &f)) {
				next = f.block;
				back = FE_RETURN;
			} else if (next == FE_NONE) {
				next = from_outside(w);
			}
		}
		b = next;
		c = back ? f.call + 1 : w->p->block.v[b].call;
	}
}

void fe_walk(const struct fe_program *p, struct fe_walk *out)
{
	uint32_t n = p->block.n ? (uint32_t)p->block.n - 1 : 0, b, k;
	struct walker w = {.p = p, .random = SEED};

	*out = (struct fe_walk){{0}};
	for (b = 0; b < n; b++)
		urn_add(&w.start, b, p->block.v[b].count);
	if (!w.start.sum.n)
		goto out;
	w.share = xcalloc(p->call.n, sizeof *w.share);
	w.caller_of = xcalloc(p->call.n, sizeof *w.caller_of);
	w.callers = xcalloc(n, sizeof *w.callers);
	w.next = xcalloc(n, sizeof *w.next);
	w.callee = xcalloc(p->call.n, sizeof *w.callee);
	w.entered = xcalloc(n, sizeof *w.entered);
	count_entries(&w);
	explain_entries(&w);
	share_pointers(&w);
	for (k = 0; k < FE_SEGMENTS; k++)
		walk(&w, FE_STEPS / FE_SEGMENTS, out);
	for (b = 0; b < n; b++)
		urn_free(&w.callers[b]);
	free(w.callers);
	free(w.next);
	free(w.callee);
	free(w.caller_of);
	free(w.entered);
	free(w.share);
out:
	urn_free(&w.start);
	urn_free(&w.pointed);
	urn_free(&w.pointer);
}
