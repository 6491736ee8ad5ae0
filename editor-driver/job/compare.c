#include "editor-driver/job/compare.h"
#include "common/sort.h"
#include "editor-driver/profile/overlap.h"

static const double HOT[COMPARED_HOT] = {0.90, 0.95, 0.99};

/* ---- both profiles side by side ---- */

/* The counts of everything that either profile names; A in [0], B in [1]. */
struct sides {
	VEC(double) work[2], blocks[2], edges[2];
	VEC(uint32_t) bytes; /* by block */
};

static const struct cfg *cfg_of(const struct plan *p, size_t tu, uint32_t i)
{
	const struct plan_tu *t = &p->tu[tu];

	return t->edited && t->weight[i] ? &t->unit->func[i].cfg : NULL;
}

/* Adds one function; g[] is NULL on a side without counts for it. */
static void add_func(struct sides *s, const struct cfg *const g[2])
{
	const struct cfg *any = g[0] ? g[0] : g[1];
	const struct cfg_block *k;
	uint32_t i;
	int side;

	for (side = 0; side < 2; side++) {
		for (i = 0; i < any->nblock; i++) {
			k = g[side] ? &g[side]->block[i] : &(struct cfg_block){0};
			vec_push(&s->blocks[side], (double)k->count);
			vec_push(&s->work[side], (double)k->count * k->insns);
		}
		for (i = 0; i < any->nedge; i++)
			vec_push(&s->edges[side], g[side] ? (double)g[side]->edge[i].count : 0);
	}
	for (i = 0; i < any->nblock; i++)
		vec_push(&s->bytes, any->block[i].bytes);
}

static void sides_free(struct sides *s)
{
	int side;

	for (side = 0; side < 2; side++) {
		vec_free(&s->work[side]);
		vec_free(&s->blocks[side]);
		vec_free(&s->edges[side]);
	}
	vec_free(&s->bytes);
}

/* Of all blocks and edges from these on. */
static struct agreement agree(const struct sides *s, size_t block, size_t edge)
{
	return (struct agreement){
	    .work = overlap(s->work[0].v + block, s->work[1].v + block, s->work[0].n - block),
	    .blocks =
		overlap(s->blocks[0].v + block, s->blocks[1].v + block, s->blocks[0].n - block),
	    .edges = overlap(s->edges[0].v + edge, s->edges[1].v + edge, s->edges[0].n - edge)};
}

static double sum_from(const double *w, size_t from, size_t to)
{
	double sum = 0;

	for (; from < to; from++)
		sum += w[from];
	return sum;
}

/* ---- figures ---- */

static void compare_func(struct comparison *c, struct sides *s, const struct art_func *func,
    const struct cfg *const g[2])
{
	size_t block = s->bytes.n, edge = s->edges[0].n;
	struct compared_func f = {.func = func};
	int side;

	add_func(s, g);
	for (side = 0; side < 2; side++)
		f.share[side] = sum_from(s->work[side].v, block, s->work[side].n);
	if (g[0] && g[1])
		f.in = agree(s, block, edge);
	vec_push(&c->func, f);
}

static double mean_share(const struct compared_func *f)
{
	return (f->share[0] + f->share[1]) / 2;
}

static int by_share(const void *pa, const void *pb)
{
	const struct compared_func *a = pa, *b = pb;
	double x = mean_share(a), y = mean_share(b);

	return ORDER(y, x) ?: ORDER(a->func, b->func);
}

static void sum_up(struct comparison *c, const struct sides *s)
{
	double all[2] = {
	    sum_from(s->work[0].v, 0, s->work[0].n), sum_from(s->work[1].v, 0, s->work[1].n)};
	struct compared_func *f;
	int side;

	c->whole = agree(s, 0, 0);
	for (f = c->func.v; f < c->func.v + c->func.n; f++) {
		for (side = 0; side < 2; side++)
			f->share[side] /= all[side] > 0 ? all[side] : 1;
		c->within.work += mean_share(f) * f->in.work;
		c->within.blocks += mean_share(f) * f->in.blocks;
		c->within.edges += mean_share(f) * f->in.edges;
	}
	vec_sort(&c->func, by_share);
}

static void compare_hot(const struct sides *s, struct compared_hot *h)
{
	uint8_t *hot[2] = {xcalloc(s->bytes.n, 1), xcalloc(s->bytes.n, 1)};
	double in_b = 0, in_both = 0;
	size_t i;
	int side;

	for (side = 0; side < 2; side++)
		h->blocks[side] =
		    overlap_hot(s->work[side].v, s->work[side].n, h->share, hot[side]);
	for (i = 0; i < s->bytes.n; i++) {
		for (side = 0; side < 2; side++)
			h->bytes[side] += hot[side][i] ? s->bytes.v[i] : 0;
		in_b += hot[1][i] ? s->work[1].v[i] : 0;
		in_both += hot[0][i] && hot[1][i] ? s->work[1].v[i] : 0;
		h->both += hot[0][i] && hot[1][i];
	}
	h->held = in_b > 0 ? in_both / in_b : 0;
	free(hot[0]);
	free(hot[1]);
}

/* Of functions that share their counts, such as C++ inline functions, the first. */
static void compare_funcs(struct comparison *c, struct sides *s, size_t t, size_t from)
{
	const struct cfg *g[2];
	uint32_t i;
	int side;

	for (i = 0; i < c->plan[0].tu[t].nfunc; i++) {
		for (side = 0; side < 2; side++)
			g[side] = counts_stands(&c->counts[side], from + i)
				      ? cfg_of(&c->plan[side], t, i)
				      : NULL;
		if (g[0] || g[1])
			compare_func(c, s, &c->plan[0].func[from + i], g);
	}
}

static void compare_counts(struct comparison *c)
{
	struct sides s = {0};
	size_t t, from = 0;
	int k;

	for (t = 0; t < c->plan[0].ntu; from += c->plan[0].tu[t++].nfunc)
		compare_funcs(c, &s, t, from);
	sum_up(c, &s);
	for (k = 0; k < COMPARED_HOT; k++) {
		c->hot[k].share = HOT[k];
		compare_hot(&s, &c->hot[k]);
	}
	sides_free(&s);
}

static void compare_layouts(struct comparison *c)
{
	const struct plan *b = &c->plan[1];
	const struct built_code original = {.map = &b->map};

	score_plan(b, &c->plan[0], NULL, &c->a);
	score_plan(b, b, NULL, &c->b);
	score_build(b, &original, &c->original);
}

/* ---- the job ---- */

static int make_plan(
    struct comparison *c, int side, const struct compare_input *in, unsigned jobs, struct err *e)
{
	struct plan *p = &c->plan[side];
	const struct art_func *func;
	size_t n = artifact_funcs(c->art, &func);

	if (counts_read(in->path, in->form, func, n, &c->counts[side], e) ||
	    plan_begin(
		p, c->art, PLAN_PROFILE, 0, &c->counts[side], (struct plan_omit){0}, jobs, e) ||
	    plan_parse(p, e))
		return -1;
	plan_infer(p);
	plan_layout(p);
	plan_order(p);
	return 0;
}

int compare(struct artifact *art, const struct compare_input in[2], unsigned jobs,
    struct comparison *c, struct err *e)
{
	*c = (struct comparison){.art = art};
	if (make_plan(c, 0, &in[0], jobs, e) || make_plan(c, 1, &in[1], jobs, e))
		return -1;
	compare_counts(c);
	compare_layouts(c);
	return 0;
}

void compare_close(struct comparison *c)
{
	int side;

	for (side = 0; side < 2; side++) {
		plan_free(&c->plan[side]);
		counts_free(&c->counts[side]);
	}
	vec_free(&c->func);
	artifact_close(c->art);
	*c = (struct comparison){0};
}
