#include "editor-driver/proof/appended.h"
#include "common/sort.h"
#include "editor-driver/proof/appended/compare.h"
#include "editor-driver/proof/made.h"

#include <stdlib.h>

/* ---- block maps ---- */

static bool is_edited(const struct verify_wanted *w, uint64_t tu)
{
	return w->nedited && bsearch(&tu, w->edited, w->nedited, sizeof tu, order_u64);
}

static void drop_unedited(made_blocks *list, const struct verify_wanted *w)
{
	size_t i, n = 0;

	for (i = 0; i < list->n; i++)
		if (is_edited(w, list->v[i].tu))
			list->v[n++] = list->v[i];
	list->n = n;
}

/* Takes the original's blocks out; -1 where they are not all there. */
static int drop_old(made_blocks *made, const made_blocks *orig)
{
	size_t i, k = 0, n = 0;
	struct verify_copies *m;

	for (i = 0; i < made->n; i++) {
		m = &made->v[i];
		if (k < orig->n && !made_blocks_order(m, &orig->v[k])) {
			if (m->n < orig->v[k].n)
				return -1;
			m->n -= orig->v[k++].n;
		}
		if (m->n)
			made->v[n++] = *m;
	}
	made->n = n;
	return k < orig->n ? -1 : 0;
}

/* All blocks of the original, and those of moved functions once more, and their copies. */
static int same_blocks(const struct blockmap *made, const struct verify_wanted *w, struct err *e)
{
	made_blocks m = {0}, o = {0};
	int rc;

	made_blocks_list(made, &m);
	made_blocks_list(w->map, &o);
	rc = drop_old(&m, &o) ? err_set(e, "the new block map lacks blocks of old bodies") : 0;
	drop_unedited(&o, w);
	if (!rc)
		rc = made_blocks_compare(&m, &o, w, e);
	if (!rc && m.n != o.n)
		rc = err_set(e, "the new block map lacks blocks of new bodies");
	vec_free(&m);
	vec_free(&o);
	return rc;
}

/* ---- all of it ---- */

/* The function that an address is in. */
static struct bytes_position position_of(const struct blockmap *m, uint64_t addr)
{
	const struct bm_block *b = blockmap_find(m, addr);
	const struct bm_frag *f = b ? &m->frag.v[b->frag] : NULL;

	return f ? (struct bytes_position){true, f->tu, f->func} : (struct bytes_position){false};
}

static int verify_files(struct elf *made, struct elf *same, const struct verify_wanted *w,
    struct verified *out, struct err *e)
{
	struct elf_face face = {0};
	int rc = -1;

	if (made_ids_check(made, &w->map->id, false, e) || elf_face_read(same, &face, e))
		return -1;
	if (face.textrel)
		err_set(e, "the original's code is relocated when it is loaded");
	else if (!w->nedited)
		err_set(e, "no function has a new body");
	else if (!blockmap_from_elf(made, &out->map, e) && !same_blocks(&out->map, w, e))
		rc = 0;
	elf_face_free(&face);
	out->size_before = made_size(same);
	out->size_after = made_size(made);
	return rc;
}

int appended_verify(const char *path, const char *original, const struct verify_wanted *w,
    struct verified *out, struct err *e)
{
	struct elf *made = elf_file_open(path, -1, e);
	struct elf *same = made ? elf_file_open(original, -1, e) : NULL;
	uint64_t where;
	int rc = -1;

	*out = (struct verified){.differs = false};
	if (same && !verify_files(made, same, w, out, e)) {
		rc = appended_compare(
		    path, original, &out->map, w->map, w->edited, w->nedited, &where, e);
		out->differs = rc != 0;
		out->at = position_of(&out->map, rc ? where : 0);
	}
	elf_file_close(same);
	elf_file_close(made);
	return rc;
}
