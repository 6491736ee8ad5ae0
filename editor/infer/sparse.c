#include "editor/infer/sparse.h"
#include "common/sort.h"

#include <stdlib.h>

static const uint32_t NONE = UINT32_MAX;
static const double INFINITE = 1e200;

struct neighbours {
	uint32_t *v, n, cap;
};

struct ordering {
	struct neighbours *adj;
	uint32_t n;
	uint32_t *mark, stamp;
	uint32_t *bucket, *prev, *next; /* lists of nodes by degree */
	uint32_t least;
	struct arena *a;
};

static void unlink_node(struct ordering *o, uint32_t v)
{
	if (o->prev[v] != NONE)
		o->next[o->prev[v]] = o->next[v];
	else
		o->bucket[o->adj[v].n] = o->next[v];
	if (o->next[v] != NONE)
		o->prev[o->next[v]] = o->prev[v];
}

static void link_node(struct ordering *o, uint32_t v)
{
	uint32_t d = o->adj[v].n;

	o->prev[v] = NONE;
	o->next[v] = o->bucket[d];
	if (o->next[v] != NONE)
		o->prev[o->next[v]] = v;
	o->bucket[d] = v;
	if (d < o->least)
		o->least = d;
}

static void push(struct ordering *o, uint32_t v, uint32_t w)
{
	struct neighbours *l = &o->adj[v];

	l->v = arena_more(o->a, l->v, l->n, &l->cap, sizeof *l->v);
	l->v[l->n++] = w;
}

static void read_graph(struct ordering *o, const uint32_t *pair, size_t npair)
{
	uint32_t v, i, k;
	size_t p;

	for (p = 0; p < npair; p++)
		if (pair[2 * p] != pair[2 * p + 1]) {
			push(o, pair[2 * p], pair[2 * p + 1]);
			push(o, pair[2 * p + 1], pair[2 * p]);
		}
	for (v = 0; v < o->n; v++) {
		o->stamp++;
		for (i = k = 0; i < o->adj[v].n; i++)
			if (o->mark[o->adj[v].v[i]] != o->stamp) {
				o->mark[o->adj[v].v[i]] = o->stamp;
				o->adj[v].v[k++] = o->adj[v].v[i];
			}
		o->adj[v].n = k;
	}
}

/* Takes v out of the graph and joins its neighbours with one another. */
static void eliminate(struct ordering *o, uint32_t v)
{
	const struct neighbours *nv = &o->adj[v];
	uint32_t i, k, j, u, keep;

	for (i = 0; i < nv->n; i++) {
		u = nv->v[i];
		unlink_node(o, u);
		o->stamp++;
		o->mark[u] = o->stamp;
		for (k = keep = 0; k < o->adj[u].n; k++) {
			j = o->adj[u].v[k];
			o->mark[j] = o->stamp;
			if (j != v)
				o->adj[u].v[keep++] = j;
		}
		o->adj[u].n = keep;
		for (k = 0; k < nv->n; k++)
			if (o->mark[nv->v[k]] != o->stamp)
				push(o, u, nv->v[k]);
		link_node(o, u);
	}
}

/* Sets s->at, and the columns of the factor as unknowns. */
static bool order(struct sparse *s, struct ordering *o, uint64_t limit)
{
	uint64_t entries = 0, work = 0;
	uint32_t i, v;

	for (v = o->n; v--;)
		link_node(o, v);
	for (i = 0; i < o->n; i++) {
		while (o->bucket[o->least] == NONE)
			o->least++;
		v = o->bucket[o->least];
		unlink_node(o, v);
		s->at[v] = i;
		entries += o->adj[v].n;
		work += (uint64_t)o->adj[v].n * o->adj[v].n;
		if (work > limit)
			return false;
		eliminate(o, v);
	}
	s->row = arena_array(o->a, entries, sizeof *s->row);
	s->val = arena_array(o->a, entries, sizeof *s->val);
	return true;
}

static void set_columns(struct sparse *s, const struct ordering *o)
{
	uint32_t v, i, k;

	for (v = 0; v < s->n; v++)
		s->first[s->at[v] + 1] = o->adj[v].n;
	for (i = 0; i < s->n; i++)
		s->first[i + 1] += s->first[i];
	for (v = 0; v < s->n; v++) {
		i = s->first[s->at[v]];
		for (k = 0; k < o->adj[v].n; k++)
			s->row[i + k] = s->at[o->adj[v].v[k]];
		if (o->adj[v].n)
			qsort(s->row + i, o->adj[v].n, sizeof *s->row, order_u32);
	}
}

bool sparse_analyse(struct sparse *s, uint32_t n, const uint32_t *pair, size_t npair,
    uint64_t limit, struct arena *a)
{
	struct ordering o = {.n = n, .a = a};
	uint32_t i;

	*s = (struct sparse){.n = n};
	s->at = arena_array(a, n, sizeof *s->at);
	s->first = arena_array(a, (size_t)n + 1, sizeof *s->first);
	s->diag = arena_array(a, n, sizeof *s->diag);
	s->next = arena_array(a, n, sizeof *s->next);
	s->head = arena_array(a, n, sizeof *s->head);
	s->pos = arena_array(a, n, sizeof *s->pos);
	s->work = arena_array(a, n, sizeof *s->work);
	o.adj = arena_array(a, n, sizeof *o.adj);
	o.mark = arena_array(a, n, sizeof *o.mark);
	o.prev = arena_array(a, n, sizeof *o.prev);
	o.next = arena_array(a, n, sizeof *o.next);
	o.bucket = arena_array(a, (size_t)n + 1, sizeof *o.bucket);
	for (i = 0; i <= n; i++)
		o.bucket[i] = NONE;
	read_graph(&o, pair, npair);
	if (!order(s, &o, limit))
		return false;
	set_columns(s, &o);
	return true;
}

double *sparse_entry(const struct sparse *s, uint32_t i, uint32_t j)
{
	uint32_t a = s->at[i], b = s->at[j], lo, hi, mid;

	if (a == b)
		return &s->diag[a];
	if (a > b)
		mid = a, a = b, b = mid;
	lo = s->first[a];
	hi = s->first[a + 1];
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (s->row[mid] <= b)
			lo = mid;
		else
			hi = mid;
	}
	return &s->val[lo];
}

void sparse_clear(struct sparse *s)
{
	uint32_t i;

	for (i = 0; i < s->n; i++)
		s->diag[i] = 0;
	for (i = 0; i < s->first[s->n]; i++)
		s->val[i] = 0;
}

/* Puts column k on the list of the next row where it is not zero. */
static void enlist(struct sparse *s, uint32_t k)
{
	uint32_t row;

	if (s->pos[k] == s->first[k + 1])
		return;
	row = s->row[s->pos[k]];
	s->next[k] = s->head[row];
	s->head[row] = k;
}

void sparse_factor(struct sparse *s)
{
	uint32_t i, k, next, p;
	double by;

	for (i = 0; i < s->n; i++)
		s->head[i] = NONE;
	for (i = 0; i < s->n; i++) {
		for (p = s->first[i]; p < s->first[i + 1]; p++)
			s->work[s->row[p]] = s->val[p];
		for (k = s->head[i]; k != NONE; k = next) {
			next = s->next[k];
			p = s->pos[k]++;
			by = s->val[p] * s->diag[k];
			s->diag[i] -= by * s->val[p];
			for (p++; p < s->first[k + 1]; p++)
				s->work[s->row[p]] -= by * s->val[p];
			enlist(s, k);
		}
		/* This unknown is unconstrained: it becomes 0. */
		if (!(s->diag[i] > 0))
			s->diag[i] = INFINITE;
		for (p = s->first[i]; p < s->first[i + 1]; p++)
			s->val[p] = s->work[s->row[p]] / s->diag[i];
		s->pos[i] = s->first[i];
		enlist(s, i);
	}
}

void sparse_solve(const struct sparse *s, double *x)
{
	uint32_t i, p;
	double *y = s->work;

	for (i = 0; i < s->n; i++)
		y[s->at[i]] = x[i];
	for (i = 0; i < s->n; i++)
		for (p = s->first[i]; p < s->first[i + 1]; p++)
			y[s->row[p]] -= s->val[p] * y[i];
	for (i = s->n; i--;) {
		y[i] /= s->diag[i];
		for (p = s->first[i]; p < s->first[i + 1]; p++)
			y[i] -= s->val[p] * y[s->row[p]];
	}
	for (i = 0; i < s->n; i++)
		x[i] = y[s->at[i]];
}
