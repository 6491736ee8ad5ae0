#include "editor-driver/profile/carry.h"
#include "editor/cfg.h"

#include <string.h>

struct carrying {
	const struct shapes *old, *now;
	const struct counts *c;
	const struct shape_pair *pair;
	struct buf *out;
	/* The function at hand: */
	uint32_t i;         /* of old */
	const uint32_t *to; /* what its blocks have become; NULL = themselves */
	struct arena mem;   /* … which is in here */
	struct profiletext_name name;
	char hex[HASH_HEX];
};

const struct art_func *carry_funcs(const struct shapes *s, struct arena *a)
{
	struct art_func *v = arena_array(a, s->func.n, sizeof *v);
	const struct shape_func *f;
	size_t i;

	for (i = 0; i < s->func.n; i++) {
		f = &s->func.v[i];
		v[i].name = f->name;
		v[i].key = f->key;
		v[i].nblock = f->nblock;
	}
	return v;
}

static const struct shape_func *old_func(const struct carrying *k)
{
	return &k->old->func.v[k->i];
}

static const struct shape_func *new_func(const struct carrying *k)
{
	return &k->now->func.v[k->pair[k->i].func];
}

static uint32_t new_block(const struct carrying *k, uint32_t b)
{
	return k->to ? k->to[b] : b;
}

static void put(struct carrying *k, struct profiletext_line l, double samples)
{
	l.func = k->name;
	l.value = (uint64_t)(samples * 1000 / SAMPLE_ONE + .5);
	if (l.value > PROFILETEXT_VALUE_MAX)
		l.value = PROFILETEXT_VALUE_MAX;
	if (l.value)
		profiletext_write(k->out, COUNTS_SAMPLES, &l);
}

/* ---- blocks ---- */

/* The samples that as many executions of the new block would have. */
static double in_new_block(const struct carrying *k, uint32_t b)
{
	uint32_t was = old_func(k)->block[b].insns, is = new_func(k)->block[new_block(k, b)].insns;
	double v = (double)k->c->block[k->i][b];

	return was && is ? v * is / was : v;
}

static void carry_blocks(struct carrying *k)
{
	double all = 0, along = 0, scale;
	uint32_t b;

	for (b = 0; b < old_func(k)->nblock; b++) {
		all += (double)k->c->block[k->i][b];
		along += new_block(k, b) == SHAPE_NONE ? 0 : in_new_block(k, b);
	}
	if (!(along > 0)) {
		put(k, (struct profiletext_line){.kind = PROFILETEXT_BLOCK}, all);
		return;
	}
	for (scale = all / along, b = 0; b < old_func(k)->nblock; b++)
		if (new_block(k, b) != SHAPE_NONE)
			put(k,
			    (struct profiletext_line){
				.kind = PROFILETEXT_BLOCK, .block = new_block(k, b)},
			    in_new_block(k, b) * scale);
}

/* ---- flows ---- */

static bool has_edge(const struct shape_func *f, uint32_t from, uint32_t to)
{
	const struct shape_block *b = &f->block[from];
	uint32_t i;

	for (i = 0; i < b->nsucc && b->succ[i] != to; i++)
		;
	return i < b->nsucc;
}

static void carry_edges(struct carrying *k, enum counts_flows kind)
{
	const struct counts_flow *v;
	size_t n = counts_flows(k->c, k->i, kind, &v), i;
	struct profiletext_line l = {
	    .kind = kind == COUNTS_PRED ? PROFILETEXT_PREDECESSOR : PROFILETEXT_EDGE};
	uint32_t from, to;

	for (i = 0; i < n; i++) {
		from = new_block(k, v[i].block);
		to = new_block(k, v[i].to);
		if (from == SHAPE_NONE || to == SHAPE_NONE || !has_edge(new_func(k), from, to))
			continue;
		l.block = kind == COUNTS_PRED ? to : from;
		l.block2 = kind == COUNTS_PRED ? from : to;
		put(k, l, (double)v[i].value);
	}
}

static void carry_calls(struct carrying *k)
{
	const struct counts_flow *v;
	size_t n = counts_flows(k->c, k->i, COUNTS_CALLS, &v), i;
	struct profiletext_line l = {.kind = PROFILETEXT_CALL};
	const struct shape_func *callee;
	char hex[HASH_HEX];

	for (i = 0; i < n; i++) {
		l.block = new_block(k, v[i].block);
		if (l.block == SHAPE_NONE || k->pair[v[i].to].how == SHAPE_GONE)
			continue;
		callee = &k->now->func.v[k->pair[v[i].to].func];
		l.callee = profiletext_name(callee->name, &callee->key, hex);
		put(k, l, (double)v[i].value);
	}
}

static void carry_func(struct carrying *k)
{
	enum shape_how how = k->pair[k->i].how;

	k->to = how == SHAPE_SAME ? NULL : shape_match(old_func(k), new_func(k), &k->mem);
	k->name = profiletext_name(new_func(k)->name, &new_func(k)->key, k->hex);
	carry_blocks(k);
	carry_edges(k, COUNTS_EDGES);
	carry_edges(k, COUNTS_PRED);
	carry_calls(k);
	arena_free(&k->mem);
}

void carry(const struct shapes *old, const struct shapes *now, const struct counts *c,
    struct carried by[SHAPE_RENAMED + 1], struct buf *out)
{
	struct arena mem = {0};
	struct carrying k = {
	    .old = old, .now = now, .c = c, .pair = shapes_pair(old, now, &mem), .out = out};
	struct carried *sum;
	uint32_t b;

	memset(by, 0, (SHAPE_RENAMED + 1) * sizeof *by);
	for (k.i = 0; k.i < old->func.n; k.i++) {
		if (!counts_stands(c, k.i))
			continue;
		sum = &by[k.pair[k.i].how];
		sum->functions++;
		for (b = 0; b < old->func.v[k.i].nblock; b++)
			sum->samples += c->block[k.i][b];
		if (k.pair[k.i].how != SHAPE_GONE)
			carry_func(&k);
	}
	arena_free(&mem);
}
