#include "managerd/watch/watch.h"
#include "common/artifact/artifact.h"
#include "common/publish.h"
#include "common/wire/samples.h"
#include "managerd/samples/profile.h"

#include <stdlib.h>
#include <string.h>

/* Nothing ages in one run. */
static const struct decay AT = {.now_ms = 1, .half_life_s = 1e12};

static int read_artifact(struct watch *w, const char *path, struct err *e)
{
	struct artifact *a = artifact_open(path, e);
	struct blockmap blocks = {0};
	struct buf blob = {0};
	int rc = -1;

	if (a && !artifact_blockmap(a, &blob, e) && !map_table_of(a, &w->table, e) &&
	    !blockmap_decode(blob.p, blob.n, &blocks, e))
		rc = map_make(&blocks, &w->table, &w->map, e);
	if (!rc)
		w->id = artifact_meta(a)->id;
	blockmap_free(&blocks);
	buf_free(&blob);
	artifact_close(a);
	return rc;
}

static int read_table(struct watch *w, const char *path, struct err *e)
{
	struct buf file = {0};
	int rc = file_read(path, 0, &file, e);

	if (!rc && uops_decode(file.p, file.n, &w->uops, e))
		rc = err_wrap(e, "%s", path);
	buf_free(&file);
	return rc;
}

int watch_open(struct watch *w, const char *artifact, const char *replay_table, struct err *e)
{
	uint32_t *link;

	*w = (struct watch){.all = 0};
	if (read_artifact(w, artifact, e) || read_table(w, replay_table, e))
		return -1;
	link = observe_link(&w->table, &w->uops);
	w->weights = weights_new(&w->uops);
	w->hit = xcalloc(w->table.nslot, sizeof *w->hit);
	w->observer = (struct observer){.map = &w->map,
	    .table = &w->table,
	    .uops = &w->uops,
	    .uops_func = link,
	    .weights = &w->weights};
	w->observer.closed = observe_closed(&w->table, &w->uops, link, &w->observer.nclosed);
	return 0;
}

void watch_free(struct watch *w)
{
	size_t i;

	map_table_free(&w->table);
	map_free(&w->map);
	uops_free(&w->uops);
	weights_free(&w->weights);
	free((void *)w->observer.uops_func);
	free((void *)w->observer.closed);
	pairs_free(&w->observer.edge);
	pairs_free(&w->observer.predecessors);
	pairs_free(&w->observer.call);
	vec_free(&w->observer.site);
	for (i = 0; i < w->other.n; i++)
		free(w->other.v[i].path);
	vec_free(&w->other);
	free(w->hit);
}

static void count_other(struct watch *w, const char *path, uint64_t n)
{
	size_t i;

	for (i = 0; i < w->other.n && strcmp(w->other.v[i].path, path) != 0; i++)
		;
	if (i == w->other.n)
		vec_push(&w->other, (struct watch_other){xstrdup(path), 0});
	w->other.v[i].n += n;
}

void watch_take(struct watch *w, const struct wire_batch *b)
{
	struct map_hits hits = {0};
	const struct wire_module *m;
	uint64_t n;
	uint32_t i;

	for (m = b->module; m < b->module + b->nmodule; m++) {
		n = wire_sum_samples(m->sample, m->nsample);
		if (!build_id_equal(&m->id, &w->id)) {
			count_other(w, m->path, n);
			continue;
		}
		w->all += n;
		w->mapped += n - map_samples(&w->map, m->sample, m->nsample, &hits);
	}
	for (i = 0; i < b->nregs; i++)
		if (build_id_equal(&b->module[b->regs[i].module].id, &w->id))
			observe(&w->observer, &b->regs[i]);
	w->observer.site.n = 0;
	for (i = 0; i < hits.v.n; i++)
		w->hit[hits.v.v[i].slot] += hits.v.v[i].samples;
	vec_free(&hits.v);
}

/* ---- as a profile ---- */

static struct profile_func *function_of(
    const struct watch *w, struct profile *p, uint32_t slot, uint32_t *block)
{
	const struct map_func *f = map_slot(&w->table, slot, block);

	return profile_put(p, &f->key, f->name, f->tu_name, f->opaque, f->nblock);
}

static void add_blocks(const struct watch *w, struct profile *p)
{
	struct profile_func *f;
	uint32_t slot, block;

	for (slot = 0; slot < w->table.nslot; slot++)
		if (w->hit[slot] && (f = function_of(w, p, slot, &block)))
			profile_add(f, block, (double)w->hit[slot], AT);
}

/* What came up for a block of f, whose slots begin at `first`. */
typedef void add_pair(
    const struct watch *w, struct profile_func *f, uint32_t first, const struct pair *e);

static void went_to(
    const struct watch *w, struct profile_func *f, uint32_t first, const struct pair *e)
{
	profile_add_edge(f, e->a - first, e->b - first, (double)e->n / WEIGHT_ONE, AT);
}

static void came_from(
    const struct watch *w, struct profile_func *f, uint32_t first, const struct pair *e)
{
	uint32_t from = e->b == UINT32_MAX ? PROFILE_UNRESOLVED : e->b - first;

	profile_add_predecessor(f, e->a - first, from, e->n, AT);
}

static void called(
    const struct watch *w, struct profile_func *f, uint32_t first, const struct pair *e)
{
	profile_add_call(f, e->a - first, &w->table.func.v[e->b].key, e->n, AT);
}

static void add_pairs(const struct watch *w, struct profile *p, struct pairs *t, add_pair *add)
{
	struct profile_func *f;
	uint32_t block;
	size_t i;

	pairs_sort(t);
	for (i = 0; i < t->n; i++)
		if ((f = function_of(w, p, t->v[i].a, &block)))
			add(w, f, t->v[i].a - block, &t->v[i]);
}

void watch_print(struct watch *w, struct buf *out)
{
	const struct watch_other *o, *most = NULL;
	struct profile p = {0};

	add_blocks(w, &p);
	add_pairs(w, &p, &w->observer.edge, went_to);
	add_pairs(w, &p, &w->observer.predecessors, came_from);
	add_pairs(w, &p, &w->observer.call, called);
	buf_printf(out, "# %llu of %llu samples are in blocks\n", (unsigned long long)w->mapped,
	    (unsigned long long)w->all);
	for (o = w->other.v; o < w->other.v + w->other.n; o++)
		if (!most || o->n > most->n)
			most = o;
	if (most)
		buf_printf(out, "# %llu more are in %s\n", (unsigned long long)most->n, most->path);
	profile_print(&p, 1, AT, out);
	profile_free(&p);
}
