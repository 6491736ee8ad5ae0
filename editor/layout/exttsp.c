#include "editor/layout/exttsp.h"
#include "editor/layout/chains.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = EXTTSP_NONE };

/* ---- jumps and links ---- */

/* The weight of a jump that is only near, and what it gains as a fallthrough. */
static double near_weight(const struct jump *j)
{
	return EXTTSP_NEAR * j->count;
}

static double fall_gain(const struct jump *j)
{
	return j->full * j->count - near_weight(j);
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
	c->link = arena_more(t->a, c->link, c->nlink, &c->caplink, sizeof *c->link);
	c->link[c->nlink++] = l;
}

/* Dead pairs stay in the table until it is full: nothing looks them up. */
static void table_put(struct tsp *t, uint32_t l)
{
	uint32_t k;

	if (t->used > t->mask / 2) {
		memset(t->table, 0, ((size_t)t->mask + 1) * sizeof *t->table);
		for (t->used = k = 0; k < t->nlink; k++)
			if (k != l && t->link[k].jumps.first != NONE)
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

static void list_join(struct tsp *t, struct jumps *list, struct jumps more)
{
	if (more.first == NONE)
		return;
	if (list->first == NONE)
		list->last = more.last;
	else
		t->jump[more.last].next = list->first;
	list->first = more.first;
}

static void link_add(
    struct tsp *t, struct link *l, struct jumps jumps, double near, double all, double most)
{
	list_join(t, &l->jumps, jumps);
	l->near += near;
	l->all += all;
	l->most = most > l->most ? most : l->most;
	l->state = STALE;
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
	struct spot *p;
	uint32_t k;

	if (n > ch->cap) {
		ch->cap = 2 * n;
		ch->blk = arena_array(t->a, ch->cap, sizeof *ch->blk);
	}
	memcpy(ch->blk, t->scratch, n * sizeof *ch->blk);
	ch->n = n;
	ch->bytes = 0;
	ch->known = false;
	for (k = 0; k < n; k++) {
		p = &t->spot[ch->blk[k]];
		*p = (struct spot){ch->bytes, p->bytes, c, k};
		ch->bytes += p->bytes;
	}
}

/* Links of `from` become links of `to`. */
static void move_links(struct tsp *t, uint32_t from, uint32_t to)
{
	struct chain *c = &t->chain[from];
	struct link *l, *into;
	uint32_t k, other;

	for (k = 0; k < c->nlink; k++) {
		l = &t->link[c->link[k]];
		if (l->jumps.first == NONE)
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
			list_join(t, &t->chain[to].jumps, l->jumps);
		l->jumps.first = NONE;
		gainheap_drop(&t->heap, c->link[k]);
	}
}

/* Gains with a chain that changed are unknown again; their bounds hold. */
static void refresh(struct tsp *t, struct chain *c)
{
	uint32_t k, n = 0;
	struct link *l;

	for (k = 0; k < c->nlink; k++) {
		l = &t->link[c->link[k]];
		if (l->jumps.first == NONE)
			continue;
		c->link[n++] = c->link[k];
		if (l->state == BOUNDED)
			continue;
		l->state = BOUNDED;
		gainheap_set(&t->heap, c->link[k], exttsp_bound(l));
	}
	c->nlink = n;
}

static void merge(struct tsp *t, const struct merge *m)
{
	uint32_t n = t->chain[m->x].n + t->chain[m->y].n;
	bool x_stays = t->chain[m->x].nlink >= t->chain[m->y].nlink;
	uint32_t to = x_stays ? m->x : m->y, from = x_stays ? m->y : m->x;
	struct chain *c = &t->chain[to], *gone = &t->chain[from];

	splice(t, m, t->scratch);
	assign(t, to, n);
	c->id = gone->id < c->id ? gone->id : c->id;
	c->count += gone->count;
	c->hollow = c->hollow || gone->hollow;
	list_join(t, &c->jumps, gone->jumps);
	move_links(t, from, to);
	gone->n = gone->nlink = 0;
	refresh(t, c);
}

/* The next step towards a link's gain: the key to queue it by, 0 = do not. */
static double settle(struct tsp *t, struct link *l)
{
	if (l->state == BOUNDED)
		return exttsp_closer(t, l);
	exttsp_evaluate(t, l);
	return l->best.x != l->best.y ? l->best.gain : 0;
}

static void merge_all(struct tsp *t)
{
	struct link *l;
	struct merge best;
	uint32_t id;
	double gain;

	while (t->heap.n) {
		id = t->heap.v[0].id;
		l = &t->link[id];
		if (l->state == EXACT) {
			best = l->best;
			gainheap_drop(&t->heap, id);
			merge(t, &best);
			continue;
		}
		gain = settle(t, l);
		if (gain > 0)
			gainheap_set(&t->heap, id, gain);
		else
			gainheap_drop(&t->heap, id);
	}
}

/* ---- the whole ---- */

static void start_chains(struct tsp *t, const struct cfg *g, const uint32_t *hot)
{
	uint32_t p, *own = arena_array(t->a, t->n, sizeof *own);

	for (p = 0; p < t->n; p++) {
		own[p] = p;
		t->chain[p] = (struct chain){.blk = &own[p],
		    .n = 1,
		    .cap = 1,
		    .id = p,
		    .bytes = g->block[hot[p]].bytes,
		    .hollow = !g->block[hot[p]].bytes,
		    .count = (double)g->block[hot[p]].count,
		    .jumps = {NONE, NONE}};
		t->spot[p] = (struct spot){.bytes = g->block[hot[p]].bytes, .chain = p};
	}
}

static void start_link(struct tsp *t, int32_t i)
{
	struct jump *j = &t->jump[i];
	struct link *l = link_find(t, j->src, j->dst);

	if (!l) {
		l = &t->link[t->nlink++];
		l->jumps = (struct jumps){NONE, NONE};
		link_set(t, t->nlink - 1, j->src, j->dst);
		chain_add_link(t, &t->chain[j->src], t->nlink - 1);
		chain_add_link(t, &t->chain[j->dst], t->nlink - 1);
	}
	link_add(t, l, (struct jumps){i, i}, near_weight(j), fall_gain(j), fall_gain(j));
}

static void start_links(struct tsp *t, uint32_t njump)
{
	uint32_t i;

	for (i = 0; i < njump; i++)
		start_link(t, (int32_t)i);
	gainheap_begin(&t->heap, t->nlink, t->a);
	for (i = 0; i < t->nlink; i++) {
		t->link[i].state = BOUNDED;
		gainheap_set(&t->heap, i, exttsp_bound(&t->link[i]));
	}
}

/* The hot edges between two different hot blocks, and how many; position[] is per
 * block. jump may be NULL. */
static uint32_t find_jumps(const struct cfg *g, const uint32_t *position, struct jump *jump)
{
	const struct cfg_edge *e;
	uint32_t n = 0;

	for (e = g->edge; e < g->edge + g->nedge; e++) {
		if (!e->count || e->src == e->dst || position[e->src] == UINT32_MAX ||
		    position[e->dst] == UINT32_MAX)
			continue;
		if (jump)
			jump[n] = (struct jump){.src = position[e->src],
			    .dst = position[e->dst],
			    .count = (double)e->count,
			    .full = exttsp_weight_at_0(e),
			    .next = NONE};
		n++;
	}
	return n;
}

static void start(struct tsp *t, const struct cfg *g, const uint32_t *hot)
{
	uint32_t *position = arena_array(t->a, g->nblock, sizeof *position), size = 16, n, p;

	memset(position, 0xff, g->nblock * sizeof *position);
	for (p = 0; p < t->n; p++)
		position[hot[p]] = p;
	n = find_jumps(g, position, NULL);
	t->jump = arena_array(t->a, n, sizeof *t->jump);
	find_jumps(g, position, t->jump);
	t->tie = arena_array(t->a, n, sizeof *t->tie);
	while (size / 4 < n)
		size *= 2;
	t->mask = size - 1;
	t->table = arena_array(t->a, size, sizeof *t->table);
	t->link = arena_array(t->a, n, sizeof *t->link);
	t->chain = arena_array(t->a, t->n, sizeof *t->chain);
	t->spot = arena_array(t->a, t->n, sizeof *t->spot);
	t->change = arena_array(t->a, t->n, sizeof *t->change);
	t->scratch = arena_array(t->a, t->n, sizeof *t->scratch);
	start_chains(t, g, hot);
	start_links(t, n);
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
	struct tsp t = {.n = n, .a = a};
	uint32_t c, k, m = 0;

	start(&t, g, hot);
	merge_all(&t);
	for (c = 0; c < n; c++)
		if (t.chain[c].n)
			t.chain[m++] = t.chain[c];
	qsort(t.chain, m, sizeof *t.chain, by_density);
	for (c = 0, n = 0; c < m; c++)
		for (k = 0; k < t.chain[c].n; k++)
			order[n++] = hot[t.chain[c].blk[k]];
}
