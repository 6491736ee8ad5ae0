#include "editor-driver/job/annotate.h"
#include "common/sort.h"
#include "editor/infer/infer.h"

#include <string.h>

/* Of all functions with counts. */
struct totals {
	double samples, insns; /* taken; executed, in the unit of executions */
};

struct annotator {
	struct plan *p;
	const struct built_code *code;
	struct annotation *out;
	struct plan_tu *t;
	uint32_t ord;
	struct totals totals;
	double unit; /* of counts in one execution */
};

/* ---- the function ---- */

/* Of the functions that a name means, the one that the build has. */
static int find(struct annotator *a, const char *name, const struct mapindex *build, struct err *e)
{
	struct plan *p = a->p;
	const struct art_func *f, *end = p->func + p->nfunc;
	size_t first;

	if (counts_named(p->func, p->nfunc, name, &first, e))
		return -1;
	for (f = p->func + first; f < end; f++) {
		a->t = &p->tu[f->tu];
		a->ord = f->ord;
		if (!strcmp(f->name, p->func[first].name) &&
		    hash_equal(&f->key, &p->func[first].key) &&
		    mapindex_first(build, hash_short(&a->t->art->hash), f->ord) >= 0)
			break;
	}
	if (f == end)
		return err_set(e, "%s: the build does not have this function", name);
	a->out->func = f;
	a->out->unit = a->t->art->name;
	a->out->build = a->code->map->id;
	return 0;
}

static struct totals sum_up(const struct plan *p, double unit)
{
	struct totals s = {(double)p->counts->used / SAMPLE_ONE, 0};
	const struct plan_func *f;
	const struct cfg_block *b;
	const struct cfg *g;

	for (f = p->weighed; f < p->weighed + p->nweighed; f++) {
		g = &f->tu->unit->func[f->ord].cfg;
		for (b = g->block; counts_stands(p->counts, plan_index(p, f->tu, f->ord)) &&
				   b < g->block + g->nblock;
		     b++)
			s.insns += (double)b->count * b->insns / unit;
	}
	return s;
}

/* ---- its blocks ---- */

static void set_edges(struct annotator *a, const struct cfg *g, struct annotated_block *to)
{
	double outcomes = 0, left = 0, unit = a->out->sampled ? SAMPLE_ONE : 1;
	const struct cfg_edge *e = g->edge + g->succ[to->id];
	struct annotated_edge *edge;
	uint32_t k;

	to->nedge = g->succ[to->id + 1] - g->succ[to->id];
	for (k = 0; k < to->nedge; k++) {
		outcomes += (double)e[k].outcomes;
		left += (double)e[k].count;
	}
	to->edge = edge = arena_array(&a->out->mem, to->nedge, sizeof *edge);
	for (k = 0; k < to->nedge; k++)
		edge[k] = (struct annotated_edge){e[k].dst, e[k].kind,
		    left > 0 ? (double)e[k].count / left : 0,
		    outcomes > 0 ? (double)e[k].outcomes / unit : -1};
}

static void set_block(struct annotator *a, const struct cfg *g, struct annotated_block *to)
{
	const struct cfg_block *b = &g->block[to->id];

	to->entry = !to->id;
	to->pad = b->flags & BLK_PAD;
	to->samples = a->out->sampled ? (double)b->samples / SAMPLE_ONE : 0;
	to->executions = (double)b->count / a->unit;
	to->here /= a->unit;
	to->cost = to->stall = -1;
	if (to->samples > ANNOTATE_SAMPLES && to->executions > 0 && b->insns) {
		to->cost = to->samples / to->executions;
		to->stall = to->cost / b->insns * a->totals.insns / a->totals.samples;
	}
	set_edges(a, g, to);
}

/* Costs become those in units of the least. */
static void scale_costs(struct annotation *out)
{
	struct annotated_block *b, *end = out->block + out->nblock;
	double least = 0;

	for (b = out->block; b < end; b++)
		if (b->cost > 0 && (!(least > 0) || b->cost < least))
			least = b->cost;
	for (b = out->block; b < end; b++)
		if (b->cost > 0)
			b->cost /= least;
}

static int by_address(const void *pa, const void *pb)
{
	const struct annotated_block *a = pa, *b = pb;

	return ORDER(b->present, a->present) ?: ORDER(a->addr, b->addr) ?: ORDER(a->id, b->id);
}

static void set_originals(struct annotator *a, uint32_t nblock)
{
	const struct bm_block **at = arena_array(&a->out->mem, nblock, sizeof *at);
	struct annotated_block *b;
	struct func_blocks blocks;
	size_t i;

	mapindex_blocks(&a->p->index, hash_short(&a->t->art->hash), a->ord, nblock, &blocks);
	for (i = 0; i < blocks.block.n; i++)
		at[blocks.block.v[i]->id] = blocks.block.v[i];
	for (b = a->out->block; b < a->out->block + a->out->nblock; b++) {
		b->in_original = at[b->id];
		b->original = at[b->id] ? at[b->id]->addr : 0;
	}
	mapindex_blocks_free(&blocks);
}

static void set_blocks(struct annotator *a, const struct mapindex *build, const struct unit_func *f)
{
	struct annotation *out = a->out;
	const struct cfg *g = &f->cfg;
	uint8_t *head = arena_array(&out->mem, g->nblock, 1);
	uint32_t *primary = arena_array(&out->mem, g->nblock, sizeof *primary), n, k, id;
	struct annotated_block *to;
	struct fe_slot *slot;
	struct layout l;
	double *count;

	n = built_func(build, hash_short(&a->t->art->hash), f, &out->mem, &l, &slot);
	built_jumps(g, &l, slot, n, a->code, primary, &out->mem);
	count = arena_array(&out->mem, l.n, sizeof *count);
	layout_flow(g, &l, count);
	cfg_loop_heads(g, head);
	out->block = arena_array(&out->mem, l.n, sizeof *out->block);
	for (k = 0; k < l.n; k++) {
		to = &out->block[out->nblock++];
		id = l.order[k];
		*to = (struct annotated_block){.id = id,
		    .bytes = slot[k].bytes,
		    .present = k < n,
		    .addr = slot[k].addr,
		    .cold = k >= l.nhot,
		    .copy = primary[id] != k,
		    .loop_head = head[id],
		    .here = count[k]};
		set_block(a, g, to);
		out->samples += to->copy ? 0 : to->samples;
	}
	scale_costs(out);
	set_originals(a, g->nblock);
	qsort(out->block, out->nblock, sizeof *out->block, by_address);
}

/* The share of the function in what the profile counts. */
static double share_of(const struct annotator *a, const struct unit_func *f)
{
	double insns = 0;
	uint32_t b;

	if (a->out->sampled)
		return a->totals.samples > 0 ? a->out->samples / a->totals.samples : 0;
	for (b = 0; b < f->cfg.nblock; b++)
		insns += (double)f->cfg.block[b].count * f->cfg.block[b].insns;
	return a->totals.insns > 0 ? insns / a->totals.insns : 0;
}

int annotate(struct plan *p, const struct built_code *code, const char *name,
    struct annotation *out, struct err *e)
{
	struct annotator a = {.p = p, .code = code, .out = out};
	struct plan_text text = {0};
	struct mapindex build;
	struct unit *u = NULL;
	int rc;

	*out = (struct annotation){.sampled = p->counts->form == COUNTS_SAMPLES};
	a.unit = out->sampled ? COUNT_ONE : 1;
	a.totals = sum_up(p, a.unit);
	mapindex_make(&build, code->map);
	rc = find(&a, name, &build, e);
	if (!rc)
		u = a.t->edited ? plan_unit(p, a.t, &text, e) : NULL;
	if (!rc && !a.t->edited && !plan_read(p, a.t, &text, e))
		u = text.unit;
	if (u) {
		set_blocks(&a, &build, &u->func[a.ord]);
		out->share = share_of(&a, &u->func[a.ord]);
		listing_make(u, a.ord, &out->listing);
	}
	plan_text_free(&text);
	mapindex_free(&build);
	return u ? 0 : -1;
}

void annotation_free(struct annotation *a)
{
	listing_free(&a->listing);
	arena_free(&a->mem);
	*a = (struct annotation){0};
}
