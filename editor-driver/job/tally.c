#include "editor-driver/job/tally.h"
#include "common/profiletext/profiletext.h"

struct tally_func {
	uint64_t *block, *edge;
	uint8_t *unknown; /* per edge */
	bool off, edges;  /* a sum came out negative; edges were counted */
};

void tally_begin(struct tally *t, struct plan *plan)
{
	uint64_t key, *at;
	bool fresh;
	size_t i;

	*t = (struct tally){.plan = plan};
	t->func = arena_array(&t->mem, plan->nfunc, sizeof *t->func);
	for (i = 0; i < plan->ntu; i++) {
		key = hash_short(&plan->tu[i].art->hash);
		at = htab_put(&t->tu, &key, sizeof key, &fresh);
		if (fresh)
			*at = i + 1;
	}
}

void tally_free(struct tally *t)
{
	htab_free(&t->tu);
	arena_free(&t->mem);
	*t = (struct tally){0};
}

static void add(uint64_t *sum, uint64_t v)
{
	*sum = v > PROFILETEXT_VALUE_MAX - *sum ? PROFILETEXT_VALUE_MAX : *sum + v;
}

static struct tally_func *sums(struct tally *t, size_t i, const struct cfg *g)
{
	struct tally_func *f = t->func[i];

	if (f)
		return f;
	f = t->func[i] = arena_alloc(&t->mem, sizeof *f);
	f->block = arena_array(&t->mem, g->nblock, sizeof *f->block);
	f->edge = arena_array(&t->mem, g->nedge, sizeof *f->edge);
	f->unknown = arena_array(&t->mem, g->nedge, 1);
	return f;
}

static bool nothing(const struct raw_func *r)
{
	uint32_t i;

	for (i = 0; i < r->probes.n; i++)
		if (r->value[i])
			return false;
	return true;
}

static int add_func(struct tally *t, const struct raw_func *r, struct err *e)
{
	uint64_t *at = htab_get(&t->tu, &r->tu, sizeof r->tu), off;
	struct plan_tu *tu = at ? &t->plan->tu[*at - 1] : NULL;
	struct arena scratch = {0};
	struct tally_func *f;
	uint8_t *known;
	struct cfg *g;
	uint32_t i;
	int rc;

	if (!tu || r->func >= tu->nfunc)
		return err_set(e, "it counts a function that the artifact does not have");
	g = &tu->unit->func[r->func].cfg;
	known = arena_array(&scratch, g->nedge, 1);
	rc = probes_solve(g, &r->probes, r->value, known, &off, &scratch, e);
	if (rc)
		err_wrap(e, "%s", tu->unit->func[r->func].name);
	if (!rc && !nothing(r)) {
		f = sums(t, (size_t)(tu->func - t->plan->func) + r->func, g);
		for (i = 0; i < g->nblock; i++)
			add(&f->block[i], g->block[i].count);
		for (i = 0; i < g->nedge; i++) {
			/* Exceptions are not counted; inference finds them. */
			f->unknown[i] |= !known[i] && g->edge[i].kind != EDGE_THROW;
			add(&f->edge[i], known[i] ? g->edge[i].count : 0);
		}
		f->off |= off > 0;
		f->edges |= r->probes.form == PROBES_EDGES;
		t->off += off;
	}
	arena_free(&scratch);
	return rc;
}

int tally_add(struct tally *t, const struct rawcounts *c, struct err *e)
{
	size_t i;

	if (!build_id_equal(&c->origin, &artifact_meta(t->plan->art)->id))
		return err_set(e, "counts of another program than the artifact's");
	for (i = 0; i < c->func.n; i++)
		if (add_func(t, &c->func.v[i], e))
			return -1;
	t->files++;
	return 0;
}

/* Edges of one source lie together; those to one block are one line. */
static void print_edges(struct tally *t, const struct cfg *g, const struct tally_func *f,
    const struct profiletext_name *name, struct buf *out)
{
	uint32_t i, k;
	uint64_t sum;
	bool first, unknown;

	for (i = 0; i < g->nedge; i++) {
		sum = 0;
		first = true;
		unknown = false;
		for (k = i; k > 0 && g->edge[k - 1].src == g->edge[i].src; k--)
			first &= g->edge[k - 1].dst != g->edge[i].dst;
		if (!first)
			continue;
		for (k = i; k < g->nedge && g->edge[k].src == g->edge[i].src; k++)
			if (g->edge[k].dst == g->edge[i].dst) {
				sum += f->edge[k];
				unknown |= f->unknown[k];
			}
		if (unknown)
			t->unknown += f->edges;
		else if (sum) {
			profiletext_write(out, COUNTS_EXECUTIONS,
			    &(struct profiletext_line){PROFILETEXT_EDGE, .func = *name,
				.block = g->edge[i].src, .block2 = g->edge[i].dst, .value = sum});
			t->edges++;
		}
	}
}

static void print_func(struct tally *t, size_t i, const struct cfg *g, struct buf *out)
{
	const struct art_func *a = &t->plan->func[i];
	const struct tally_func *f = t->func[i];
	char hex[HASH_HEX];
	struct profiletext_name name = profiletext_name(a->name, &a->key, hex);
	uint32_t b;

	for (b = 0; b < g->nblock; b++)
		if (f->block[b]) {
			profiletext_write(out, COUNTS_EXECUTIONS,
			    &(struct profiletext_line){
				PROFILETEXT_BLOCK, .func = name, .block = b, .value = f->block[b]});
			t->blocks++;
			t->executions += f->block[b];
		}
	print_edges(t, g, f, &name, out);
	t->off_functions += f->off;
}

void tally_print(struct tally *t, struct buf *out)
{
	const struct plan_tu *tu;
	size_t i, k = 0;
	uint32_t n;

	for (i = 0; i < t->plan->ntu; i++) {
		tu = &t->plan->tu[i];
		for (n = 0; n < tu->nfunc; n++, k++)
			if (t->func[k])
				print_func(t, k, &tu->unit->func[n].cfg, out);
	}
}
