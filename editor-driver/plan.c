#include "editor-driver/plan.h"
#include "editor-driver/entries.h"
#include "editor-driver/order.h"
#include "editor-driver/parallel.h"
#include "editor-driver/shift.h"
#include "editor/infer.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH_BLOCKS = 64, FUNC_ALIGN = 4, LINE_ALIGN = 6 /* log2 */ };
static const double HOT_SHARE = 0.95, LINE_SHARE = 0.01;

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
		t->weight[i] = p->counts && p->counts->block
		    ? counts_weight(p->counts, p->func, (size_t)(t->func - p->func) + i)
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

	if (size_of(x) != size_of(y))
		return size_of(x) > size_of(y) ? -1 : 1;
	if (x->tu != y->tu)
		return x->tu < y->tu ? -1 : 1;
	return x->ord < y->ord ? -1 : 1;
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

/* -z now, and no -z lazy behind it. */
static bool binds_now(struct artifact *a)
{
	const char *const *arg;
	size_t i, n = artifact_recipe(a, &arg);
	bool now = false;

	for (i = 0; i < n; i++) {
		if (!strcmp(arg[i], "-znow") ||
		    (i && !strcmp(arg[i - 1], "-z") && !strcmp(arg[i], "now")))
			now = true;
		if (!strcmp(arg[i], "-zlazy") ||
		    (i && !strcmp(arg[i - 1], "-z") && !strcmp(arg[i], "lazy")))
			now = false;
	}
	return now;
}

int plan_begin(struct plan *p, struct artifact *a, enum plan_mode mode, uint64_t seed,
    const struct counts *counts, unsigned transforms, unsigned jobs, struct err *e)
{
	const struct art_tu *tu;
	size_t i, k = 0;

	*p = (struct plan){.art = a, .mode = mode, .seed = seed, .counts = counts,
	    .transforms = transforms, .jobs = jobs, .reading = PTHREAD_MUTEX_INITIALIZER};
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
	struct layout *l = f->tu->place ? &f->tu->place[f->ord].layout : NULL;

	if (l) {
		free(l->order);
		free(l->copy);
		free(l->align);
		free((void *)f->tu->place[f->ord].direct);
	}
}

void plan_free(struct plan *p)
{
	size_t i;

	for (i = 0; i < p->nweighed && p->mode != PLAN_COUNT; i++)
		free_layout(&p->weighed[i]);
	for (i = 0; i < p->ntu; i++) {
		if (p->tu[i].unit)
			unit_free(p->tu[i].unit);
		arena_free(&p->tu[i].mem);
		buf_free(&p->tu[i].text);
		buf_free(&p->tu[i].out);
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

/* Runs one pass over the edited TUs. */
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

static int each_edited(
    struct plan *p, int (*fn)(struct plan *, struct plan_tu *, struct err *), struct err *e)
{
	struct pass pass = {p, fn};

	return parallel_for(p->jobs, p->ntu, pass_tu, &pass, e);
}

/* Runs one pass over the functions with a weight. */
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

static void each_weighed(
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

/* Block ids mean something only when both speak of the same blocks. */
static int agree(const struct unit *u, const struct plan_tu *t, struct err *e)
{
	uint32_t i;

	if (u->nfunc != t->nfunc)
		return err_set(e, "the artifact lists %u functions, its text has %u", t->nfunc,
		    u->nfunc);
	for (i = 0; i < t->nfunc; i++)
		if (strcmp(u->func[i].name, t->func[i].name) ||
		    u->func[i].cfg.nblock != t->func[i].nblock ||
		    !hash_equal(&u->func[i].key, &t->func[i].key))
			return err_set(e, "%s: not the blocks that the artifact lists; it was "
			    "written by another version: build the program again",
			    u->func[i].name);
	return 0;
}

/* Exact sizes where the original's map has them. */
static void set_sizes(struct plan *p, const struct plan_tu *t, struct unit_func *f)
{
	struct func_blocks b;
	size_t i;

	mapindex_blocks(&p->index, hash_short(&t->art->hash), f->ord, f->cfg.nblock, &b);
	for (i = 0; i < b.block.n; i++)
		f->cfg.block[b.block.v[i]->id].bytes = b.block.v[i]->size;
	mapindex_blocks_free(&b);
}

static int parse_tu(struct plan *p, struct plan_tu *t, struct err *e)
{
	uint32_t i;

	if (read_text(p, t, &t->text, e))
		return -1;
	t->unit = unit_parse(&t->mem, t->text.p, t->text.n, e);
	if (!t->unit || agree(t->unit, t, e))
		return -1;
	t->place = arena_array(&t->mem, t->nfunc, sizeof *t->place);
	for (i = 0; i < t->nfunc; i++)
		if (t->weight[i])
			set_sizes(p, t, &t->unit->func[i]);
	return 0;
}

int plan_parse(struct plan *p, struct err *e)
{
	return each_edited(p, parse_tu, e);
}

/* Edges and their counts both ascend by src. */
static size_t set_witnesses(struct cfg *g, const struct counts_flow *v, size_t n, bool came)
{
	uint32_t e = 0, k;
	size_t i, lost = 0;

	for (i = 0; i < n; i++) {
		while (e < g->nedge && g->edge[e].src < v[i].block)
			e++;
		for (k = e; k < g->nedge && g->edge[k].src == v[i].block; k++)
			if (g->edge[k].dst == v[i].to)
				break;
		if (k < g->nedge && g->edge[k].src == v[i].block)
			*(came ? &g->edge[k].came : &g->edge[k].witness) = v[i].value;
		else
			lost++;
	}
	return lost;
}

static int by_callee(const void *pa, const void *pb)
{
	const struct infer_site *a = pa, *b = pb;

	if (a->callee != b->callee)
		return a->callee < b->callee ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

static void join_sites(const struct plan *p, size_t f, struct cfg *g, struct arena *scratch)
{
	const struct counts_flow *call;
	size_t n = counts_calls(p->counts, f, &call), i, k = 0;
	struct infer_site *site = arena_array(scratch, n, sizeof *site);

	for (i = 0; i < n; i++)
		if (call[i].value)
			site[k++] = (struct infer_site){call[i].to, call[i].block, call[i].value};
	qsort(site, k, sizeof *site, by_callee);
	infer_sites(g, site, k, scratch);
}

/* What the profile says of a function. */
static void set_profile(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch)
{
	size_t f = (size_t)(t->func - p->func) + i, nedge;
	const uint64_t *value = p->counts->block[f];
	struct cfg *g = &t->unit->func[i].cfg;
	const struct counts_flow *edge;
	uint32_t b;

	for (b = 0; b < g->nblock; b++) {
		if (p->counts->form == COUNTS_SAMPLES)
			g->block[b].samples = value[b];
		else
			g->block[b].count = value[b];
	}
	nedge = counts_edges(p->counts, f, &edge);
	nedge = set_witnesses(g, edge, nedge, false);
	if (counts_stands(p->counts, f))
		atomic_fetch_add(&p->no_edge, nedge);
	if (p->counts->form == COUNTS_SAMPLES) {
		join_sites(p, f, g, scratch);
		nedge = counts_came(p->counts, f, &edge);
		set_witnesses(g, edge, nedge, true);
		unit_looks(t->unit, i);
	}
}

static void compare_looks(const struct plan *p)
{
	struct cfg **g = xcalloc(p->nweighed, sizeof *g);
	size_t i;

	for (i = 0; i < p->nweighed; i++)
		g[i] = &p->weighed[i].tu->unit->func[p->weighed[i].ord].cfg;
	infer_alike(g, p->nweighed);
	free(g);
}

static void infer_func(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch)
{
	infer(&t->unit->func[i].cfg,
	    p->counts->form == COUNTS_SAMPLES ? INFER_SAMPLES : INFER_COUNTS, scratch);
}

void plan_infer(struct plan *p)
{
	if (!p->counts || !p->counts->block)
		return;
	each_weighed(p, set_profile);
	if (p->counts->form == COUNTS_SAMPLES)
		compare_looks(p);
	each_weighed(p, infer_func);
	if (p->counts->form == COUNTS_SAMPLES)
		entries_agree(p);
}

static uint64_t func_seed(const struct plan *p, const struct plan_tu *t, uint32_t i)
{
	struct {
		struct hash128 tu;
		uint64_t seed, ord;
	} in = {t->art->hash, p->seed, i};
	struct hash128 h = hash_bytes(&in, sizeof in);

	return hash_short(&h);
}

static void *kept(const void *p, size_t n, size_t size)
{
	return p ? memcpy(xcalloc(n, size), p, n * size) : NULL;
}

/* Out of the arena of one thread; plan_free() frees it. Those of PLAN_COUNT
 * lie in their unit's. */
static void keep_layout(const struct layout *l, struct layout *to)
{
	*to = *l;
	to->order = kept(l->order, l->n, sizeof *to->order);
	to->copy = kept(l->copy, l->n, sizeof *to->copy);
	to->align = kept(l->align, l->n, sizeof *to->align);
}

/* Hot calls of other modules, where the symbol is bound at the start anyway. */
static bool *direct_calls(const struct plan *p, const struct unit_func *f, uint64_t seed)
{
	bool *direct;
	uint32_t i;

	if (!(p->transforms & LAYOUT_GOT) || !p->binds_now || !f->ncall)
		return NULL;
	direct = xcalloc(f->ncall, sizeof *direct);
	for (i = 0; i < f->ncall; i++) {
		if (!strcmp(f->call[i].callee, "__tls_get_addr"))
			continue;
		if (p->mode == PLAN_RANDOM)
			direct[i] = seed >> i % 64 & 1;
		else
			direct[i] = f->cfg.block[f->call[i].block].count >= p->hot &&
			    !htab_get_str(&p->defined, f->call[i].callee);
	}
	return direct;
}

static double executed(const struct cfg *g)
{
	const struct cfg_block *b;
	double n = 0;

	for (b = g->block; b < g->block + g->nblock; b++)
		n += (double)b->count * b->insns;
	return n;
}

/* How fast a function is depends on where in a line it begins, by some per cent
 * either way: with LAYOUT_LINES those that execute LINE_SHARE of all
 * instructions have a place that is always the same. */
static uint8_t entry_alignment(
    const struct plan *p, const struct plan_tu *t, uint32_t i, const struct cfg *g)
{
	if (p->mode == PLAN_RANDOM)
		return p->transforms & LAYOUT_ALIGN ? func_seed(p, t, i) % 7 : 0;
	if (p->transforms & LAYOUT_LINES && p->executed > 0 &&
	    executed(g) >= LINE_SHARE * p->executed)
		return LINE_ALIGN;
	return p->transforms & LAYOUT_ALIGN ? FUNC_ALIGN : 0;
}

static void layout_func(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch)
{
	struct unit_func *f = &t->unit->func[i];
	struct layout_options o = {
	    .split = !f->one_part, .transforms = p->transforms, .hot = p->hot};
	struct unit_place *at = &t->place[i];
	struct layout l;

	at->edit = f->movable;
	at->hole = shift_hole(p, t, i);
	at->align = entry_alignment(p, t, i, &f->cfg);
	if (f->opaque)
		layout_identity(&f->cfg, &l, scratch);
	else if (p->mode == PLAN_RANDOM)
		layout_random(&f->cfg, &o, func_seed(p, t, i), &l, scratch);
	else {
		if (p->transforms & LAYOUT_THREAD)
			layout_thread(&f->cfg);
		layout_blocks(&f->cfg, &o, &l, scratch);
	}
	keep_layout(&l, &at->layout);
	at->direct = direct_calls(p, f, func_seed(p, t, i));
}

struct hot_block {
	uint64_t count, weight;
};

static int by_count(const void *a, const void *b)
{
	const struct hot_block *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

/* The count of the rarest of those most executed blocks that together execute
 * HOT_SHARE of all instructions. */
static uint64_t hot_count(const struct plan *p)
{
	VEC(struct hot_block) list = {0};
	const struct cfg_block *b;
	const struct cfg *g;
	uint64_t count = 0;
	double sum = 0;
	size_t i;

	for (i = 0; i < p->nweighed; i++) {
		g = &p->weighed[i].tu->unit->func[p->weighed[i].ord].cfg;
		for (b = g->block; b < g->block + g->nblock; b++) {
			if (b->count)
				vec_push(&list,
				    (struct hot_block){b->count, b->count * b->insns});
		}
	}
	if (list.n)
		qsort(list.v, list.n, sizeof *list.v, by_count);
	for (i = 0; i < list.n && sum < HOT_SHARE * p->executed; i++) {
		sum += (double)list.v[i].weight;
		count = list.v[i].count;
	}
	vec_free(&list);
	return count;
}

static int count_tu(struct plan *p, struct plan_tu *t, struct err *e)
{
	struct unit_counting how = p->counting;

	how.weight = t->weight;
	return unit_count(t->unit, &how, t->place, e) ? err_wrap(e, "%s", t->art->name) : 0;
}

int plan_count(struct plan *p, const struct unit_counting *how, struct err *e)
{
	p->counting = *how;
	return each_edited(p, count_tu, e);
}

void plan_layout(struct plan *p)
{
	size_t i;

	for (i = 0; i < p->nweighed; i++)
		p->executed += executed(&p->weighed[i].tu->unit->func[p->weighed[i].ord].cfg);
	p->hot = hot_count(p);
	each_weighed(p, layout_func);
}

/* The function that all others follow begins on a page. */
static void begin_page(struct plan *p)
{
	enum { PAGE = 12 };
	struct unit_place *at;
	size_t i;

	for (i = 0; i < p->nweighed; i++) {
		at = &p->weighed[i].tu->place[p->weighed[i].ord];
		if (at->edit && !at->rank)
			at->align = PAGE;
	}
}

void plan_order(struct plan *p)
{
	if (p->mode == PLAN_RANDOM)
		order_random(p);
	else if (p->mode == PLAN_COUNT)
		order_original(p);
	else
		order_calls(p);
	if (p->transforms & LAYOUT_PAGE)
		begin_page(p);
}

static int emit_tu(struct plan *p, struct plan_tu *t, struct err *e)
{
	unit_emit(t->unit, t->place, hash_short(&t->art->hash), &t->out);
	return 0;
}

void plan_emit(struct plan *p)
{
	each_edited(p, emit_tu, NULL);
}

static int check_tu(struct plan *p, struct plan_tu *t, struct err *e)
{
	if (p->mode == PLAN_COUNT)
		return unit_check_counting(
		    t->unit, t->place, hash_short(&t->art->hash), t->out.p, t->out.n, e);
	return unit_check(t->unit, t->out.p, t->out.n, e);
}

int plan_check(struct plan *p, struct err *e)
{
	return each_edited(p, check_tu, e);
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
	uint32_t i;

	for (t = p->tu; t < p->tu + p->ntu; t++)
		for (i = 0; t->edited && i < t->nfunc; i++)
			if (t->place[i].edit && (t->place[i].layout.n > t->func[i].nblock ||
						    t->place[i].layout.nhot < t->place[i].layout.n))
				func_copies(&t->place[i].layout, t->func[i].nblock,
				    (struct verify_copies){hash_short(&t->art->hash), i, 0, 0, 0},
				    out);
}

size_t plan_moved(const struct plan *p)
{
	size_t i, n = 0;
	uint32_t k;

	for (i = 0; i < p->ntu; i++)
		for (k = 0; p->tu[i].place && k < p->tu[i].nfunc; k++)
			n += p->tu[i].place[k].edit;
	return n;
}

size_t plan_counted(const struct plan *p, size_t *counters)
{
	const struct probes *probes;
	size_t i, n = 0;
	uint32_t k;

	*counters = 0;
	for (i = 0; i < p->ntu; i++)
		for (k = 0; p->tu[i].place && k < p->tu[i].nfunc; k++) {
			probes = p->tu[i].place[k].probes;
			n += probes != NULL;
			*counters += probes ? probes->n : 0;
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
