#include "editor-driver/append/append.h"
#include "common/publish.h"
#include "editor-driver/append/link.h"
#include "editor-driver/append/units.h"

#include <fcntl.h>
#include <stdlib.h>

struct appending {
	struct plan *p;
	struct original original;
	struct units units;
	struct objects objects;
	struct place place;
	struct linked linked;
	struct buf out;
};

/* What the artifact says lies in the file is below what is added. */
static int check_map(const struct appending *a, struct err *e)
{
	const struct blockmap *m = &a->p->map;
	const struct bm_frag *last = m->frag.n ? &m->frag.v[m->frag.n - 1] : NULL;

	return last && last->addr + last->size > a->original.end
		   ? err_set(e, "the artifact lists code that %s does not have", a->original.path)
		   : 0;
}

static int find_jumps(struct appending *a, struct err *e)
{
	const struct bm_frag *was, *is;
	const struct plan_tu *t;
	struct mapindex made;
	uint64_t tu;
	size_t i;
	int rc = 0;

	mapindex_make(&made, &a->linked.map);
	for (i = 0; !rc && i < a->units.moved.n; i++) {
		t = a->units.moved.v[i];
		tu = hash_short(&t->art->hash);
		was = mapindex_entry(&a->p->index, tu, 0);
		is = mapindex_entry(&made, tu, 0);
		if (was && is)
			vec_push(&a->linked.code.jump,
			    (struct splice_jump){was->addr, is->addr, was->size});
		else
			rc = err_set(
			    e, "%s: the %s body has no entry", t->func->name, was ? "new" : "old");
	}
	mapindex_free(&made);
	return rc;
}

static int add_code(struct appending *a, const char *dir, struct cache *cache, struct err *e)
{
	char *objects = xasprintf("%s/objects", dir), *link = xasprintf("%s/link", dir);
	int rc;

	rc = check_map(a, e) || place_find(&a->original, &a->place, e) ||
		     objects_open(&a->objects, cache, e) ||
		     units_make(a->p, &a->objects, objects, &a->units, e) ||
		     link_code(a->units.object.v, a->units.object.n, a->place.code,
			 a->original.eh.e_type == ET_EXEC, link, &a->linked, e) ||
		     find_jumps(a, e) ||
		     splice_make(&a->original, &a->place, &a->linked.code, &a->out, e)
		 ? -1
		 : 0;
	free(objects);
	free(link);
	return rc;
}

static void appending_free(struct appending *a)
{
	buf_free(&a->out);
	linked_free(&a->linked);
	place_free(&a->place);
	objects_close(&a->objects);
	units_free(&a->units);
	original_free(&a->original);
}

int append_make(struct plan *p, const char *original, const char *dir, struct cache *cache,
    const char *out, struct append_figures *figures, struct err *e)
{
	struct appending a = {.p = p};
	const struct buf *made = &a.out;
	int rc;

	rc = original_read(original, &artifact_meta(p->art)->id, &a.original, e) ||
		     units_list(p, &a.units, e)
		 ? -1
		 : 0;
	if (!rc && a.units.moved.n)
		rc = add_code(&a, dir, cache, e);
	else
		made = &a.original.file; /* as it is */
	if (!rc)
		rc = file_write(out, O_EXCL, made->p, made->n, e);
	*figures = (struct append_figures){.assembled = a.units.moved.n};
	if (a.units.moved.n && !rc)
		figures->added = a.place.segment.v[a.place.load].p_filesz;
	appending_free(&a);
	return rc;
}
