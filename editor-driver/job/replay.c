#include "editor-driver/job/replay.h"
#include "common/log.h"
#include "common/publish.h"
#include "editor-driver/link/objects.h"
#include "editor-driver/os/parallel.h"
#include "editor/replay/replay.h"

#include <stdlib.h>

struct maker {
	struct plan *p;
	const char *dir;
	struct objects objects;
	struct buf *measured; /* by TU */
	bool *refused;
	struct uops table;
	struct replay_result *r;
};

/* ---- measuring: one object per TU ---- */

static int read_section(const char *path, struct buf *out, struct err *e)
{
	struct elf *f = elf_file_open(path, -1, e);
	struct elf_section s = {0};
	int rc = f ? elf_file_section(f, MEASURE_SECTION, &s, e) : -1;

	if (rc > 0 && s.data)
		buf_add(out, s.data, s.size);
	elf_file_close(f);
	return rc < 0 ? -1 : 0;
}

static int measure_tu(void *arg, size_t i, struct err *e)
{
	struct maker *m = arg;
	struct plan_tu *t = &m->p->tu[i];
	struct plan_text again = {0};
	struct unit *u;
	char *path = xasprintf("%s/%zu.o", m->dir, i);
	struct buf text = {0};
	struct cache_key key;
	struct err why;
	int rc = 0;

	if (t->edited) {
		u = plan_unit(m->p, t, &again, e);
		if (u)
			unit_measure(u, &text);
		plan_text_free(&again);
		if (!u)
			rc = -1;
	}
	if (t->edited && !rc) {
		key = objects_text_key(&m->objects, t->art, text.p, text.n);
		if (!objects_cached(&m->objects, &key, path) &&
		    objects_assemble(&m->objects, &key, t->art, text.p, text.n, path, &why)) {
			log_warn("%s: %s", t->art->name, why.text);
			m->refused[i] = true;
		} else {
			rc = read_section(path, &m->measured[i], e);
		}
	}
	buf_free(&text);
	free(path);
	return rc;
}

/* ---- compiling ---- */

/* Sizes of a function's blocks in the original build; NULL where it is not in
 * there as a whole. */
static uint32_t *block_sizes(struct maker *m, struct plan_tu *t, const struct unit_func *f)
{
	struct func_blocks blocks;
	uint32_t *size = NULL;
	size_t i;

	mapindex_blocks(&m->p->index, hash_short(&t->art->hash), f->ord, f->cfg.nblock, &blocks);
	if (blocks.block.n == f->cfg.nblock) {
		size = arena_array(&t->mem, f->cfg.nblock, sizeof *size);
		for (i = 0; i < blocks.block.n; i++)
			size[blocks.block.v[i]->id] = blocks.block.v[i]->size;
	}
	mapindex_blocks_free(&blocks);
	return size;
}

static int compile_tu(struct maker *m, struct plan_tu *t, const struct buf *measured)
{
	const uint32_t **size = xcalloc(t->nfunc, sizeof *size);
	struct plan_text again = {0};
	struct unit *u;
	uint32_t i, differing = 0;
	struct err e;
	int rc = -1;

	for (i = 0; i < t->nfunc; i++) {
		if (t->unit->func[i].opaque) {
			m->r->opaque++;
			continue;
		}
		size[i] = block_sizes(m, t, &t->unit->func[i]);
		m->r->absent += !size[i];
	}
	u = plan_unit(m->p, t, &again, &e);
	if (u)
		rc = unit_uops(u, measured->p, measured->n, size, &m->table, &differing, &e);
	plan_text_free(&again);
	if (rc)
		log_warn("%s: %s", t->art->name, e.text);
	m->r->differing += differing;
	free(size);
	return rc;
}

static void compile(struct maker *m)
{
	size_t i;

	for (i = 0; i < m->p->ntu; i++)
		if (m->refused[i] ||
		    (m->p->tu[i].edited && compile_tu(m, &m->p->tu[i], &m->measured[i])))
			m->r->unmeasured++;
	uops_sort(&m->table);
}

static void sum_up(const struct uops *u, size_t bytes, struct replay_result *r)
{
	const struct uops_func *f;
	const struct uops_block *b;
	size_t i;
	uint32_t k, j;

	r->functions = u->func.n;
	r->bytes = bytes;
	r->memory = uops_size(u);
	for (i = 0; i < u->func.n; i++) {
		f = &u->func.v[i];
		r->blocks += f->nblock;
		for (k = 0; k < f->nblock; k++) {
			b = &u->block.v[f->block + k];
			r->uops += b->nuop - 1;
			for (j = 0; j < b->nuop; j++)
				r->stops += u->uop.v[b->uop + j].kind == UOP_STOP;
		}
	}
}

int replay_make(struct plan *p, const char *dir, struct cache *cache, struct buf *out,
    struct replay_result *r, struct err *e)
{
	struct maker m = {.p = p, .dir = dir, .r = r};
	size_t i, before = out->n;
	int rc;

	m.measured = xcalloc(p->ntu, sizeof *m.measured);
	m.refused = xcalloc(p->ntu, sizeof *m.refused);
	rc = objects_open(&m.objects, cache, e);
	if (!rc)
		rc = parallel_for(p->jobs, p->ntu, measure_tu, &m, e);
	if (!rc) {
		compile(&m);
		uops_encode(&m.table, out);
		sum_up(&m.table, out->n - before, r);
	}
	for (i = 0; i < p->ntu; i++)
		buf_free(&m.measured[i]);
	free(m.measured);
	free(m.refused);
	uops_free(&m.table);
	objects_close(&m.objects);
	return rc;
}
