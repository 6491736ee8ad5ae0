#include "editor/layout/funcorder.h"
#include "editor/layout/gainheap.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Parameters of LLVM's CodeLayout.cpp, "cds". */
enum {
	CACHE_ENTRIES = 16,
	CACHE_SIZE = 2048, /* bytes of an entry */
	CHAIN_MAX = 128,   /* functions */
	NONE = -1,
};
static const double FREQUENCY_SCALE = 0.25;

struct chain {
	uint32_t *func, n, cap; /* n = 0: merged into another */
	uint32_t id;            /* lowest function in it, breaks ties */
	double bytes, weight;
	double misses; /* of these, while n > 0 */
	uint32_t *link, nlink, caplink;
};

struct link { /* two chains with calls between them */
	uint32_t a, b;
	int32_t calls, last; /* list; NONE: moved into another link */
	bool b_first;        /* better b·a than a·b */
};

struct order {
	const struct fo_func *f;
	const struct fo_call *call;
	struct arena *a;
	struct chain *chain;
	uint32_t *chain_of;
	double *pos; /* of a function in its chain, bytes */
	struct link *link;
	uint32_t nlink;
	int32_t *next;  /* lists of calls */
	uint32_t *mark; /* per chain: link + 1, while links are moved */
	struct gainheap heap;
	double total;
};

static double miss_probability(const struct order *o, double density)
{
	double p = density * CACHE_SIZE / o->total;

	return p >= 1 ? 0 : pow(1 - p, CACHE_ENTRIES);
}

static double misses(const struct order *o, double weight, double bytes)
{
	return weight * miss_probability(o, weight / bytes);
}

/* Distance to the power of -1/4, an adjacent target as 0.1 byte away. */
static double closeness(double distance)
{
	return 1 / sqrt(sqrt(distance < 0.1 ? 0.1 : distance));
}

/* The score of a link's calls when chain `second` begins `shift` bytes after the beginning of the
 * other. */
static double nearness(const struct order *o, const struct link *l, uint32_t second, double shift)
{
	const struct fo_call *c;
	double from, to, sum = 0;
	int32_t i;

	for (i = l->calls; i != NONE; i = o->next[i]) {
		c = &o->call[i];
		from = o->pos[c->caller] + (double)c->offset;
		to = o->pos[c->callee];
		from += o->chain_of[c->caller] == second ? shift : 0;
		to += o->chain_of[c->callee] == second ? shift : 0;
		sum += (double)c->count * closeness(fabs(to - from));
	}
	return sum;
}

static void queue(struct order *o, uint32_t n)
{
	struct link *l = &o->link[n];
	const struct chain *a = &o->chain[l->a], *b = &o->chain[l->b];
	double ab, ba, freq, gain;

	gainheap_drop(&o->heap, n);
	if (a->n + b->n > CHAIN_MAX)
		return;
	ab = nearness(o, l, l->b, a->bytes);
	ba = nearness(o, l, l->a, b->bytes);
	l->b_first = ba > ab;
	freq = a->misses + b->misses - misses(o, a->weight + b->weight, a->bytes + b->bytes);
	gain = ((ba > ab ? ba : ab) + FREQUENCY_SCALE * freq) / fmin(a->bytes, b->bytes);
	if (gain > 0)
		gainheap_set(&o->heap, n, gain);
}

static void append(struct order *o, uint32_t to, uint32_t from)
{
	struct chain *c = &o->chain[to];
	const struct chain *gone = &o->chain[from];
	uint32_t k, *p, f;

	if (c->n + gone->n > c->cap) {
		c->cap = 2 * (c->n + gone->n);
		p = arena_array(o->a, c->cap, sizeof *p);
		memcpy(p, c->func, c->n * sizeof *p);
		c->func = p;
	}
	for (k = 0; k < gone->n; k++) {
		f = gone->func[k];
		c->func[c->n++] = f;
		o->chain_of[f] = to;
		o->pos[f] += c->bytes;
	}
	c->bytes += gone->bytes;
	c->weight += gone->weight;
	c->misses = misses(o, c->weight, c->bytes);
	c->id = gone->id < c->id ? gone->id : c->id;
}

static void add_link(struct order *o, uint32_t chain, uint32_t l)
{
	struct chain *c = &o->chain[chain];

	c->link = arena_more(o->a, c->link, c->nlink, &c->caplink, sizeof *c->link);
	c->link[c->nlink++] = l;
}

static uint32_t other_end(const struct link *l, uint32_t chain)
{
	return l->a == chain ? l->b : l->a;
}

static void join_links(struct order *o, struct link *into, struct link *from)
{
	o->next[into->last] = from->calls;
	into->last = from->last;
	from->calls = NONE;
}

/* Moves the links of the merged chain to the survivor. */
static void move_links(struct order *o, uint32_t from, uint32_t to)
{
	struct chain *c = &o->chain[to], *gone = &o->chain[from];
	uint32_t k, n = 0, other;
	struct link *l;

	for (k = 0; k < c->nlink; k++) {
		l = &o->link[c->link[k]];
		other = other_end(l, to);
		if (l->calls == NONE || other == from)
			continue;
		o->mark[other] = c->link[k] + 1;
		c->link[n++] = c->link[k];
	}
	c->nlink = n;
	for (k = 0; k < gone->nlink; k++) {
		l = &o->link[gone->link[k]];
		other = other_end(l, from);
		if (l->calls == NONE)
			continue;
		if (other != to && !o->mark[other]) {
			*(l->a == from ? &l->a : &l->b) = to;
			add_link(o, to, gone->link[k]);
			continue;
		}
		if (other != to)
			join_links(o, &o->link[o->mark[other] - 1], l);
		l->calls = NONE;
		gainheap_drop(&o->heap, gone->link[k]);
	}
	for (k = 0; k < n; k++)
		o->mark[other_end(&o->link[c->link[k]], to)] = 0;
}

static void merge(struct order *o, uint32_t first, uint32_t second)
{
	struct chain *c = &o->chain[first];
	uint32_t k;

	append(o, first, second);
	move_links(o, second, first);
	o->chain[second].n = 0;
	for (k = 0; k < c->nlink; k++)
		queue(o, c->link[k]);
}

static void start_chains(struct order *o, uint32_t n, uint32_t *own)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		own[i] = o->chain_of[i] = i;
		o->total += (double)o->f[i].weight;
		o->chain[i] = (struct chain){.func = &own[i],
		    .n = o->f[i].weight > 0,
		    .cap = 1,
		    .id = i,
		    .bytes = (double)o->f[i].bytes,
		    .weight = (double)o->f[i].weight};
	}
	for (i = 0; i < n; i++)
		if (o->chain[i].n)
			o->chain[i].misses = misses(o, o->chain[i].weight, o->chain[i].bytes);
}

static int by_pair(const void *pa, const void *pb)
{
	const struct link *a = pa, *b = pb;

	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	if (a->b != b->b)
		return a->b < b->b ? -1 : 1;
	return a->calls - b->calls;
}

/* One link per call, then one per pair of functions. */
static void start_links(struct order *o, uint32_t ncall)
{
	const struct fo_call *c = o->call;
	uint32_t i, n = 0;

	for (i = 0; i < ncall; i++) {
		o->next[i] = NONE;
		if (c[i].caller == c[i].callee || !o->chain[c[i].caller].n ||
		    !o->chain[c[i].callee].n)
			continue;
		o->link[n++] =
		    (struct link){.a = c[i].caller < c[i].callee ? c[i].caller : c[i].callee,
			.b = c[i].caller < c[i].callee ? c[i].callee : c[i].caller,
			.calls = (int32_t)i,
			.last = (int32_t)i};
	}
	qsort(o->link, n, sizeof *o->link, by_pair);
	for (i = 0; i < n; i++) {
		if (o->nlink && o->link[o->nlink - 1].a == o->link[i].a &&
		    o->link[o->nlink - 1].b == o->link[i].b)
			join_links(o, &o->link[o->nlink - 1], &o->link[i]);
		else
			o->link[o->nlink++] = o->link[i];
	}
	gainheap_begin(&o->heap, o->nlink, o->a);
	for (i = 0; i < o->nlink; i++) {
		add_link(o, o->link[i].a, i);
		add_link(o, o->link[i].b, i);
		queue(o, i);
	}
}

static int by_density(const void *pa, const void *pb)
{
	const struct chain *a = pa, *b = pb;
	double da = a->weight / a->bytes, db = b->weight / b->bytes;

	if (da != db)
		return da > db ? -1 : 1;
	return a->id < b->id ? -1 : 1;
}

static void write_order(struct order *o, uint32_t n, uint32_t *order)
{
	uint32_t i, k, m = 0, at = 0;

	for (i = 0; i < n; i++)
		if (o->chain[i].n)
			o->chain[m++] = o->chain[i];
	qsort(o->chain, m, sizeof *o->chain, by_density);
	for (i = 0; i < m; i++)
		for (k = 0; k < o->chain[i].n; k++)
			order[at++] = o->chain[i].func[k];
	for (i = 0; i < n; i++)
		if (!o->f[i].weight)
			order[at++] = i;
}

void funcorder(const struct fo_func *f, uint32_t n, const struct fo_call *call, uint32_t ncall,
    uint32_t *order, struct arena *scratch)
{
	struct order o = {.f = f, .call = call, .a = scratch};
	struct link *l;

	o.chain = arena_array(scratch, n, sizeof *o.chain);
	o.chain_of = arena_array(scratch, n, sizeof *o.chain_of);
	o.pos = arena_array(scratch, n, sizeof *o.pos);
	o.mark = arena_array(scratch, n, sizeof *o.mark);
	o.link = arena_array(scratch, ncall, sizeof *o.link);
	o.next = arena_array(scratch, ncall, sizeof *o.next);
	start_chains(&o, n, arena_array(scratch, n, sizeof(uint32_t)));
	start_links(&o, ncall);
	while (o.heap.n) {
		l = &o.link[o.heap.v[0].id];
		gainheap_drop(&o.heap, o.heap.v[0].id);
		merge(&o, l->b_first ? l->b : l->a, l->b_first ? l->a : l->b);
	}
	write_order(&o, n, order);
}
