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

/* The blocks of moved functions, and their copies. */
static int same_blocks(const struct blockmap *made, const struct verify_wanted *w, struct err *e)
{
	made_blocks m = {0}, o = {0};
	int rc;

	made_blocks_list(made, &m);
	made_blocks_list(w->map, &o);
	drop_unedited(&o, w);
	rc = made_blocks_compare(&m, &o, w, e);
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
	blockmap_put_original(&out->map, w->map);
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
