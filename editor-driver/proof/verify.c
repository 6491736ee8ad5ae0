#include "editor-driver/proof/verify.h"
#include "common/elf/elf.h"
#include "common/publish.h"
#include "editor-driver/proof/made.h"
#include "editor-driver/proof/runpath.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

typedef VEC(struct elf_section) sections;

static int keep_loaded(const struct elf_section *s, void *arg)
{
	sections *list = arg;

	if (s->flags & SHF_ALLOC)
		vec_push(list, *s);
	return 0;
}

static bool same_section(const struct elf_section *a, const struct elf_section *b)
{
	return !strcmp(a->name, b->name) && a->addr == b->addr && a->size == b->size &&
	       !a->data == !b->data && (!a->data || !memcmp(a->data, b->data, a->size));
}

static int same_sections(struct elf *made, struct elf *original, struct err *e)
{
	sections a = {0}, b = {0};
	size_t i;
	int rc = 0;

	elf_file_sections(made, keep_loaded, &a);
	elf_file_sections(original, keep_loaded, &b);
	for (i = 0; i < b.n && !rc; i++)
		if (i >= a.n || !same_section(&a.v[i], &b.v[i]))
			rc = err_set(e, "linked again, %s is not what it was", b.v[i].name);
	if (!rc && a.n > b.n)
		rc = err_set(e, "linked again, there is a new section %s", a.v[b.n].name);
	vec_free(&a);
	vec_free(&b);
	return rc;
}

static int read_map(struct elf *f, struct blockmap *m, const char *path, struct err *e)
{
	return blockmap_from_elf(f, m, e) ? err_wrap(e, "%s", path) : 0;
}

static bool same_frag(const struct bm_frag *a, const struct bm_frag *b)
{
	return a->addr == b->addr && a->size == b->size && a->tu == b->tu && a->func == b->func &&
	       a->fragment == b->fragment && a->n == b->n;
}

static bool same_block(const struct bm_block *a, const struct bm_block *b)
{
	return a->addr == b->addr && a->size == b->size && a->id == b->id;
}

static int same_map(const struct blockmap *a, const struct blockmap *b, struct err *e)
{
	size_t i;

	for (i = 0; i < a->frag.n && i < b->frag.n; i++)
		if (!same_frag(&a->frag.v[i], &b->frag.v[i]))
			return err_set(e, "linked again, the function at %#llx is not what it was",
			    (unsigned long long)b->frag.v[i].addr);
	if (a->frag.n != b->frag.n || a->block.n != b->block.n)
		return err_set(e, "linked again, there are %zu fragments where there were %zu",
		    a->frag.n, b->frag.n);
	for (i = 0; i < a->block.n; i++)
		if (!same_block(&a->block.v[i], &b->block.v[i]))
			return err_set(e, "linked again, the block at %#llx is not what it was",
			    (unsigned long long)b->block.v[i].addr);
	return 0;
}

/* All that is loaded is the same, but for the order of symbols where that may differ. */
static int same_loaded(
    struct elf *made, struct elf *original, const struct verify_linker *linker, struct err *e)
{
	struct blockmap is = {0}, was = {0};
	struct bytes_position at;
	int rc = same_sections(made, original, e);

	if (rc && linker->reorders && !blockmap_from_elf(made, &is, e) &&
	    !blockmap_from_elf(original, &was, e))
		rc = bytes_compare(&(struct bytes_build){made, &is, linker->own_padding},
		    &(struct bytes_build){original, &was, linker->own_padding}, NULL, 0, &at, e);
	blockmap_free(&is);
	blockmap_free(&was);
	return rc;
}

static int compare_module(struct elf *made, const char *module, const struct build_id *id,
    const struct verify_linker *linker, struct err *e)
{
	struct elf *f = elf_file_open(module, -1, NULL);
	struct build_id own;
	int rc = 0;

	if (!f)
		return 0; /* not at hand */
	own = elf_file_build_id(f);
	if (build_id_equal(&own, id))
		rc = same_loaded(made, f, linker, e);
	elf_file_close(f);
	return rc;
}

/* A library without soname is needed by the path that it was linked by. */
static int no_needed_below(struct elf *f, const char *dir, struct err *e)
{
	struct elf_face face;
	size_t i, n = strlen(dir);
	int rc = elf_face_read(f, &face, e);

	if (rc)
		return -1;
	for (i = 0; i < face.needed.n && !rc; i++)
		if (!strncmp(face.needed.v[i], dir, n) && face.needed.v[i][n] == '/')
			rc = err_set(e, "linked again, it needs %s by another path",
			    path_base(face.needed.v[i]));
	elf_face_free(&face);
	return rc;
}

int verify_repeat(const char *path, const struct blockmap *map, const char *dir, const char *module,
    const struct verify_linker *linker, struct err *e)
{
	struct blockmap made = {0};
	struct elf *f = elf_file_open(path, -1, e);
	int rc = -1;

	if (!f)
		return -1;
	if (!no_needed_below(f, dir, e) && !read_map(f, &made, path, e) &&
	    (!module || !compare_module(f, module, &map->id, linker, e)))
		rc = same_map(&made, map, e);
	blockmap_free(&made);
	elf_file_close(f);
	return rc;
}

/* ---- the build that is replaced ---- */

/* A file with its handle and its image. */
struct whole {
	struct buf bytes, image;
	struct elf *f;
	size_t surplus;
};

static void whole_free(struct whole *w)
{
	elf_file_close(w->f);
	buf_free(&w->bytes);
	buf_free(&w->image);
}

/* Reads what is in w->bytes. Free in both cases. */
static int whole_parse(struct whole *w, const char *path, struct err *e)
{
	w->f = elf_mem_open(w->bytes.p, w->bytes.n, path, e);
	if (!w->f)
		return -1;
	if (elf_image(w->bytes.p, w->bytes.n, &w->image, &w->surplus, e))
		return err_wrap(e, "%s", path);
	return 0;
}

int verify_replaced_bytes(const struct buf *file, const char *path, const struct build_id *id,
    bool *stripped, struct err *e)
{
	struct whole w = {.bytes = *file};
	struct elf_section s;
	struct build_id own;
	int rc = whole_parse(&w, path, e);

	if (!rc) {
		own = elf_file_build_id(w.f);
		if (!build_id_equal(&own, id))
			rc = err_set(e, "%s: not the build that the artifact is of", path);
		else if (w.surplus)
			rc = err_set(e,
			    "%s: %zu bytes follow its section headers; a new build "
			    "would lose them",
			    path, w.surplus);
		else
			*stripped = elf_file_section(w.f, ".symtab", &s, NULL) == 0;
	}
	w.bytes = (struct buf){0};
	whole_free(&w);
	return rc;
}

int verify_replaced(const char *path, const struct build_id *id, bool *stripped, struct err *e)
{
	struct buf file = {0};
	int rc = file_read(path, 0, &file, e);

	if (!rc)
		rc = verify_replaced_bytes(&file, path, id, stripped, e);
	buf_free(&file);
	return rc;
}

/* What strip takes away, a debugger reads, or names where that lies. */
static bool expendable(const char *name)
{
	static const char *const start[] = {
	    ".symtab", ".strtab", ".shstrtab", ".debug", ".zdebug", ".gnu_debug", ".stab"};
	size_t i;

	for (i = 0; i < sizeof start / sizeof *start; i++)
		if (!strncmp(name, start[i], strlen(start[i])))
			return true;
	return false;
}

/* The same in any order: read as one map, and compared so. */
static bool of_block_map(const char *name)
{
	return !strcmp(name, ".llvm_bb_addr_map") || !strcmp(name, ".morph.fn");
}

struct comparison {
	struct elf *with;
	bool reorders;
	struct err *e;
};

static int same_other(const struct elf_section *s, void *arg)
{
	struct comparison *c = arg;
	struct elf_section other;

	if (s->flags & SHF_ALLOC || !s->index || expendable(s->name) ||
	    (c->reorders && of_block_map(s->name)))
		return 0;
	if (elf_file_section(c->with, s->name, &other, NULL) > 0 && same_section(s, &other))
		return 0;
	return err_set(c->e, "linked again, %s is not what it was", s->name);
}

int verify_untouched(
    const char *path, const char *unchanged, const struct verify_linker *linker, struct err *e)
{
	struct whole old = {0}, same = {0};
	struct comparison c = {.reorders = linker->reorders, .e = e};
	struct runpath r;
	int rc = file_read(path, 0, &old.bytes, e);

	if (!rc)
		rc = file_read(unchanged, 0, &same.bytes, e);
	if (!rc)
		rc = runpath_find(&same.bytes, &r, e);
	if (!rc) {
		runpath_remove(&old.bytes, &r);
		runpath_remove(&same.bytes, &r);
		rc = whole_parse(&old, path, e) || whole_parse(&same, unchanged, e) ? -1 : 0;
	}
	c.with = same.f;
	if (!rc)
		rc = same_loaded(same.f, old.f, linker, e);
	if (!rc)
		rc = elf_file_sections(old.f, same_other, &c);
	if (!rc && !linker->reorders &&
	    (old.image.n != same.image.n || memcmp(old.image.p, same.image.p, old.image.n)))
		rc = err_set(e, "linked again, its headers are not what they were");
	whole_free(&old);
	whole_free(&same);
	return rc ? err_wrap(e, "%s: changed after its link, or not to be repeated", path) : 0;
}

int verify_carry(const char *path, const char *unchanged, const char *made, struct err *e)
{
	struct buf old = {0}, same = {0}, new = {0};
	struct runpath r, m;
	int rc = file_read(path, 0, &old, e);

	if (!rc)
		rc = file_read(unchanged, 0, &same, e);
	if (!rc)
		rc = file_read(made, 0, &new, e);
	if (!rc)
		rc = runpath_find(&same, &r, e) || runpath_find(&new, &m, e) ? -1 : 0;
	if (!rc)
		rc = runpath_carry(&old, &r, &new, &m, e);
	if (rc > 0)
		rc = publish_bytes(made, new.p, new.n, 0755, e);
	else if (rc)
		err_wrap(e, "%s", path);
	buf_free(&old);
	buf_free(&same);
	buf_free(&new);
	return rc;
}

/* ---- the new build ---- */

static int same_blocks(const struct blockmap *made, const struct verify_wanted *w, struct err *e)
{
	made_blocks a = {0}, b = {0};
	int rc;

	made_blocks_list(made, &a);
	made_blocks_list(w->map, &b);
	rc = made_blocks_compare(&a, &b, w, e);
	vec_free(&a);
	vec_free(&b);
	return rc;
}

static int same_face(struct elf *made, struct elf *unchanged, struct err *e)
{
	struct elf_face a = {0}, b = {0};
	int rc = -1;

	if (!elf_face_read(made, &a, e) && !elf_face_read(unchanged, &b, e))
		rc = elf_face_compare(&b, &a, e);
	elf_face_free(&a);
	elf_face_free(&b);
	return rc;
}

static int compare_builds(struct elf *made, const char *path, struct elf *unchanged,
    const struct verify_wanted *w, struct verified *out, struct err *e)
{
	if (made_ids_check(made, &w->map->id, w->counting, e) || same_face(made, unchanged, e) ||
	    read_map(made, &out->map, path, e) || same_blocks(&out->map, w, e))
		return -1;
	/* Counting builds add data of their own; the manager does not swap them in. */
	if (!w->counting &&
	    bytes_compare(&(struct bytes_build){made, &out->map, w->linker->own_padding},
		&(struct bytes_build){unchanged, w->map, w->linker->own_padding}, w->edited,
		w->nedited, &out->at, e)) {
		out->differs = true;
		return -1;
	}
	out->size_before = made_size(unchanged);
	out->size_after = made_size(made);
	return 0;
}

int verify_build(const char *path, const char *unchanged, const struct verify_wanted *w,
    struct verified *out, struct err *e)
{
	struct elf *made = elf_file_open(path, -1, e);
	struct elf *same = made ? elf_file_open(unchanged, -1, e) : NULL;
	int rc = -1;

	*out = (struct verified){.differs = false};
	if (same)
		rc = compare_builds(made, path, same, w, out, e);
	elf_file_close(same);
	elf_file_close(made);
	return rc;
}
