#include "managerd/samples/profile.h"
#include "common/profiletext/profiletext.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct profile_func *profile_get(const struct profile *p, const struct hash128 *key)
{
	uint64_t *at = htab_get(&p->by_key, key->b, sizeof key->b);

	return at ? &p->func.v[*at - 1] : NULL;
}

/* Functions are mostly put by unit. */
static const char *unit_name(struct profile *p, const char *tu)
{
	const char *last = p->func.n ? p->func.v[p->func.n - 1].tu : NULL;

	return last && !strcmp(last, tu) ? last : arena_strdup(&p->mem, tu);
}

struct profile_func *profile_put(struct profile *p, const struct hash128 *key, const char *name,
    const char *tu, const char *opaque, uint32_t nblock)
{
	struct profile_func *f = profile_get(p, key);
	const char *unit;

	if (f)
		return f->nblock == nblock ? f : NULL;
	unit = unit_name(p, tu);
	vec_push(&p->func, (struct profile_func){.key = *key,
			       .name = arena_strdup(&p->mem, name),
			       .tu = unit,
			       .opaque = opaque ? arena_strdup(&p->mem, opaque) : NULL,
			       .nblock = nblock});
	*htab_put(&p->by_key, key->b, sizeof key->b, NULL) = p->func.n;
	return &p->func.v[p->func.n - 1];
}

double *profile_blocks(struct profile_func *f)
{
	if (!f->block)
		f->block = xcalloc(f->nblock, sizeof *f->block);
	return f->block;
}

static void func_free(struct profile_func *f)
{
	free(f->block);
	vec_free(&f->edge);
	vec_free(&f->predecessors);
	vec_free(&f->call);
}

void profile_free(struct profile *p)
{
	size_t i;

	for (i = 0; i < p->func.n; i++)
		func_free(&p->func.v[i]);
	vec_free(&p->func);
	htab_free(&p->by_key);
	arena_free(&p->mem);
}

void profile_clear(struct profile_func *f)
{
	if (f->block)
		memset(f->block, 0, f->nblock * sizeof *f->block);
	f->edge.n = f->predecessors.n = f->call.n = 0;
	f->as_of_ms = 0;
}

void profile_move(struct profile_func *to, struct profile_func *from)
{
	to->block = from->block;
	to->edge = from->edge;
	to->predecessors = from->predecessors;
	to->call = from->call;
	to->as_of_ms = from->as_of_ms;
	to->dirty = from->dirty;
	from->block = NULL;
	memset(&from->edge, 0, sizeof from->edge);
	memset(&from->predecessors, 0, sizeof from->predecessors);
	memset(&from->call, 0, sizeof from->call);
}

void profile_copy_used(struct profile *to, const struct profile *from)
{
	const struct profile_func *f;
	struct profile_func *g;
	size_t i, j;

	*to = (struct profile){0};
	for (i = 0; i < from->func.n; i++) {
		f = &from->func.v[i];
		if (!f->as_of_ms)
			continue;
		g = profile_put(to, &f->key, f->name, f->tu, f->opaque, f->nblock);
		if (f->block)
			memcpy(profile_blocks(g), f->block, f->nblock * sizeof *f->block);
		for (j = 0; j < f->edge.n; j++)
			vec_push(&g->edge, f->edge.v[j]);
		for (j = 0; j < f->predecessors.n; j++)
			vec_push(&g->predecessors, f->predecessors.v[j]);
		for (j = 0; j < f->call.n; j++)
			vec_push(&g->call, f->call.v[j]);
		g->as_of_ms = f->as_of_ms;
		g->dirty = true;
	}
}

double decay_since(struct decay at, int64_t then_ms)
{
	int64_t dt_ms = at.now_ms - then_ms;

	return dt_ms <= 0 ? 1 : exp2(-(double)dt_ms / 1000 / at.half_life_s);
}

/* Below this a block's samples are noise of the ageing. */
static const double forgotten = 1e-3;

static void age_edges(struct profile_edges *e, double k)
{
	size_t i, n = 0;

	for (i = 0; i < e->n; i++)
		if ((e->v[i].n *= k) >= forgotten)
			e->v[n++] = e->v[i];
	e->n = n;
}

void profile_age(struct profile_func *f, struct decay at)
{
	double k = f->as_of_ms ? decay_since(at, f->as_of_ms) : 1;
	size_t i, n;

	if (k < 1) {
		for (i = 0; f->block && i < f->nblock; i++) {
			f->block[i] *= k;
			if (f->block[i] < forgotten)
				f->block[i] = 0;
		}
		age_edges(&f->edge, k);
		age_edges(&f->predecessors, k);
		for (i = n = 0; i < f->call.n; i++)
			if ((f->call.v[i].n *= k) >= forgotten)
				f->call.v[n++] = f->call.v[i];
		f->call.n = n;
	}
	if (at.now_ms > f->as_of_ms)
		f->as_of_ms = at.now_ms;
}

void profile_add(struct profile_func *f, uint32_t block, double samples, struct decay at)
{
	if (f->as_of_ms != at.now_ms)
		profile_age(f, at);
	profile_blocks(f)[block] += samples;
	f->dirty = true;
}

static int edge_compare(const void *x, const void *y)
{
	const struct profile_edge *a = x, *b = y;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static int call_compare(const void *x, const void *y)
{
	const struct profile_call *a = x, *b = y;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return memcmp(a->callee.b, b->callee.b, sizeof a->callee.b);
}

/* Index of the first of n sorted entries that is not less than x. */
static size_t lower_bound(
    const void *x, const void *v, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	size_t lo = 0, hi = n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (compare((const char *)v + mid * size, x) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void add_edge(
    struct profile_func *f, struct profile_edges *e, struct profile_edge new, struct decay at)
{
	size_t i;

	if (f->as_of_ms != at.now_ms)
		profile_age(f, at);
	f->dirty = true;
	i = lower_bound(&new, e->v, e->n, sizeof new, edge_compare);
	if (i < e->n && !edge_compare(&e->v[i], &new)) {
		e->v[i].n += new.n;
		return;
	}
	if (e->n == PROFILE_EDGES_MAX)
		return;
	vec_push(e, new);
	memmove(&e->v[i + 1], &e->v[i], (e->n - 1 - i) * sizeof *e->v);
	e->v[i] = new;
}

void profile_add_edge(
    struct profile_func *f, uint32_t block, uint32_t to, double n, struct decay at)
{
	add_edge(f, &f->edge, (struct profile_edge){block, to, n}, at);
}

void profile_add_predecessor(
    struct profile_func *f, uint32_t block, uint32_t to, double n, struct decay at)
{
	add_edge(f, &f->predecessors, (struct profile_edge){block, to, n}, at);
}

void profile_add_call(
    struct profile_func *f, uint32_t block, const struct hash128 *callee, double n, struct decay at)
{
	struct profile_call new = {block, *callee, n};
	size_t i;

	if (f->as_of_ms != at.now_ms)
		profile_age(f, at);
	f->dirty = true;
	i = lower_bound(&new, f->call.v, f->call.n, sizeof new, call_compare);
	if (i < f->call.n && !call_compare(&f->call.v[i], &new)) {
		f->call.v[i].n += n;
		return;
	}
	if (f->call.n == PROFILE_CALLS_MAX)
		return;
	vec_push(&f->call, new);
	memmove(&f->call.v[i + 1], &f->call.v[i], (f->call.n - 1 - i) * sizeof *f->call.v);
	f->call.v[i] = new;
}

double profile_func_samples(const struct profile_func *f, struct decay at)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; f->block && i < f->nblock; i++)
		sum += f->block[i];
	return sum > 0 ? sum * decay_since(at, f->as_of_ms) : 0;
}

size_t profile_edges_of(const struct profile_func *f, uint32_t block, size_t *begin)
{
	size_t lo = 0, hi = f->edge.n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->edge.v[mid].block < block)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*begin = lo; hi < f->edge.n && f->edge.v[hi].block == block; hi++)
		;
	return hi;
}

struct profile_sum profile_total(const struct profile *p, struct decay at)
{
	struct profile_sum t = {0};
	double x;
	size_t i;

	for (i = 0; i < p->func.n; i++) {
		x = profile_func_samples(&p->func.v[i], at);
		t.samples += x;
		t.understood += p->func.v[i].opaque ? 0 : x;
		t.functions += x > 0;
	}
	return t;
}

static int64_t latest(const struct profile *p)
{
	int64_t t = 0;
	size_t i;

	for (i = 0; i < p->func.n; i++)
		if (p->func.v[i].as_of_ms > t)
			t = p->func.v[i].as_of_ms;
	return t;
}

/* E|x/na - y/nb| / 2 of two draws of a block that holds share p of a usage;
 * the normal law overdoes it for rare blocks, where it is at most p. */
static double deviation(double p, double na, double nb)
{
	return fmin(p, sqrt(2 / M_PI * p * (1 / na + 1 / nb)) / 2);
}

double profile_distance(
    const struct profile *a, const struct profile *b, struct decay at, double *noise)
{
	struct decay then = {latest(b), at.half_life_s};
	double ta = profile_total(a, at).samples;
	double tb = profile_total(b, then).samples;
	const struct profile_func *f, *g;
	double overlap = 0, expected = 0, ka, kb, x, y;
	uint32_t j;
	size_t i;

	if (noise)
		*noise = 0;
	if (ta <= 0 || tb <= 0)
		return 1;
	for (i = 0; i < a->func.n; i++) {
		f = &a->func.v[i];
		g = profile_get(b, &f->key);
		ka = decay_since(at, f->as_of_ms);
		if (g && (!g->block || g->nblock != f->nblock))
			g = NULL;
		if (!f->block && !g)
			continue;
		kb = g ? decay_since(then, g->as_of_ms) : 0;
		for (j = 0; j < f->nblock; j++) {
			x = f->block ? f->block[j] * ka : 0;
			y = g ? g->block[j] * kb : 0;
			if (x + y > 0)
				expected += deviation((x + y) / (ta + tb), ta, tb);
			overlap += fmin(x / ta, y / tb);
		}
	}
	if (noise)
		*noise = fmin(1, expected);
	return fmin(1, fmax(0, 1 - overlap));
}

struct heat {
	double samples;
	size_t i;
};

static int hotter(const void *a, const void *b)
{
	const struct heat *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static size_t *sorted(const struct profile *p, struct decay at, bool per_block, size_t *n)
{
	struct heat *h = xcalloc(p->func.n, sizeof *h);
	size_t *order = xcalloc(p->func.n, sizeof *order);
	const struct profile_func *f;
	size_t i;

	*n = 0;
	for (i = 0; i < p->func.n; i++) {
		f = &p->func.v[i];
		h[*n] =
		    (struct heat){profile_func_samples(f, at) / (per_block ? f->nblock + 1 : 1), i};
		*n += h[*n].samples > 0;
	}
	qsort(h, *n, sizeof *h, hotter);
	for (i = 0; i < *n; i++)
		order[i] = h[i].i;
	free(h);
	return order;
}

size_t *profile_hottest(const struct profile *p, struct decay at, size_t *n)
{
	return sorted(p, at, false, n);
}

size_t *profile_densest(const struct profile *p, struct decay at, size_t blocks, size_t *n)
{
	size_t *order = sorted(p, at, true, n), taken = 0, i;

	for (i = 0; i < *n && taken + p->func.v[order[i]].nblock <= blocks; i++)
		taken += p->func.v[order[i]].nblock;
	*n = i;
	return order;
}

static int by_name(const void *a, const void *b)
{
	const struct profile_func *const *x = a, *const *y = b;
	int c = strcmp((*x)->name, (*y)->name);

	return c ? c : memcmp((*x)->key.b, (*y)->key.b, sizeof(*x)->key.b);
}

/* Less would be printed as 0.000. */
static const double printed = 0.0005;

/* The lines of one function, its samples aged by k. */
struct printer {
	struct buf *out;
	struct profiletext_line line;
	double k;
};

static void print_line(struct printer *p, double samples)
{
	if (samples * p->k < printed)
		return;
	p->line.value = (uint64_t)(fmin(samples * p->k, PROFILETEXT_VALUE_MAX) * 1000 + 0.5);
	profiletext_write(p->out, COUNTS_SAMPLES, &p->line);
}

static void print_edge(struct printer *p, const struct profile_edge *e)
{
	p->line.block = e->block;
	p->line.block2 = e->to;
	print_line(p, e->n);
}

/* Whether nearly all entries of one block, [i, end), are resolved. */
static bool mostly_resolved(const struct profile_func *f, size_t i, size_t end)
{
	double resolved = 0, unresolved = 0;

	for (; i < end; i++)
		*(f->predecessors.v[i].to == PROFILE_UNRESOLVED ? &unresolved : &resolved) +=
		    f->predecessors.v[i].n;
	return resolved >= PROFILE_RESOLVED * (resolved + unresolved);
}

static void print_predecessors(struct printer *p, const struct profile_func *f)
{
	const struct profile_edge *e = f->predecessors.v;
	size_t i, end, n = f->predecessors.n;

	for (i = 0; i < n; i = end) {
		for (end = i; end < n && e[end].block == e[i].block; end++)
			;
		if (!mostly_resolved(f, i, end))
			continue;
		for (; i < end; i++)
			if (e[i].to != PROFILE_UNRESOLVED)
				print_edge(p, &e[i]);
	}
}

static void print_calls(struct printer *p, const struct profile *of, const struct profile_func *f)
{
	const struct profile_func *callee;
	char hex[HASH_HEX];
	size_t i;

	for (i = 0; i < f->call.n; i++) {
		callee = profile_get(of, &f->call.v[i].callee);
		if (!callee)
			continue;
		p->line.block = f->call.v[i].block;
		p->line.callee = profiletext_name(callee->name, &callee->key, hex);
		print_line(p, f->call.v[i].n);
	}
}

static void print_func(
    const struct profile *p, const struct profile_func *f, double k, struct buf *out)
{
	struct printer t = {.out = out, .k = k};
	char hex[HASH_HEX];
	size_t i;

	t.line.func = profiletext_name(f->name, &f->key, hex);
	t.line.kind = PROFILETEXT_BLOCK;
	for (i = 0; f->block && i < f->nblock; i++) {
		t.line.block = (uint32_t)i;
		print_line(&t, f->block[i]);
	}
	t.line.kind = PROFILETEXT_EDGE;
	for (i = 0; i < f->edge.n; i++)
		print_edge(&t, &f->edge.v[i]);
	t.line.kind = PROFILETEXT_PREDECESSOR;
	print_predecessors(&t, f);
	t.line.kind = PROFILETEXT_CALL;
	print_calls(&t, p, f);
}

void profile_print(const struct profile *p, double density, struct decay at, struct buf *out)
{
	const struct profile_func **order = xcalloc(p->func.n, sizeof(*order)), *f;
	size_t i;

	for (i = 0; i < p->func.n; i++)
		order[i] = &p->func.v[i];
	qsort(order, p->func.n, sizeof *order, by_name);
	for (i = 0; i < p->func.n; i++) {
		f = order[i];
		print_func(p, f, density * decay_since(at, f->as_of_ms), out);
	}
	free(order);
}
