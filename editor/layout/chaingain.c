/*
 * The gain of merging two chains, over all merge types and splits. Sums over all jumps of a chain
 * are computed once per chain; what depends on the other chain is only bounded, which leaves few
 * splits to evaluate.
 */
#include "editor/layout/exttsp.h"
#include "editor/layout/chains.h"

enum {
	SPLIT_MAX = 128,     /* blocks of a chain that is split anywhere */
	DENSITY_RATIO = 100, /* of chains that are merged */
};
static const double ROUNDING = 1e-9; /* of the chains' score: no gain */

static inline double weight(double full, uint64_t from, uint64_t to)
{
	if (from == to)
		return full;
	if (from < to)
		return to - from < EXTTSP_FORWARD
			   ? EXTTSP_NEAR * (1 - (double)(to - from) / EXTTSP_FORWARD)
			   : 0;
	return from - to < EXTTSP_BACKWARD
		   ? EXTTSP_NEAR * (1 - (double)(from - to) / EXTTSP_BACKWARD)
		   : 0;
}

double exttsp_weight_at_0(const struct cfg_edge *e)
{
	if (!edge_direct(e->kind))
		return EXTTSP_NEAR;
	return e->kind == EDGE_FALL || e->kind == EDGE_JUMP ? 1.05 : 1;
}

double exttsp_weight(const struct cfg_edge *e, uint64_t from, uint64_t to)
{
	return weight(exttsp_weight_at_0(e), from, to);
}

/* ---- a chain's own jumps ---- */

/* The least loss by insertion: a jump no longer falls through. */
static inline double little_change(const struct jump *j)
{
	return j->was > EXTTSP_NEAR ? j->count * (EXTTSP_NEAR - j->was) : 0;
}

static inline double insert_change(const struct jump *j, uint64_t bytes)
{
	double gap = (double)(j->gap + bytes);

	return j->count * ((gap < j->reach ? EXTTSP_NEAR * (1 - gap / j->reach) : 0) - j->was);
}

/* The first of the two blocks moves after the second, in a chain of so many bytes. */
static inline double rotate_change(const struct jump *j, bool forward, uint64_t bytes)
{
	double is = forward ? weight(j->full, bytes, j->gap) : weight(j->full, j->gap, bytes);

	return j->count * (is - j->was);
}

/* Sets the jump's span in the chain, and its weight there. Is it forward? */
static inline bool set_span(struct tsp *t, const struct chain *x, struct jump *j)
{
	const struct spot *src = &t->spot[j->src], *dst = &t->spot[j->dst];
	bool forward = src->index < dst->index;
	uint32_t first = forward ? src->index : dst->index;
	uint32_t after = (forward ? dst->index : src->index) + 1;
	uint64_t from = src->pos + src->bytes;

	j->begin = x->blk[first + 1];
	j->after = after < x->n ? x->blk[after] : EXTTSP_NO_BLOCK;
	j->reach = forward ? EXTTSP_FORWARD : EXTTSP_BACKWARD;
	j->gap = forward ? dst->pos - from : from - dst->pos;
	j->was = weight(j->full, from, dst->pos);
	return forward;
}

static void add_jump(struct tsp *t, struct chain *x, struct jump *j)
{
	bool forward = set_span(t, x, j);
	double little = little_change(j), much = j->count * j->was;
	double rotate = rotate_change(j, forward, x->bytes);
	struct change *c = &t->change[j->begin];

	x->score += much;
	c->little += little;
	c->much -= much;
	c->rotate += rotate;
	if (j->after == EXTTSP_NO_BLOCK)
		return;
	c = &t->change[j->after];
	c->little -= little;
	c->much += much;
	c->rotate -= rotate;
}

static void keep_most(struct change *most, const struct change *c)
{
	most->little = c->little > most->little ? c->little : most->little;
	most->much = c->much > most->much ? c->much : most->much;
	most->rotate = c->rotate > most->rotate ? c->rotate : most->rotate;
}

/* What does not depend on the other chain. */
static void learn(struct tsp *t, struct chain *x)
{
	struct change *c, *last;
	uint32_t k;
	int32_t i;

	if (x->known)
		return;
	x->known = true;
	x->score = 0;
	x->inserted = 0;
	for (k = 0; k < x->n; k++)
		t->change[x->blk[k]] = (struct change){0};
	for (i = x->jumps.first; i != EXTTSP_NONE; i = t->jump[i].next)
		add_jump(t, x, &t->jump[i]);
	x->most = (struct change){0, -x->score, -x->score, -x->score};
	last = &t->change[x->blk[0]];
	for (k = 1; k < x->n; k++, last = c) {
		c = &t->change[x->blk[k]];
		c->little += last->little;
		c->much += last->much;
		c->rotate += last->rotate;
		keep_most(&x->most, c);
	}
}

/* Updates insert for so many bytes, more than 0. */
static void insert(struct tsp *t, struct chain *x, uint64_t bytes)
{
	const struct jump *j;
	double change, sum = 0;
	uint32_t k;
	int32_t i;

	if (x->inserted == bytes)
		return;
	x->inserted = bytes;
	for (k = 1; k < x->n; k++)
		t->change[x->blk[k]].insert = 0;
	for (i = x->jumps.first; i != EXTTSP_NONE; i = j->next) {
		j = &t->jump[i];
		change = insert_change(j, bytes);
		t->change[j->begin].insert += change;
		if (j->after != EXTTSP_NO_BLOCK)
			t->change[j->after].insert -= change;
	}
	for (k = 1; k < x->n; k++)
		t->change[x->blk[k]].insert = sum += t->change[x->blk[k]].insert;
}

/* ---- the jumps between two chains ---- */

/* How far the three parts move when chain x, split before its block number
 * split, is merged with y. */
struct shifts {
	uint64_t x1, x2, y; /* added to positions; may wrap and unwrap */
	uint32_t split;
};

static struct shifts shifts_of(const struct tsp *t, const struct chain *x, const struct chain *y,
    uint32_t split, enum merge_type type)
{
	uint64_t cut = type == X_Y ? x->bytes : t->spot[x->blk[split]].pos;

	switch (type) {
	case X1_Y_X2:
		return (struct shifts){0, y->bytes, cut, split};
	case Y_X2_X1:
		return (struct shifts){y->bytes + x->bytes - cut, y->bytes - cut, 0, split};
	case X2_X1_Y:
		return (struct shifts){x->bytes - cut, -cut, x->bytes, split};
	default:
		return (struct shifts){0, 0, x->bytes, split};
	}
}

/* The weight of the link's jumps then; x is its chain number `side`. */
static double score_ties(const struct tie *v, uint32_t n, unsigned side, const struct shifts *by)
{
	const struct tie *end = v + n;
	uint64_t x, y;
	double sum = 0;

	for (; v < end; v++) {
		x = v->at[side] + (v->index[side] < by->split ? by->x1 : by->x2);
		y = v->at[!side] + by->y;
		sum +=
		    v->count * (v->forth == !side ? weight(v->full, x, y) : weight(v->full, y, x));
	}
	return sum;
}

static uint32_t find_ties(struct tsp *t, const struct link *l)
{
	const struct spot *src, *dst;
	const struct jump *j;
	struct tie *v = t->tie;
	int32_t i;

	for (i = l->jumps.first; i != EXTTSP_NONE; i = j->next, v++) {
		j = &t->jump[i];
		src = &t->spot[j->src];
		dst = &t->spot[j->dst];
		v->count = j->count;
		v->full = j->full;
		v->forth = src->chain == l->a;
		v->at[!v->forth] = src->pos + src->bytes;
		v->at[v->forth] = dst->pos;
		v->index[!v->forth] = src->index;
		v->index[v->forth] = dst->index;
	}
	return (uint32_t)(v - t->tie);
}

/* ---- merge types ---- */

struct trial {
	struct tsp *t;
	const struct link *l;
	uint32_t ntie; /* of t->tie */
	unsigned side; /* x is chain a of the link (0) or b (1) */
	uint32_t x, y; /* chains */
	struct chain *cx;
	const struct chain *cy;
	double part;           /* y's bytes, as share of those that leave no jump near */
	double rounding;       /* more than rounding errors of sums of weights */
	bool inserts, rotates; /* these types are possible */
	struct merge *best;
};

/* The entry block stays first. */
static bool legal(const struct chain *x, const struct chain *y, enum merge_type type)
{
	if (x->id == 0)
		return type == X_Y || type == X1_Y_X2;
	return y->id != 0 || type == Y_X2_X1;
}

/* The gain of the jumps between the chains by such a merge. */
static double between(const struct trial *r, uint32_t split, enum merge_type type)
{
	struct shifts by = shifts_of(r->t, r->cx, r->cy, split, type);

	return score_ties(r->t->tie, r->ntie, r->side, &by);
}

static void keep_best(const struct trial *r, double gain, uint32_t split, enum merge_type type)
{
	if (gain > r->best->gain)
		*r->best = (struct merge){gain, r->x, r->y, split, type};
}

/* At most this is left of x's own jumps when y is inserted at a split: each jump's loss is concave
 * in the bytes between, up to where none has weight. */
static double most_kept(const struct trial *r, const struct change *c)
{
	if (r->part >= 1)
		return c->much + r->rounding;
	return (r->part > 0 ? c->little + r->part * (c->much - c->little) : 0) + r->rounding;
}

static void try_insert(const struct trial *r, uint32_t split)
{
	const struct change *c = &r->t->change[r->cx->blk[split]];
	double gain = between(r, split, X1_Y_X2);

	if (gain + most_kept(r, c) <= r->best->gain)
		return;
	if (r->part >= 1) {
		gain += c->much;
	} else if (r->part > 0) {
		insert(r->t, r->cx, r->cy->bytes);
		gain += c->insert;
	}
	keep_best(r, gain, split, X1_Y_X2);
}

static void try_rotate(const struct trial *r, uint32_t split)
{
	double own = r->t->change[r->cx->blk[split]].rotate;

	if (legal(r->cx, r->cy, Y_X2_X1))
		keep_best(r, between(r, split, Y_X2_X1) + own, split, Y_X2_X1);
	if (legal(r->cx, r->cy, X2_X1_Y))
		keep_best(r, between(r, split, X2_X1_Y) + own, split, X2_X1_Y);
}

/* All splits before a block for which the jumps between the chains weigh at most `most`. */
static inline void try_split(const struct trial *r, uint32_t split, double most)
{
	const struct change *c = &r->t->change[r->cx->blk[split]];

	if (r->inserts && most + most_kept(r, c) > r->best->gain)
		try_insert(r, split);
	if (r->rotates && most + c->rotate > r->best->gain)
		try_rotate(r, split);
}

/* Splits that make a jump between the chains a fallthrough. */
static void try_attachments(const struct trial *r)
{
	double most = r->l->close + exttsp_falls(r->l);
	const struct tie *v, *end = r->t->tie + r->ntie;
	uint32_t x, y;

	for (v = r->t->tie; v < end; v++) {
		x = v->index[r->side];
		y = v->index[!r->side];
		if (v->forth == !r->side && !y && x + 1 < r->cx->n)
			try_split(r, x + 1, most);
		if (v->forth == r->side && y + 1 == r->cy->n && x > 0)
			try_split(r, x, most);
	}
}

/* All other splits only shorten the jumps between the chains. */
static void try_splits(struct trial *r)
{
	double close = r->l->close;
	uint32_t k;

	r->inserts = r->inserts && close + most_kept(r, &r->cx->most) > r->best->gain;
	r->rotates = r->rotates && close + r->cx->most.rotate > r->best->gain;
	for (k = 1; (r->inserts || r->rotates) && k < r->cx->n; k++)
		try_split(r, k, close);
}

static void try_chain(struct trial *r, unsigned side)
{
	const struct link *l = r->l;

	r->side = side;
	r->x = side ? l->b : l->a;
	r->y = side ? l->a : l->b;
	r->cx = &r->t->chain[r->x];
	r->cy = &r->t->chain[r->y];
	r->part = (double)r->cy->bytes / EXTTSP_FORWARD;
	r->inserts = legal(r->cx, r->cy, X1_Y_X2);
	r->rotates = legal(r->cx, r->cy, Y_X2_X1);
	if (legal(r->cx, r->cy, X_Y))
		keep_best(r, between(r, r->cx->n, X_Y), r->cx->n, X_Y);
	try_attachments(r);
	if (r->cx->n <= SPLIT_MAX)
		try_splits(r);
}

static double rounding_of(const struct tsp *t, const struct link *l)
{
	return ROUNDING * (t->chain[l->a].score + t->chain[l->b].score);
}

void exttsp_evaluate(struct tsp *t, struct link *l)
{
	struct trial r = {.t = t,
	    .l = l,
	    .ntie = find_ties(t, l),
	    .rounding = rounding_of(t, l),
	    .best = &l->best};

	l->state = EXACT;
	l->best = (struct merge){.gain = r.rounding};
	try_chain(&r, 0);
	try_chain(&r, 1);
}

/* ---- bounds ---- */

static bool mergeable(const struct chain *a, const struct chain *b)
{
	double da = a->count / (double)(a->bytes + 1), db = b->count / (double)(b->bytes + 1);

	return a->n + b->n <= EXTTSP_CHAIN_MAX && da <= DENSITY_RATIO * db &&
	       db <= DENSITY_RATIO * da;
}

/* The most that jump j from chain x to y weighs as a near jump. One of the chains stays whole: what
 * lies between the jump's block and the end or the beginning of that chain lies between the two
 * blocks. */
static double close_weight(
    const struct tsp *t, const struct jump *j, const struct chain *x, const struct chain *y)
{
	uint64_t to = t->spot[j->dst].pos, to_end = y->bytes - to;
	uint64_t from = t->spot[j->src].pos + t->spot[j->src].bytes, from_end = x->bytes - from;
	double ahead = weight(EXTTSP_NEAR, 0, from_end < to ? from_end : to);
	double back = weight(EXTTSP_NEAR, from < to_end ? from : to_end, 0);

	return j->count * (ahead > back ? ahead : back);
}

static double falling(const struct jump *j)
{
	return (j->full - EXTTSP_NEAR) * j->count;
}

/* Only the last block of a chain can fall through, and only to the first of the other: the split
 * that makes j's source last or its target first, where one is enough; NULL: none is. */
static struct change *split_for(const struct tsp *t, const struct jump *j)
{
	const struct spot *src = &t->spot[j->src], *dst = &t->spot[j->dst];
	const struct chain *x = &t->chain[src->chain];

	if (src->index + 1 == x->n)
		return dst->index ? &t->change[j->dst] : NULL;
	return dst->index ? NULL : &t->change[x->blk[src->index + 1]];
}

static bool falls_whole(const struct tsp *t, const struct jump *j)
{
	return !t->spot[j->dst].index &&
	       t->spot[j->src].index + 1 == t->chain[t->spot[j->src].chain].n;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Bound of the joint gain of fallthroughs between the chains and of splits. */
static double most_falls(struct tsp *t, const struct link *l)
{
	double whole[2] = {0, 0}, most;
	const struct jump *j;
	struct change *c;
	int32_t i;

	for (i = l->jumps.first; i != EXTTSP_NONE; i = j->next) {
		j = &t->jump[i];
		c = split_for(t, j);
		if (c)
			c->falls += falling(j);
		else if (falls_whole(t, j))
			whole[t->spot[j->src].chain == l->a] += falling(j);
	}
	most = larger(whole[0], whole[1]);
	for (i = l->jumps.first; i != EXTTSP_NONE; i = j->next) {
		j = &t->jump[i];
		c = split_for(t, j);
		if (!c)
			continue;
		most = larger(most, c->falls + larger(c->little, c->rotate));
		c->falls = 0;
	}
	return most;
}

static double most_change(const struct chain *x)
{
	return x->n <= SPLIT_MAX ? larger(x->most.little, x->most.rotate) : 0;
}

double exttsp_closer(struct tsp *t, struct link *l)
{
	struct chain *a = &t->chain[l->a], *b = &t->chain[l->b];
	const struct jump *j;
	double falls;
	int32_t i;

	l->state = CLOSER;
	if (!mergeable(a, b))
		return 0;
	learn(t, a);
	learn(t, b);
	l->close = l->near;
	if (a->hollow || b->hollow)
		return exttsp_bound(l) + larger(0, larger(most_change(a), most_change(b)));
	l->close = rounding_of(t, l);
	for (i = l->jumps.first; i != EXTTSP_NONE; i = j->next) {
		j = &t->jump[i];
		if (t->spot[j->src].chain == l->a)
			l->close += close_weight(t, j, a, b);
		else
			l->close += close_weight(t, j, b, a);
	}
	falls = most_falls(t, l);
	return l->close + larger(falls, larger(most_change(a), most_change(b)));
}
