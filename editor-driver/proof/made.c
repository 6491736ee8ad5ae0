#include "editor-driver/proof/made.h"
#include "common/sort.h"

#include <elf.h>

int made_ids_check(struct elf *made, const struct build_id *origin, bool counting, struct err *e)
{
	struct build_id own = elf_file_build_id(made);
	struct build_id from = counting ? elf_file_counted(made) : elf_file_origin(made);

	if (!own.n || build_id_equal(&own, origin))
		return err_set(e, "the new build has no build-id of its own");
	if (!build_id_equal(&from, origin))
		return err_set(e, "the new build does not name its origin");
	return 0;
}

static int add_size(const struct elf_section *s, void *arg)
{
	if (s->flags & SHF_ALLOC && s->type != SHT_NOBITS)
		*(uint64_t *)arg += s->size;
	return 0;
}

uint64_t made_size(struct elf *f)
{
	uint64_t n = 0;

	elf_file_sections(f, add_size, &n);
	return n;
}

static int blocks_order(const void *a, const void *b)
{
	const struct verify_copies *x = a, *y = b;

	return ORDER(x->tu, y->tu) ?: ORDER(x->func, y->func) ?: ORDER(x->id, y->id);
}

void made_blocks_list(const struct blockmap *m, made_blocks *list)
{
	const struct bm_frag *f;
	size_t i, n = 0;

	for (i = 0; i < m->block.n; i++) {
		f = &m->frag.v[m->block.v[i].frag];
		vec_push(list, (struct verify_copies){f->tu, f->func, m->block.v[i].id, 1, 0});
	}
	vec_sort(list, blocks_order);
	for (i = 0; i < list->n; i++) {
		if (n && !blocks_order(&list->v[n - 1], &list->v[i]))
			list->v[n - 1].n++;
		else
			list->v[n++] = list->v[i];
	}
	list->n = n;
}

/* Whether n of block b is what a layout makes of the original's b->n. */
static bool as_declared(
    uint64_t n, const struct verify_copies *b, const struct verify_copies *copy, size_t ncopy)
{
	const struct verify_copies *c =
	    ncopy ? bsearch(b, copy, ncopy, sizeof *copy, blocks_order) : NULL;

	return n == (uint64_t)b->n * (c ? c->n + 1 : 1) ||
	       (c && n == (uint64_t)b->n * (c->n + 1 - c->cold));
}

int made_blocks_compare(
    const made_blocks *made, const made_blocks *orig, const struct verify_wanted *w, struct err *e)
{
	const struct verify_copies *at = NULL;
	size_t i, k = 0;
	uint64_t n;

	if (w->ncopy)
		qsort(w->copy, w->ncopy, sizeof *w->copy, blocks_order);
	for (i = 0; i < orig->n && !at; i++) {
		n = k < made->n && !blocks_order(&made->v[k], &orig->v[i]) ? made->v[k++].n : 0;
		if (!as_declared(n, &orig->v[i], w->copy, w->ncopy))
			at = &orig->v[i];
	}
	if (!at && k < made->n)
		at = &made->v[k];
	return at ? err_set(e,
			"the new build has block %u of function %u of unit %016llx not as often as "
			"it should",
			at->id, at->func, (unsigned long long)at->tu)
		  : 0;
}
