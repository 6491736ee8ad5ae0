#include "editor/layout/spread.h"
#include "editor/layout/entropy.h"
#include "editor/layout/slots.h"
#include "editor/layout/runs.h"

#include <stdlib.h>

enum { LINE = 64, HALF_BIT = 5, CHOICES_MAX = 24, TURNS = 3 };

/* Cost in taken jumps of a bit of entropy where all of it lies on one side, times four: the cost is
 * quadratic in the imbalance. */
static const double SIDE_COST = 20;

/* Branch entropy of a run. */
struct run_entropy {
	double sum;
	double side[LINE]; /* by its offset in a line: entropy in the upper half − in the lower */
};

struct spread {
	struct runs run;
	VEC(struct run_entropy) entropy; /* of each run */
	uint32_t *choice;          /* the runs of largest entropy that may be padded */
	uint32_t nchoice;
	double sum, price;
};

static void add_jump(struct run_entropy *r, uint64_t offset, double entropy)
{
	uint32_t at;

	r->sum += entropy;
	for (at = 0; at < LINE; at++)
		r->side[at] += (at + offset) >> HALF_BIT & 1 ? entropy : -entropy;
}

/* With the alignments of l. */
static void read_layout(const struct cfg *g, const struct layout *l, const double *entropy,
    struct spread *s, struct arena *a)
{
	const struct relaxed *at = &s->run.at;
	const struct run *r;
	uint32_t k;

	runs_read(g, l, NULL, &s->run, a);
	s->entropy.n = 0;
	s->sum = 0;
	for (r = s->run.v.v; r < s->run.v.v + s->run.v.n; r++) {
		vec_push(&s->entropy, (struct run_entropy){0});
		for (k = r->first; k < r->end; k++)
			if (at->jump[k] != RELAX_NONE)
				add_jump(&s->entropy.v[s->entropy.n - 1],
				    at->jump[k] - at->addr[r->first], entropy[k]);
		s->sum += s->entropy.v[s->entropy.n - 1].sum;
	}
}

/* The cost of the imbalance and of the padding, with the entry at `at`. */
static double cost(const struct spread *s, uint64_t at)
{
	double side = 0, padding = 0;
	uint32_t i, n;

	for (i = 0; i < s->run.v.n; i++) {
		n = relax_padding(at, s->run.v.v[i].align);
		padding += n;
		at += n;
		side += s->entropy.v[i].side[at % LINE];
		at += s->run.v.v[i].bytes;
	}
	side /= 2 * s->sum;
	return SIDE_COST * s->sum * side * side + s->price * padding;
}

/* Expected cost with the entry on any even byte. */
static double cost_anywhere(const struct spread *s)
{
	enum { EVEN = 2, HALF = 1 << HALF_BIT };
	double sum = 0;
	uint64_t at;

	for (at = 0; at < HALF; at += EVEN)
		sum += cost(s, at);
	return sum * EVEN / HALF;
}

static int by_number(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* The runs of largest entropy except the first, which moves with the entry. In order, so that of
 * equal moves the first wins. */
static void choose(struct spread *s, struct arena *a)
{
	uint32_t i, k;

	s->choice = arena_array(a, CHOICES_MAX + 1, sizeof *s->choice);
	s->nchoice = 0;
	for (i = 1; i < s->run.v.n; i++) {
		for (k = s->nchoice; k && s->entropy.v[s->choice[k - 1]].sum < s->entropy.v[i].sum;
		     k--)
			s->choice[k] = s->choice[k - 1];
		s->choice[k] = i;
		s->nchoice += s->nchoice < CHOICES_MAX;
	}
	qsort(s->choice, s->nchoice, sizeof *s->choice, by_number);
}

/* Applies the alignment of one run that saves most; whether any does. */
static bool move(struct spread *s, double *least)
{
	static const uint8_t aligns[] = {0, 3, 4, 5};
	uint32_t c, w, run = 0;
	uint8_t was, to = 0;
	double now;

	for (c = 0; c < s->nchoice; c++) {
		was = s->run.v.v[s->choice[c]].align;
		for (w = 0; w < sizeof aligns; w++) {
			s->run.v.v[s->choice[c]].align = aligns[w];
			now = cost(s, 0);
			if (now < *least) {
				*least = now;
				run = s->choice[c];
				to = aligns[w];
			}
		}
		s->run.v.v[s->choice[c]].align = was;
	}
	if (run)
		s->run.v.v[run].align = to;
	return run;
}

static void settle(struct spread *s)
{
	enum { MOVES = 8 };
	double least = cost(s, 0);
	uint32_t i;

	for (i = 0; i < MOVES && move(s, &least); i++)
		;
}

/* Branch entropy by slot. */
static double *slot_entropy(const struct cfg *g, const struct layout *l, struct arena *a)
{
	double *entropy = arena_array(a, l->n, sizeof *entropy);
	double *count = xcalloc(l->n, sizeof *count), *block = xcalloc(g->nblock, sizeof *block);
	const struct cfg_block *b;
	uint32_t k;

	layout_flow(g, l, count);
	entropy_blocks(g, block);
	for (k = 0; k < l->n; k++) {
		b = &g->block[l->order[k]];
		if (b->count)
			entropy[k] = block[l->order[k]] * count[k] / (double)b->count;
	}
	free(count);
	free(block);
	return entropy;
}

/* l with the padding that balances the runs best. */
static struct layout padded(struct spread *s, const struct layout *l, struct arena *a)
{
	choose(s, a);
	settle(s);
	return runs_padded(&s->run, l, a);
}

bool spread_jumps(const struct cfg *g, double price, struct layout *l, struct arena *a)
{
	enum { ENTRY = 15 /* bytes of padding before it on average */ };
	const double *entropy = slot_entropy(g, l, a);
	struct spread s = {.price = price};
	struct layout now = *l;
	double least, is;
	uint32_t turn;
	bool spread = false;

	read_layout(g, l, entropy, &s, a);
	least = s.sum > 0 ? cost_anywhere(&s) - ENTRY * price : 0;
	for (turn = 0; turn < TURNS && s.sum > 0; turn++) {
		if (turn) {
			now = padded(&s, l, a);
			read_layout(g, &now, entropy, &s, a);
		}
		is = cost(&s, 0);
		if (is < least) {
			least = is;
			*l = now;
			spread = true;
		}
	}
	vec_free(&s.run.v);
	vec_free(&s.entropy);
	return spread;
}
