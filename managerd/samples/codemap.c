#include "managerd/samples/codemap.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is read ---- */

void code_input_map(struct code_input *in, const struct map *m, uint32_t nslot)
{
	in->nslot = nslot;
	in->nrange = m->range.n;
	in->range = xmalloc_large(m->range.n, sizeof *in->range);
	if (m->range.n)
		memcpy(in->range, m->range.v, m->range.n * sizeof *in->range);
}

void code_input_add(struct code_input *in, const struct map_func *t, const struct profile_func *f,
    struct decay at, uint32_t *heat)
{
	double weight;
	uint32_t i;

	if (!f || !f->block)
		return;
	if (!*heat) {
		weight = decay_since(at, f->as_of_ms);
		*heat = (uint32_t)in->heat.n + 1;
		for (i = 0; i < f->nblock; i++)
			vec_push(&in->heat, f->block[i] * weight);
	}
	vec_push(&in->func, (struct code_func){t->slot, t->nblock, *heat - 1});
}

void code_input_free(struct code_input *in)
{
	free(in->range);
	vec_free(&in->func);
	vec_free(&in->heat);
	vec_free(&in->find);
}

/* ---- heat per place ---- */

/* Where each slot counts, 1 + its index in heat, and the samples of one place there. */
struct places {
	uint32_t *at;
	double *each;
	bool *wanted; /* slots of functions that are looked for; NULL = none are */
};

static void places_make(struct places *p, const struct code_input *in)
{
	uint32_t *n = xcalloc(in->heat.n + 1, sizeof *n), k;
	size_t i;

	*p = (struct places){.at = xcalloc(in->nslot + 1, sizeof *p->at),
	    .each = xcalloc(in->heat.n + 1, sizeof *p->each)};
	for (i = 0; i < in->func.n; i++)
		for (k = 0; k < in->func.v[i].nblock; k++)
			p->at[in->func.v[i].slot + k] = in->func.v[i].heat + k + 1;
	for (i = 0; i < in->nrange; i++)
		n[p->at[in->range[i].slot]]++;
	for (i = 0; i < in->heat.n; i++)
		p->each[i + 1] = n[i + 1] ? in->heat.v[i] / n[i + 1] : 0;
	free(n);
	if (in->find.n)
		p->wanted = xcalloc(in->nslot + 1, sizeof *p->wanted);
	for (i = 0; i < in->find.n; i++)
		memset(p->wanted + in->find.v[i].slot, true, in->find.v[i].nblock);
}

static void places_free(struct places *p)
{
	free(p->at);
	free(p->each);
	free(p->wanted);
}

/* ---- cells and blocks ---- */

static uint64_t line_below(uint64_t offset)
{
	return offset / CODE_LINE * CODE_LINE;
}

static uint64_t line_above(uint64_t offset)
{
	return line_below(offset + CODE_LINE - 1);
}

/* Whole lines within the code, and what a cell of them is. */
static void frame(struct code *c, const struct code_input *in, const struct code_query *q)
{
	uint64_t lines;

	if (!in->nrange)
		return;
	c->begin = line_below(in->range[0].start);
	c->end = line_above(in->range[in->nrange - 1].end);
	c->from = q->to ? line_below(q->from) : c->begin;
	c->to = q->to ? line_above(q->to) : c->end;
	if (c->from < c->begin)
		c->from = c->begin;
	if (c->to > c->end)
		c->to = c->end;
	if (c->from >= c->to)
		c->to = c->from;
	lines = (c->to - c->from) / CODE_LINE;
	c->cell = CODE_LINE * ((lines + q->cells - 1) / q->cells);
	if (lines)
		c->cell_at.n = c->cell_at.cap = (c->to - c->from + c->cell - 1) / c->cell;
	c->cell_at.v = xcalloc(c->cell_at.n, sizeof *c->cell_at.v);
}

/* The first range that ends after an offset. */
static size_t first_after(const struct code_input *in, uint64_t offset)
{
	size_t lo = 0, hi = in->nrange, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (in->range[mid].end <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void add_to_cells(struct code *c, double *most, const struct map_range *r, double samples)
{
	uint64_t begin = r->start > c->from ? r->start : c->from, next;
	uint64_t end = r->end < c->to ? r->end : c->to;
	struct code_cell *k;
	double part;
	size_t i;

	for (; begin < end; begin = next) {
		i = (begin - c->from) / c->cell;
		next = c->from + (i + 1) * c->cell;
		if (next > end)
			next = end;
		k = &c->cell_at.v[i];
		part = samples * (double)(next - begin) / (r->end - r->start);
		k->bytes += (uint32_t)(next - begin);
		k->samples += part;
		c->within += part;
		if (part > most[i]) {
			most[i] = part;
			k->slot = r->slot;
		}
	}
}

static void fill(struct code *c, const struct code_input *in, const struct places *p)
{
	size_t begin = first_after(in, c->from), i;
	double *most = xcalloc(c->cell_at.n + 1, sizeof *most);
	const struct map_range *r;

	for (i = 0; i < c->cell_at.n; i++)
		c->cell_at.v[i].slot = c->cell_at.v[i].function = CODE_NONE;
	for (i = begin; i < in->nrange && in->range[i].start < c->to; i++)
		add_to_cells(c, most, &in->range[i], p->each[p->at[in->range[i].slot]]);
	free(most);
	c->nblock = i - begin;
	for (i = 0; i < c->nblock && c->nblock <= CODE_BLOCKS_MAX; i++) {
		r = &in->range[begin + i];
		vec_push(&c->block, (struct code_block){.offset = r->start,
					.size = r->end - r->start,
					.slot = r->slot,
					.samples = p->each[p->at[r->slot]]});
	}
}

/* Blocks of it that follow one another, but for padding, are one part. */
static void find(struct code *c, const struct code_input *in, const struct places *p)
{
	const struct map_range *r;
	struct code_part *last;
	size_t i;

	for (i = 0; p->wanted && i < in->nrange; i++) {
		r = &in->range[i];
		if (!p->wanted[r->slot])
			continue;
		last = c->part.n ? &c->part.v[c->part.n - 1] : NULL;
		if (last && r->start - last->to < CODE_LINE)
			last->to = r->end;
		else if (c->part.n == CODE_PARTS_MAX)
			break;
		else
			vec_push(&c->part, (struct code_part){r->start, r->end});
	}
}

void code_make(const struct code_input *in, const struct code_query *q, struct code *c)
{
	struct places p;
	size_t i;

	*c = (struct code){0};
	places_make(&p, in);
	frame(c, in, q);
	for (i = 0; i < in->nrange; i++)
		c->samples += p.each[p.at[in->range[i].slot]];
	fill(c, in, &p);
	find(c, in, &p);
	places_free(&p);
}

/* ---- names and edges ---- */

static uint32_t function_of(
    struct code *c, struct htab *seen, const struct map_table *t, uint32_t slot, uint32_t *block)
{
	uint32_t n = (uint32_t)(map_slot(t, slot, block) - t->func.v);
	bool fresh;
	uint64_t *at = htab_put(seen, &n, sizeof n, &fresh);

	if (fresh) {
		*at = c->function.n;
		vec_push(&c->function, n);
	}
	return (uint32_t)*at;
}

void code_name(struct code *c, const struct map_table *t)
{
	struct htab seen = {0};
	uint32_t block;
	size_t i;

	for (i = 0; i < c->cell_at.n; i++)
		if (c->cell_at.v[i].slot != CODE_NONE)
			c->cell_at.v[i].function =
			    function_of(c, &seen, t, c->cell_at.v[i].slot, &block);
	for (i = 0; i < c->block.n; i++)
		c->block.v[i].function =
		    function_of(c, &seen, t, c->block.v[i].slot, &c->block.v[i].block);
	htab_free(&seen);
}

void code_add_edges(struct code *c, uint32_t i, const struct profile_func *f, struct decay at)
{
	double weight = decay_since(at, f->as_of_ms);
	struct htab seen = {0};
	size_t b, k, begin, end;
	uint32_t block;
	bool fresh;

	for (b = 0; b < c->block.n && f->edge.n; b++) {
		block = c->block.v[b].block;
		if (c->block.v[b].function != i)
			continue;
		htab_put(&seen, &block, sizeof block, &fresh); /* a copy says the same */
		end = fresh ? profile_edges_of(f, block, &begin) : 0;
		for (k = fresh ? begin : 0; k < end && c->edge.n < CODE_EDGES_MAX; k++)
			vec_push(&c->edge,
			    (struct code_edge){i, block, f->edge.v[k].to, f->edge.v[k].n * weight});
	}
	htab_free(&seen);
}

void code_free(struct code *c)
{
	vec_free(&c->cell_at);
	vec_free(&c->block);
	vec_free(&c->part);
	vec_free(&c->function);
	vec_free(&c->edge);
}
