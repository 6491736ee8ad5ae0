#include "editor/exttsp.h"
#include "editor/gainheap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	FORWARD = 1024,
	BACKWARD = 640,      /* bytes over which a jump is worth something */
	SPLIT_MAX = 128,     /* blocks of a chain that is split anywhere */
	CHAIN_MAX = 512,     /* blocks of a chain that still grows */
	DENSITY_RATIO = 100, /* of chains that are merged */
	NONE = -1,
};

static inline double weight(const struct cfg_edge *e, uint64_t from, uint64_t to)
{
	if (from == to && e->kind != EDGE_INDIRECT)
		return e->kind == EDGE_FALL || e->kind == EDGE_JUMP ? 1.05 : 1;
	if (from <= to)
		return to - from < FORWARD ? 0.1 * (1 - (double)(to - from) / FORWARD) : 0;
	return from - to < BACKWARD ? 0.1 * (1 - (double)(from - to) / BACKWARD) : 0;
}

double exttsp_weight(const struct cfg_edge *e, uint64_t from, uint64_t to)
{
	return weight(e, from, to);
}

struct chain {
	uint32_t *blk;   /* positions in hot[] */
	uint32_t n, cap; /* n = 0: merged into another */
	uint32_t id;     /* lowest position in it, breaks ties */
	uint64_t bytes;
	double count, score;
	int32_t jumps;  /* list of the edges inside */
	uint32_t *link; /* its links; those with a dead chain are dropped in passing */
	uint32_t nlink, caplink;
};

/* X·Y whole, or X cut in two. */
enum merge_type { X_Y, X1_Y_X2, Y_X2_X1, X2_X1_Y };

struct merge {
	double gain;
	uint32_t x, y, split; /* chains; blocks in X1 */
	enum merge_type type;
};

struct link { /* two chains with jumps between them */
	uint32_t a, b;
	int32_t jumps;    /* list */
	double near;      /* what they are worth at distance 0 */
	double all, most; /* what all, what the best gain beyond that as fallthroughs */
	struct merge best;
	uint32_t stamp; /* heap entries of another stamp are void */
	enum {
		BOUNDED, /* best is not known; queued by bound() */
		EXACT,   /* best is known; queued by its gain unless that is 0 */
		STALE    /* changed, must be queued anew */
	} state;
};

struct tsp {
	const struct cfg *g;
	const uint32_t *hot;
	struct arena *a;
	struct chain *chain;
	uint32_t n, nlink;
	struct link *link;
	uint32_t *at;            /* block's position in hot[] */
	uint32_t *chain_of;      /* per position */
	uint32_t *index;         /* in its chain, blocks */
	uint64_t *pos;           /* in its chain, bytes */
	int32_t *next;           /* lists of edges */
	double *insert, *rotate; /* of split_changes() */
	uint32_t *table;         /* pairs of chains to link + 1, open addressing */
	uint32_t mask, used;
	struct gainheap heap;
	uint32_t *scratch;
};

/* ---- jumps and links ---- */

/* What a jump is worth as a near one, and what more as a fallthrough. */
static double worth_near(const struct cfg_edge *e)
{
	return 0.1 * (double)e->count;
}

static double worth_falling(const struct cfg_edge *e)
{
	return weight(e, 0, 0) * (double)e->count - worth_near(e);
}

/* At most two of the jumps between two chains can become fallthroughs. */
static double bound(const struct link *l)
{
	return l->near + (l->all < 2 * l->most ? l->all : 2 * l->most);
}

static uint32_t slot_of(const struct tsp *t, uint32_t a, uint32_t b)
{
	uint64_t h = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15ULL;
	uint32_t i = (uint32_t)(h >> 32) & t->mask;
	const struct link *l;

	for (; t->table[i]; i = (i + 1) & t->mask) {
		l = &t->link[t->table[i] - 1];
		if (l->a == a && l->b == b)
			break;
	}
	return i;
}

static void chain_add_link(struct tsp *t, struct chain *c, uint32_t l)
{
	uint32_t *p;

	if (c->nlink == c->caplink) {
		c->caplink = c->caplink ? 2 * c->caplink : 4;
		p = arena_array(t->a, c->caplink, sizeof *p);
		if (c->nlink)
			memcpy(p, c->link, c->nlink * sizeof *p);
		c->link = p;
	}
	c->link[c->nlink++] = l;
}

/* Dead pairs stay in the table until it is full: no one asks for them. */
static void table_put(struct tsp *t, uint32_t l)
{
	uint32_t k;

	if (t->used > t->mask / 2) {
		memset(t->table, 0, ((size_t)t->mask + 1) * sizeof *t->table);
		for (t->used = k = 0; k < t->nlink; k++)
			if (k != l && t->link[k].jumps != NONE)
				table_put(t, k);
	}
	t->table[slot_of(t, t->link[l].a, t->link[l].b)] = l + 1;
	t->used++;
}

static struct link *link_find(struct tsp *t, uint32_t a, uint32_t b)
{
	uint32_t i = slot_of(t, a < b ? a : b, a < b ? b : a);

	return t->table[i] ? &t->link[t->table[i] - 1] : NULL;
}

/* Makes link number l one of chains a and b, which have none. */
static void link_set(struct tsp *t, uint32_t l, uint32_t a, uint32_t b)
{
	t->link[l].a = a < b ? a : b;
	t->link[l].b = a < b ? b : a;
	table_put(t, l);
}

static void list_append(struct tsp *t, int32_t *list, int32_t jumps)
{
	int32_t last;

	if (jumps == NONE)
		return;
	for (last = jumps; t->next[last] != NONE;)
		last = t->next[last];
	t->next[last] = *list;
	*list = jumps;
}

static void link_add(
    struct tsp *t, struct link *l, int32_t jumps, double near, double all, double most)
{
	list_append(t, &l->jumps, jumps);
	l->near += near;
	l->all += all;
	l->most = most > l->most ? most : l->most;
	l->state = STALE;
}

static void queue(struct tsp *t, uint32_t l, double gain)
{
	gainheap_push(&t->heap, (struct gain){gain, l, t->link[l].stamp}, t->a);
}

/* ---- gains ---- */

/* How far the three parts move when chain x, split before its block number
 * split, is merged with y. */
struct shifts {
	uint64_t x1, x2, y; /* added to positions; may wrap and unwrap */
	uint32_t split;
};

static struct shifts shifts_of(const struct tsp *t, const struct chain *x, const struct chain *y,
    uint32_t split, enum merge_type type)
{
	uint64_t cut = type == X_Y ? x->bytes : t->pos[x->blk[split]];

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

static uint64_t place(const struct tsp *t, uint32_t p, uint32_t x, const struct shifts *s)
{
	if (t->chain_of[p] != x)
		return t->pos[p] + s->y;
	return t->pos[p] + (t->index[p] < s->split ? s->x1 : s->x2);
}

static double score_list(const struct tsp *t, int32_t e, uint32_t x, const struct shifts *s)
{
	const struct cfg_edge *edge = t->g->edge;
	double sum = 0;
	uint32_t src, dst;

	for (; e != NONE; e = t->next[e]) {
		src = t->at[edge[e].src];
		dst = t->at[edge[e].dst];
		sum += (double)edge[e].count *
		       weight(&edge[e], place(t, src, x, s) + t->g->block[edge[e].src].bytes,
			   place(t, dst, x, s));
	}
	return sum;
}

/* The entry block stays first. */
static bool legal(const struct chain *x, const struct chain *y, enum merge_type type)
{
	if (x->id == 0)
		return type == X_Y || type == X1_Y_X2;
	return y->id != 0 || type == Y_X2_X1;
}

/* What a split of chain x changes among its own jumps, for every split at
 * once: a jump over the split becomes longer by what is put between (insert),
 * or turns round when X2 goes before X1 (rotate), and either change is the
 * same wherever in the jump's span the split is. */
static void split_changes(struct tsp *t, const struct chain *x, uint64_t y_bytes)
{
	const struct cfg_edge *edge = t->g->edge;
	uint64_t from, to;
	uint32_t i, j, k;
	double was, count, ins, rot;
	int32_t e;

	for (k = 0; k <= x->n; k++)
		t->insert[k] = t->rotate[k] = 0;
	for (e = x->jumps; e != NONE; e = t->next[e]) {
		i = t->at[edge[e].src];
		j = t->at[edge[e].dst];
		from = t->pos[i] + t->g->block[edge[e].src].bytes;
		to = t->pos[j];
		i = t->index[i];
		j = t->index[j];
		count = (double)edge[e].count;
		was = weight(&edge[e], from, to);
		ins = i < j ? weight(&edge[e], from, to + y_bytes)
			    : weight(&edge[e], from + y_bytes, to);
		rot = i < j ? weight(&edge[e], from + x->bytes, to)
			    : weight(&edge[e], from, to + x->bytes);
		t->insert[(i < j ? i : j) + 1] += count * (ins - was);
		t->insert[(i < j ? j : i) + 1] -= count * (ins - was);
		t->rotate[(i < j ? i : j) + 1] += count * (rot - was);
		t->rotate[(i < j ? j : i) + 1] -= count * (rot - was);
	}
	for (k = 1; k <= x->n; k++) {
		t->insert[k] += t->insert[k - 1];
		t->rotate[k] += t->rotate[k - 1];
	}
}

static double own_change(const struct tsp *t, uint32_t split, enum merge_type type)
{
	return type == X_Y ? 0 : type == X1_Y_X2 ? t->insert[split] : t->rotate[split];
}

static void try_merge(struct tsp *t, const struct link *l, uint32_t x, uint32_t split,
    enum merge_type type, struct merge *best)
{
	uint32_t y = l->a == x ? l->b : l->a;
	const struct chain *cx = &t->chain[x], *cy = &t->chain[y];
	struct shifts s;
	double gain;

	if (!legal(cx, cy, type) || bound(l) + own_change(t, split, type) <= best->gain)
		return;
	s = shifts_of(t, cx, cy, split, type);
	gain = score_list(t, l->jumps, x, &s) + own_change(t, split, type);
	if (gain > best->gain)
		*best = (struct merge){gain, x, y, split, type};
}

static void try_split(
    struct tsp *t, const struct link *l, uint32_t x, uint32_t split, struct merge *best)
{
	try_merge(t, l, x, split, X1_Y_X2, best);
	try_merge(t, l, x, split, Y_X2_X1, best);
	try_merge(t, l, x, split, X2_X1_Y, best);
}

/* Splits that make a jump between the chains a fallthrough. */
static void try_attachments(struct tsp *t, const struct link *l, uint32_t x, struct merge *best)
{
	uint32_t y = l->a == x ? l->b : l->a, src, dst;
	const struct chain *cx = &t->chain[x], *cy = &t->chain[y];
	int32_t e;

	for (e = l->jumps; e != NONE; e = t->next[e]) {
		src = t->at[t->g->edge[e].src];
		dst = t->at[t->g->edge[e].dst];
		if (dst == cy->blk[0] && t->index[src] + 1 < cx->n)
			try_split(t, l, x, t->index[src] + 1, best);
		if (src == cy->blk[cy->n - 1] && t->index[dst] > 0)
			try_split(t, l, x, t->index[dst], best);
	}
}

/* All other splits only bring the jumps between the chains nearer. */
static void try_splits(struct tsp *t, const struct link *l, uint32_t x, struct merge *best)
{
	uint32_t k;

	for (k = 1; k < t->chain[x].n; k++) {
		if (l->near + t->insert[k] > best->gain)
			try_merge(t, l, x, k, X1_Y_X2, best);
		if (l->near + t->rotate[k] <= best->gain)
			continue;
		try_merge(t, l, x, k, Y_X2_X1, best);
		try_merge(t, l, x, k, X2_X1_Y, best);
	}
}

static void try_chain(struct tsp *t, const struct link *l, uint32_t x, struct merge *best)
{
	const struct chain *cx = &t->chain[x], *cy = &t->chain[l->a == x ? l->b : l->a];

	split_changes(t, cx, cy->bytes);
	try_merge(t, l, x, cx->n, X_Y, best);
	try_attachments(t, l, x, best);
	if (cx->n <= SPLIT_MAX)
		try_splits(t, l, x, best);
}

static bool mergeable(const struct chain *a, const struct chain *b)
{
	double da = a->count / (double)(a->bytes + 1), db = b->count / (double)(b->bytes + 1);

	return a->n + b->n <= CHAIN_MAX && da <= DENSITY_RATIO * db && db <= DENSITY_RATIO * da;
}

static void evaluate(struct tsp *t, struct link *l)
{
	const double floor = 1e-9 * (t->chain[l->a].score + t->chain[l->b].score);

	/* Below this a gain is rounding. */
	l->best = (struct merge){.gain = floor};
	l->state = EXACT;
	if (!mergeable(&t->chain[l->a], &t->chain[l->b]))
		return;
	try_chain(t, l, l->a, &l->best);
	try_chain(t, l, l->b, &l->best);
}

/* ---- merging ---- */

static void lay(const struct chain *c, uint32_t from, uint32_t to, uint32_t *out, uint32_t *n)
{
	memcpy(out + *n, c->blk + from, (to - from) * sizeof *out);
	*n += to - from;
}

static void splice(struct tsp *t, const struct merge *m, uint32_t *out)
{
	const struct chain *x = &t->chain[m->x], *y = &t->chain[m->y];
	uint32_t n = 0;

	if (m->type == X_Y || m->type == X1_Y_X2)
		lay(x, 0, m->split, out, &n);
	if (m->type == X2_X1_Y) {
		lay(x, m->split, x->n, out, &n);
		lay(x, 0, m->split, out, &n);
	}
	lay(y, 0, y->n, out, &n);
	if (m->type == X1_Y_X2 || m->type == Y_X2_X1)
		lay(x, m->split, x->n, out, &n);
	if (m->type == Y_X2_X1)
		lay(x, 0, m->split, out, &n);
}

/* Gives chain c the n blocks in t->scratch. */
static void assign(struct tsp *t, uint32_t c, uint32_t n)
{
	struct chain *ch = &t->chain[c];
	uint32_t k, p;

	if (n > ch->cap) {
		ch->cap = 2 * n;
		ch->blk = arena_array(t->a, ch->cap, sizeof *ch->blk);
	}
	memcpy(ch->blk, t->scratch, n * sizeof *ch->blk);
	ch->n = n;
	ch->bytes = 0;
	for (k = 0; k < n; k++) {
		p = ch->blk[k];
		t->chain_of[p] = c;
		t->index[p] = k;
		t->pos[p] = ch->bytes;
		ch->bytes += t->g->block[t->hot[p]].bytes;
	}
}

/* What was between `from` and others is now between `to` and them. */
static void move_links(struct tsp *t, uint32_t from, uint32_t to)
{
	struct chain *c = &t->chain[from];
	struct link *l, *into;
	uint32_t k, other;

	for (k = 0; k < c->nlink; k++) {
		l = &t->link[c->link[k]];
		if (l->jumps == NONE)
			continue;
		other = l->a == from ? l->b : l->a;
		into = other == to ? NULL : link_find(t, to, other);
		if (other != to && !into) {
			link_set(t, c->link[k], to, other);
			chain_add_link(t, &t->chain[to], c->link[k]);
			l->state = STALE;
			continue;
		}
		if (into)
			link_add(t, into, l->jumps, l->near, l->all, l->most);
		else
			list_append(t, &t->chain[to].jumps, l->jumps);
		l->jumps = NONE;
		l->stamp++;
	}
}

/* Gains with a chain that changed are unknown again; their bounds hold. */
static void refresh(struct tsp *t, struct chain *c)
{
	uint32_t k, n = 0;
	struct link *l;

	for (k = 0; k < c->nlink; k++) {
		l = &t->link[c->link[k]];
		if (l->jumps == NONE)
			continue;
		c->link[n++] = c->link[k];
		if (l->state == BOUNDED)
			continue;
		l->state = BOUNDED;
		l->stamp++;
		queue(t, c->link[k], bound(l));
	}
	c->nlink = n;
}

static void merge(struct tsp *t, const struct merge *m)
{
	uint32_t n = t->chain[m->x].n + t->chain[m->y].n;
	bool x_stays = t->chain[m->x].nlink >= t->chain[m->y].nlink;
	uint32_t to = x_stays ? m->x : m->y, from = x_stays ? m->y : m->x;
	struct chain *c = &t->chain[to], *gone = &t->chain[from];
	struct shifts still = {.split = UINT32_MAX};

	splice(t, m, t->scratch);
	assign(t, to, n);
	c->id = gone->id < c->id ? gone->id : c->id;
	c->count += gone->count;
	list_append(t, &c->jumps, gone->jumps);
	move_links(t, from, to);
	gone->n = gone->nlink = 0;
	c->score = score_list(t, c->jumps, to, &still);
	refresh(t, c);
}

static void merge_all(struct tsp *t)
{
	struct gain e;
	struct link *l;
	struct merge best;

	while (t->heap.n) {
		e = gainheap_pop(&t->heap);
		l = &t->link[e.id];
		if (e.stamp != l->stamp)
			continue;
		if (l->state == EXACT) {
			best = l->best;
			merge(t, &best);
			continue;
		}
		evaluate(t, l);
		if (l->best.x != l->best.y)
			queue(t, e.id, l->best.gain);
	}
}

/* ---- the whole ---- */

static void start_chains(struct tsp *t)
{
	uint32_t p, *own = arena_array(t->a, t->n, sizeof *own);

	for (p = 0; p < t->n; p++) {
		own[p] = p;
		t->chain[p] = (struct chain){.blk = &own[p],
		    .n = 1,
		    .cap = 1,
		    .id = p,
		    .bytes = t->g->block[t->hot[p]].bytes,
		    .count = (double)t->g->block[t->hot[p]].count,
		    .jumps = NONE};
		t->chain_of[p] = p;
	}
}

/* A hot edge between two different hot blocks. */
static bool counts(const struct tsp *t, const struct cfg_edge *e)
{
	return e->count && e->src != e->dst && t->at[e->src] != UINT32_MAX &&
	       t->at[e->dst] != UINT32_MAX;
}

static void start_links(struct tsp *t)
{
	const struct cfg_edge *e = t->g->edge;
	struct link *l;
	uint32_t i, src, dst;

	for (i = 0; i < t->g->nedge; i++) {
		t->next[i] = NONE;
		if (!counts(t, &e[i]))
			continue;
		src = t->at[e[i].src];
		dst = t->at[e[i].dst];
		l = link_find(t, src, dst);
		if (!l) {
			l = &t->link[t->nlink++];
			l->jumps = NONE;
			link_set(t, t->nlink - 1, src, dst);
			chain_add_link(t, &t->chain[src], t->nlink - 1);
			chain_add_link(t, &t->chain[dst], t->nlink - 1);
		}
		link_add(t, l, (int32_t)i, worth_near(&e[i]), worth_falling(&e[i]),
		    worth_falling(&e[i]));
	}
	for (i = 0; i < t->nlink; i++) {
		t->link[i].state = BOUNDED;
		queue(t, i, bound(&t->link[i]));
	}
}

static void alloc(struct tsp *t)
{
	const struct cfg *g = t->g;
	uint32_t size = 16, p;

	while (size / 4 < g->nedge)
		size *= 2;
	t->mask = size - 1;
	t->table = arena_array(t->a, size, sizeof *t->table);
	t->link = arena_array(t->a, g->nedge, sizeof *t->link);
	t->next = arena_array(t->a, g->nedge, sizeof *t->next);
	t->insert = arena_array(t->a, (size_t)t->n + 1, sizeof *t->insert);
	t->rotate = arena_array(t->a, (size_t)t->n + 1, sizeof *t->rotate);
	t->at = arena_array(t->a, g->nblock, sizeof *t->at);
	t->chain = arena_array(t->a, t->n, sizeof *t->chain);
	t->chain_of = arena_array(t->a, t->n, sizeof *t->chain_of);
	t->index = arena_array(t->a, t->n, sizeof *t->index);
	t->pos = arena_array(t->a, t->n, sizeof *t->pos);
	t->scratch = arena_array(t->a, t->n, sizeof *t->scratch);
	memset(t->at, 0xff, g->nblock * sizeof *t->at);
	for (p = 0; p < t->n; p++)
		t->at[t->hot[p]] = p;
}

/* The entry's chain, then the densest first. */
static int by_density(const void *pa, const void *pb)
{
	const struct chain *a = pa, *b = pb;
	double da, db;

	if (!a->id || !b->id)
		return a->id ? 1 : -1;
	da = a->count / (double)(a->bytes + 1);
	db = b->count / (double)(b->bytes + 1);
	if (da != db)
		return da > db ? -1 : 1;
	return a->id < b->id ? -1 : 1;
}

void exttsp_order(
    const struct cfg *g, const uint32_t *hot, uint32_t n, uint32_t *order, struct arena *a)
{
	struct tsp t = {.g = g, .hot = hot, .n = n, .a = a};
	uint32_t c, k, m = 0;

	alloc(&t);
	start_chains(&t);
	start_links(&t);
	merge_all(&t);
	for (c = 0; c < n; c++)
		if (t.chain[c].n)
			t.chain[m++] = t.chain[c];
	qsort(t.chain, m, sizeof *t.chain, by_density);
	for (c = 0, n = 0; c < m; c++)
		for (k = 0; k < t.chain[c].n; k++)
			order[n++] = hot[t.chain[c].blk[k]];
}
