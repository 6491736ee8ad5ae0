#include "editor/spread.h"
#include "editor/hard.h"
#include "editor/layout_parts.h"
#include "editor/relax.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64, HALF_BIT = 5, CHOICES_MAX = 24, TURNS = 3 };

/* Taken jumps that cost as much as a bit where all hard jumps lie on one side,
 * four times over: it goes by the square of how far they are from even. */
static const double WORTH = 20;

/* Places that follow each other by falling: they move together. */
struct run {
	uint32_t first; /* place */
	uint64_t bytes;
	double hard;
	double side[LINE]; /* by where in a line it begins: hard jumps in the upper half − lower */
};

struct runs {
	VEC(struct run) run;
	uint32_t *choice; /* the hardest runs that may be padded */
	uint32_t nchoice;
	uint8_t *align; /* of each run, log2 */
	double hard, price;
};

static void add_jump(struct run *r, uint64_t offset, double hard)
{
	uint32_t at;

	r->hard += hard;
	for (at = 0; at < LINE; at++)
		r->side[at] += (at + offset) >> HALF_BIT & 1 ? hard : -hard;
}

static void make_runs(const struct cfg *g, const struct layout *l, const struct relaxed *at,
    const double *hard, struct runs *s)
{
	uint32_t *edges = layout_edges(g), k;
	struct run *r = NULL;
	uint64_t count;

	s->run.n = 0;
	s->hard = 0;
	for (k = 0; k < l->nhot; k++) {
		if (!k || !layout_falls(g, l, edges, k - 1, &count)) {
			vec_push(&s->run, (struct run){.first = k});
			r = &s->run.v[s->run.n - 1];
		}
		if (at->jump[k] != RELAX_NONE)
			add_jump(r, at->jump[k] - at->addr[r->first], hard[k]);
		r->bytes = at->end[k] - at->addr[r->first];
	}
	for (r = s->run.v; r < s->run.v + s->run.n; r++)
		s->hard += r->hard;
	free(edges);
}

/* What lies on one side alone costs, and the padding; with the entry at `at`. */
static double cost(const struct runs *s, uint64_t at)
{
	double side = 0, padding = 0;
	uint32_t i, n;

	for (i = 0; i < s->run.n; i++) {
		n = relax_padding(at, s->align[i]);
		padding += n;
		at += n;
		side += s->run.v[i].side[at % LINE];
		at += s->run.v[i].bytes;
	}
	side /= 2 * s->hard;
	return WORTH * s->hard * side * side + s->price * padding;
}

/* Of the function as it is, where its entry lies on any even byte. */
static double cost_anywhere(const struct runs *s)
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

/* The hardest runs but the first, which stays where the entry is; of moves that save as
 * much the foremost is made, so by number. */
static void choose(struct runs *s, struct arena *a)
{
	uint32_t i, k;

	s->choice = arena_array(a, CHOICES_MAX + 1, sizeof *s->choice);
	s->nchoice = 0;
	for (i = 1; i < s->run.n; i++) {
		for (k = s->nchoice; k && s->run.v[s->choice[k - 1]].hard < s->run.v[i].hard; k--)
			s->choice[k] = s->choice[k - 1];
		s->choice[k] = i;
		s->nchoice += s->nchoice < CHOICES_MAX;
	}
	qsort(s->choice, s->nchoice, sizeof *s->choice, by_number);
}

/* The run and alignment that save most; whether any does. */
static bool move(struct runs *s, double *least)
{
	static const uint8_t way[] = {0, 3, 4, 5};
	uint32_t c, w, run = 0;
	uint8_t was, to = 0;
	double now;

	for (c = 0; c < s->nchoice; c++) {
		was = s->align[s->choice[c]];
		for (w = 0; w < sizeof way; w++) {
			s->align[s->choice[c]] = way[w];
			now = cost(s, 0);
			if (now < *least) {
				*least = now;
				run = s->choice[c];
				to = way[w];
			}
		}
		s->align[s->choice[c]] = was;
	}
	if (run)
		s->align[run] = to;
	return run;
}

static void settle(struct runs *s)
{
	enum { MOVES = 8 };
	double least = cost(s, 0);
	uint32_t i;

	for (i = 0; i < MOVES && move(s, &least); i++)
		;
}

/* How hard the jump at each place is. */
static double *hard_places(const struct cfg *g, const struct layout *l, struct arena *a)
{
	double *hard = arena_array(a, l->n, sizeof *hard);
	double *count = xcalloc(l->n, sizeof *count), *block = xcalloc(g->nblock, sizeof *block);
	const struct cfg_block *b;
	uint32_t k;

	layout_flow(g, l, count);
	hard_blocks(g, block);
	for (k = 0; k < l->n; k++) {
		b = &g->block[l->order[k]];
		if (b->count)
			hard[k] = block[l->order[k]] * count[k] / (double)b->count;
	}
	free(count);
	free(block);
	return hard;
}

/* With the alignment that l has. */
static void read_layout(const struct cfg *g, const struct layout *l, const double *hard,
    struct runs *s, struct arena *a)
{
	struct relaxed at;
	uint32_t k;

	relax_places(g, l, &at, a);
	make_runs(g, l, &at, hard, s);
	s->align = arena_array(a, s->run.n, sizeof *s->align);
	for (k = 0; l->align && k < s->run.n; k++)
		s->align[k] = l->align[s->run.v[k].first];
}

/* l, padded where that makes the runs lie best; how long jumps are then is not known yet. */
static struct layout padded(struct runs *s, const struct layout *l, struct arena *a)
{
	struct layout out = *l;
	uint32_t k;

	choose(s, a);
	settle(s);
	out.align = arena_array(a, l->n, sizeof *out.align);
	if (l->align)
		memcpy(out.align, l->align, l->n);
	for (k = 1; k < s->run.n; k++)
		out.align[s->run.v[k].first] = s->align[k];
	return out;
}

bool spread_jumps(const struct cfg *g, double price, struct layout *l, struct arena *a)
{
	enum { ENTRY = 15 /* bytes in front of it, in the mean */ };
	const double *hard = hard_places(g, l, a);
	struct runs s = {.price = price};
	struct layout now = *l;
	double least, is;
	uint32_t turn;
	bool spread = false;

	read_layout(g, l, hard, &s, a);
	least = s.hard > 0 ? cost_anywhere(&s) - ENTRY * price : 0;
	for (turn = 0; turn < TURNS && s.hard > 0; turn++) {
		if (turn) {
			now = padded(&s, l, a);
			read_layout(g, &now, hard, &s, a);
		}
		is = cost(&s, 0);
		if (is < least) {
			least = is;
			*l = now;
			spread = true;
		}
	}
	vec_free(&s.run);
	return spread;
}
