#include "common/command/ldopt.h"
#include "common/sort.h"
#include "editor-driver/os/parallel.h"
#include "editor-driver/plan/passes.h"
#include "editor/layout/relax.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH_BLOCKS = 64, KEPT_TEXT = 32 << 20 };

/* ---- begin ---- */

static int read_map(struct plan *p, struct err *e)
{
	struct buf b = {0};
	int rc;

	rc = artifact_blockmap(p->art, &b, e);
	if (!rc)
		rc = blockmap_decode(b.p, b.n, &p->map, e);
	buf_free(&b);
	if (!rc)
		mapindex_make(&p->index, &p->map);
	return rc;
}

static void weigh(struct plan *p, struct plan_tu *t)
{
	uint32_t i;

	t->weight = arena_array(&t->mem, t->nfunc, sizeof *t->weight);
	for (i = 0; i < t->nfunc; i++) {
		t->weight[i] = p->counts && p->counts->block ? counts_weight(p->counts, p->func,
								   (size_t)(t->func - p->func) + i)
							     : p->mode == PLAN_RANDOM;
		t->edited = t->edited || t->weight[i] || p->mode == PLAN_COUNT;
	}
}

static uint32_t size_of(const struct plan_func *f)
{
	return f->tu->func[f->ord].nblock;
}

static int by_size(const void *a, const void *b)
{
	const struct plan_func *x = a, *y = b;

	return ORDER(size_of(y), size_of(x)) ?: ORDER(x->tu, y->tu) ?: ORDER(x->ord, y->ord);
}

/* Functions apart, not only TUs: one TU may be the whole program. */
static void cut_batches(struct plan *p)
{
	size_t i, blocks = 0;

	p->batch = xcalloc(p->nweighed + 1, sizeof *p->batch);
	for (i = 0; i < p->nweighed; i++) {
		blocks += size_of(&p->weighed[i]);
		if (blocks < BATCH_BLOCKS && i + 1 < p->nweighed)
			continue;
		p->batch[++p->nbatch] = i + 1;
		blocks = 0;
	}
}

static void list_weighed(struct plan *p)
{
	struct plan_tu *t;
	uint32_t i;

	p->weighed = xcalloc(p->nfunc, sizeof *p->weighed);
	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; i < t->nfunc; i++)
			if (t->weight[i])
				p->weighed[p->nweighed++] = (struct plan_func){t, i};
	if (p->nweighed)
		qsort(p->weighed, p->nweighed, sizeof *p->weighed, by_size);
	cut_batches(p);
}

/* -z now, and no -z lazy after it. */
static bool binds_now(struct artifact *a)
{
	const char *const *arg;
	size_t i = 0, n = artifact_recipe(a, &arg);
	bool now = false;
	struct ldopt o;

	while (ldopt_next(linker_named(artifact_meta(a)->ld), arg, n, &i, &o))
		if (o.kind == LDOPT_KEEP && o.value && !o.is_long && o.name[1] == 'z')
			now = !strcmp(o.value, "now") || (now && strcmp(o.value, "lazy"));
	return now;
}

int plan_begin(struct plan *p, struct artifact *a, enum plan_mode mode, uint64_t seed,
    const struct counts *counts, struct plan_omit omit, unsigned jobs, struct err *e)
{
	static const struct layout_cpu any_cpu = {0};
	const struct art_tu *tu;
	size_t i, k = 0;

	*p = (struct plan){.art = a,
	    .mode = mode,
	    .seed = seed,
	    .counts = counts,
	    .omit = omit,
	    .cpu = omit.cpu ? &any_cpu : host_cpu(),
	    .jobs = jobs,
	    .reading = PTHREAD_MUTEX_INITIALIZER};
	p->nfunc = artifact_funcs(a, &p->func);
	p->ntu = artifact_tus(a, &tu);
	p->tu = xcalloc(p->ntu, sizeof *p->tu);
	for (i = 0; i < p->ntu; i++) {
		p->tu[i].art = &tu[i];
		p->tu[i].func = p->func + k;
		for (; k < p->nfunc && p->func[k].tu == i; k++)
			p->tu[i].nfunc++;
		weigh(p, &p->tu[i]);
	}
	list_weighed(p);
	p->binds_now = binds_now(a);
	for (i = 0; i < p->nfunc; i++)
		htab_put_str(&p->defined, p->func[i].name, &(bool){false});
	return read_map(p, e);
}

static void free_layout(const struct plan_func *f)
{
	struct layout *l = f->tu->placement ? &f->tu->placement[f->ord].layout : NULL;

	if (l) {
		free(l->order);
		free(l->copy);
		free(l->hop);
		free(l->align);
		free((void *)f->tu->placement[f->ord].direct);
	}
}

static void free_layouts(struct plan *p)
{
	size_t i;

	for (i = 0; i < p->nweighed && p->mode != PLAN_COUNT; i++)
		free_layout(&p->weighed[i]);
}

void plan_put_layouts_away(struct plan *p, struct plan_layouts *away)
{
	size_t i;

	*away =
	    (struct plan_layouts){xcalloc(p->ntu, sizeof *away->placement), p->hot, p->executed};
	p->executed = 0;
	for (i = 0; i < p->ntu; i++) {
		away->placement[i] = p->tu[i].placement;
		if (p->tu[i].edited)
			p->tu[i].placement = xcalloc(p->tu[i].nfunc, sizeof *p->tu[i].placement);
	}
}

void plan_take_layouts_back(struct plan *p, struct plan_layouts *away)
{
	size_t i;

	free_layouts(p);
	for (i = 0; i < p->ntu; i++) {
		if (p->tu[i].edited)
			free(p->tu[i].placement);
		p->tu[i].placement = away->placement[i];
	}
	p->hot = away->hot;
	p->executed = away->executed;
	free(away->placement);
}

void plan_free(struct plan *p)
{
	size_t i;

	free_layouts(p);
	for (i = 0; i < p->ntu; i++) {
		plan_text_free(&p->tu[i].whole);
		arena_free(&p->tu[i].mem);
	}
	free(p->tu);
	free(p->weighed);
	free(p->batch);
	htab_free(&p->defined);
	if (p->index.map)
		mapindex_free(&p->index);
	blockmap_free(&p->map);
	*p = (struct plan){0};
}

/* ---- the passes ---- */

struct pass {
	struct plan *p;
	int (*fn)(struct plan *p, struct plan_tu *t, struct err *e);
};

static int pass_tu(void *arg, size_t i, struct err *e)
{
	struct pass *pass = arg;
	struct plan_tu *t = &pass->p->tu[i];

	if (!t->edited)
		return 0;
	return pass->fn(pass->p, t, e) ? err_wrap(e, "%s", t->art->name) : 0;
}

/* fn for each edited TU, on the plan's threads. 0, or -1 with the error of the first TU that
 * failed, prefixed by its name. */
static int each_edited(
    struct plan *p, int (*fn)(struct plan *, struct plan_tu *, struct err *), struct err *e)
{
	struct pass pass = {p, fn};

	return parallel_for(p->jobs, p->ntu, pass_tu, &pass, e);
}

struct func_pass {
	struct plan *p;
	void (*fn)(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch);
};

static int pass_batch(void *arg, size_t i, struct err *e)
{
	const struct func_pass *pass = arg;
	struct plan *p = pass->p;
	struct arena scratch = {0};
	size_t k;

	for (k = p->batch[i]; k < p->batch[i + 1]; k++)
		pass->fn(p, p->weighed[k].tu, p->weighed[k].ord, &scratch);
	arena_free(&scratch);
	return 0;
}

void plan_each_weighed(
    struct plan *p, void (*fn)(struct plan *, struct plan_tu *, uint32_t, struct arena *))
{
	struct func_pass pass = {p, fn};

	parallel_for(p->jobs, p->nbatch, pass_batch, &pass, NULL);
}

static int read_text(struct plan *p, const struct plan_tu *t, struct buf *out, struct err *e)
{
	int rc;

	pthread_mutex_lock(&p->reading);
	rc = artifact_text(p->art, t->art->id, out, e);
	pthread_mutex_unlock(&p->reading);
	return rc;
}

/* Block ids are only comparable when both have the same blocks. */
static int agree(const struct unit *u, const struct plan_tu *t, struct err *e)
{
	uint32_t i;

	if (u->nfunc != t->nfunc)
		return err_set(
		    e, "the artifact lists %u functions, its text has %u", t->nfunc, u->nfunc);
	for (i = 0; i < t->nfunc; i++)
		if (strcmp(u->func[i].name, t->func[i].name) ||
		    u->func[i].cfg.nblock != t->func[i].nblock ||
		    !hash_equal(&u->func[i].key, &t->func[i].key))
			return err_set(e,
			    "%s: not the blocks that the artifact lists; it was "
			    "written by another version: build the program again",
			    u->func[i].name);
	return 0;
}

/* The lengths of the direct jumps at the ends of blocks follow from their targets. */
static void set_jumps(const struct bm_block *const *at, struct cfg *g)
{
	const struct bm_block *src, *dst;
	const struct cfg_edge *e;
	uint32_t n;

	for (e = g->edge; e < g->edge + g->nedge; e++) {
		src = at[e->src];
		dst = at[e->dst];
		if ((e->kind != EDGE_TAKEN && e->kind != EDGE_JUMP) || !src || !dst)
			continue;
		n = relax_jump(e->kind, src->addr + src->size, dst->addr);
		if (n <= src->size)
			g->block[e->src].jump = n;
	}
}

/* Exact sizes of f's blocks and their jumps, where the original's map has them. */
static void set_sizes(const struct plan *p, const struct plan_tu *t, struct unit_func *f)
{
	const struct bm_block **at = xcalloc(f->cfg.nblock, sizeof *at);
	struct func_blocks b;
	size_t i;

	mapindex_blocks(&p->index, hash_short(&t->art->hash), f->ord, f->cfg.nblock, &b);
	for (i = 0; i < b.block.n; i++) {
		at[b.block.v[i]->id] = b.block.v[i];
		f->cfg.block[b.block.v[i]->id].bytes = b.block.v[i]->size;
	}
	set_jumps(at, &f->cfg);
	mapindex_blocks_free(&b);
	free(at);
}

void plan_text_free(struct plan_text *x)
{
	if (x->unit)
		unit_free(x->unit);
	arena_free(&x->mem);
	buf_free(&x->text);
	*x = (struct plan_text){0};
}

static int parse_text(struct plan *p, const struct plan_tu *t, struct plan_text *x, struct err *e)
{
	if (read_text(p, t, &x->text, e))
		return -1;
	x->unit = unit_parse(&x->mem, x->text.p, x->text.n, e);
	return x->unit ? agree(x->unit, t, e) : -1;
}

/* Parsing is half of an edit's own time: small programs are parsed once. Counting builds are made
 * by hand. */
static bool keep_whole(struct plan *p, size_t n)
{
	return p->mode == PLAN_COUNT || atomic_fetch_add(&p->kept, n) + n <= KEPT_TEXT;
}

static int parse_tu(struct plan *p, struct plan_tu *t, struct err *e)
{
	uint32_t i;

	if (parse_text(p, t, &t->whole, e))
		return -1;
	t->unit = t->whole.unit;
	if (!keep_whole(p, t->whole.text.n)) {
		t->unit = unit_outline(&t->mem, t->whole.unit);
		plan_text_free(&t->whole);
	}
	t->placement = arena_array(&t->mem, t->nfunc, sizeof *t->placement);
	for (i = 0; i < t->nfunc; i++)
		if (t->weight[i])
			set_sizes(p, t, &t->unit->func[i]);
	return 0;
}

struct unit *plan_unit(struct plan *p, struct plan_tu *t, struct plan_text *again, struct err *e)
{
	uint32_t i;

	if (t->whole.unit)
		return t->whole.unit;
	if (parse_text(p, t, again, e)) {
		err_wrap(e, "%s", t->art->name);
		return NULL;
	}
	for (i = 0; i < t->nfunc; i++)
		again->unit->func[i].cfg = t->unit->func[i].cfg;
	return again->unit;
}

int plan_read(struct plan *p, const struct plan_tu *t, struct plan_text *x, struct err *e)
{
	return parse_text(p, t, x, e) ? err_wrap(e, "%s", t->art->name) : 0;
}

int plan_parse(struct plan *p, struct err *e)
{
	return each_edited(p, parse_tu, e);
}

static int count_tu(struct plan *p, struct plan_tu *t, struct err *e)
{
	struct unit_counting how = p->counting;

	how.weight = t->weight;
	t->probes = arena_array(&t->mem, t->nfunc, sizeof *t->probes);
	return unit_count(t->unit, &how, t->placement, t->probes, e)
		   ? err_wrap(e, "%s", t->art->name)
		   : 0;
}

int plan_count(struct plan *p, const struct unit_counting *how, struct err *e)
{
	p->counting = *how;
	return each_edited(p, count_tu, e);
}

static uint64_t lap(uint64_t *since)
{
	struct timespec t;
	uint64_t now, took;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	took = now - *since;
	*since = now;
	return took;
}

static int check(const struct plan *p, const struct plan_tu *t, const struct unit *u,
    const struct buf *out, size_t begin, struct err *e)
{
	const char *text = out->p + begin;
	size_t n = out->n - begin;

	return p->mode == PLAN_COUNT
		   ? unit_check_counting(u, t->probes, hash_short(&t->art->hash), text, n, e)
		   : unit_check(u, text, n, e);
}

int plan_print(struct plan *p, struct plan_tu *t, struct buf *out, struct err *e)
{
	const uint64_t hash = hash_short(&t->art->hash);
	struct plan_text again = {0};
	size_t begin = out->n;
	struct unit *u;
	uint64_t since = 0;
	int rc = -1;

	lap(&since);
	u = plan_unit(p, t, &again, e);
	if (u) {
		if (p->mode == PLAN_COUNT)
			unit_emit_counting(u, t->placement, t->probes, hash, out);
		else
			unit_emit(u, t->placement, hash, out);
		atomic_fetch_add(&p->print_ns, lap(&since));
		rc = check(p, t, u, out, begin, e) ? err_wrap(e, "%s", t->art->name) : 0;
		atomic_fetch_add(&p->check_ns, lap(&since));
	}
	plan_text_free(&again);
	return rc;
}

static void func_copies(
    const struct layout *l, uint32_t nblock, struct verify_copies c, struct copies *out)
{
	uint32_t *n = xcalloc(nblock, sizeof *n), *cold = xcalloc(nblock, sizeof *cold), k;

	for (k = 0; k < l->n; k++) {
		n[l->order[k]]++;
		cold[l->order[k]] += k >= l->nhot;
	}
	for (c.id = 0; c.id < nblock; c.id++) {
		c.n = n[c.id] - 1;
		c.cold = cold[c.id];
		if (c.n || c.cold)
			vec_push(out, c);
	}
	free(n);
	free(cold);
}

void plan_copies(const struct plan *p, struct copies *out)
{
	const struct plan_tu *t;
	const struct layout *l;
	uint32_t i;

	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; t->edited && i < t->nfunc; i++) {
			l = &t->placement[i].layout;
			if (t->placement[i].edit && (l->n > t->func[i].nblock || l->nhot < l->n))
				func_copies(l, t->func[i].nblock,
				    (struct verify_copies){hash_short(&t->art->hash), i, 0, 0, 0},
				    out);
		}
}

struct plan_figures plan_figures(const struct plan *p)
{
	struct plan_figures n = {0};
	const struct plan_tu *t;
	uint32_t i;

	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; t->placement && i < t->nfunc; i++) {
			n.moved += t->placement[i].edit;
			if (t->probes && t->probes[i]) {
				n.counted++;
				n.counters += t->probes[i]->n;
			}
		}
	return n;
}

int plan_identity_text(struct plan *p, size_t tu, struct buf *out, struct err *e)
{
	struct plan_tu *t = &p->tu[tu];
	struct arena mem = {0};
	struct buf text = {0};
	struct unit *u = NULL;
	int rc;

	rc = read_text(p, t, &text, e);
	if (!rc)
		u = unit_parse(&mem, text.p, text.n, e);
	if (u)
		unit_emit(u, NULL, hash_short(&t->art->hash), out);
	else
		rc = err_wrap(e, "%s", t->art->name);
	if (u)
		unit_free(u);
	arena_free(&mem);
	buf_free(&text);
	return rc;
}
