#include "editor-driver/job/measure.h"
#include "common/log.h"
#include "editor-driver/link/objects.h"
#include "editor-driver/os/parallel.h"
#include "editor/replay/replay.h"
#include "lifter/encode.h"

#include <stdlib.h>

struct measurer {
	struct plan *p;
	const char *dir;
	struct objects objects;
	struct measured *out;
};

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

/* Appends what the assembler measures of a unit that was parsed; nothing of code that is not there.
 */
static int put_text(const struct measurer *m, const struct unit *u, struct buf *out, struct err *e)
{
	struct buf text = {0};
	int rc;

	if (!artifact_lifted(m->p->art)) {
		unit_measure(u, out);
		return 0;
	}
	if (u->nfunc && !u->func->opaque)
		unit_measure(u, &text);
	rc = encode(text.p, text.n, out, e);
	buf_free(&text);
	return rc;
}

static int measure_tu(void *arg, size_t i, struct err *e)
{
	struct measurer *m = arg;
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
		rc = u ? put_text(m, u, &text, e) : -1;
		plan_text_free(&again);
	}
	if (t->edited && !rc) {
		key = objects_text_key(&m->objects, t->art, text.p, text.n);
		if (!objects_cached(&m->objects, &key, path) &&
		    objects_assemble(&m->objects, &key, t->art, text.p, text.n, path, &why)) {
			log_warn("%s: %s", t->art->name, why.text);
			m->out->refused[i] = true;
		} else {
			rc = read_section(path, &m->out->tu[i], e);
		}
	}
	buf_free(&text);
	free(path);
	return rc;
}

int measure(
    struct plan *p, const char *dir, struct cache *cache, struct measured *out, struct err *e)
{
	struct measurer m = {.p = p, .dir = dir, .out = out};
	int rc;

	*out = (struct measured){xcalloc(p->ntu, sizeof *out->tu), xcalloc(p->ntu, 1), p->ntu};
	rc = objects_open(&m.objects, cache, e);
	if (!rc)
		rc = parallel_for(p->jobs, p->ntu, measure_tu, &m, e);
	objects_close(&m.objects);
	return rc;
}

void measured_free(struct measured *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		buf_free(&m->tu[i]);
	free(m->tu);
	free(m->refused);
	*m = (struct measured){0};
}

uint32_t *measured_sizes(const struct plan *p, struct plan_tu *t, const struct unit_func *f)
{
	struct func_blocks blocks;
	uint32_t *size = NULL;
	size_t i;

	mapindex_blocks(&p->index, hash_short(&t->art->hash), f->ord, f->cfg.nblock, &blocks);
	if (blocks.block.n == f->cfg.nblock) {
		size = arena_array(&t->mem, f->cfg.nblock, sizeof *size);
		for (i = 0; i < blocks.block.n; i++)
			size[blocks.block.v[i]->id] = blocks.block.v[i]->size;
	}
	mapindex_blocks_free(&blocks);
	return size;
}
