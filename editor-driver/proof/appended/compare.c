#include "editor-driver/proof/appended/compare.h"
#include "common/sort.h"
#include "editor-driver/proof/appended/comparison.h"

/* ---- blocks of both maps that should correspond ---- */

struct block_place {
	uint64_t tu, addr;
	uint32_t func, id;
};

static int by_block(const void *a, const void *b)
{
	const struct block_place *x = a, *y = b;

	return ORDER(x->tu, y->tu) ?: ORDER(x->func, y->func) ?: ORDER(x->id, y->id);
}

static struct block_place place_of(const struct blockmap *m, size_t i)
{
	const struct bm_block *b = &m->block.v[i];
	const struct bm_frag *f = &m->frag.v[b->frag];

	return (struct block_place){f->tu, b->addr, f->func, b->id};
}

/* So that blocks are compared that only the old code leads to, too. */
static void add_blocks(struct comparison *c)
{
	struct block_place p, *o;
	VEC(struct block_place) orig = {0};
	size_t i;

	for (i = 0; i < c->orig_map->block.n; i++)
		vec_push(&orig, place_of(c->orig_map, i));
	vec_sort(&orig, by_block);
	for (i = 0; i < c->made_map->block.n && orig.n; i++) {
		p = place_of(c->made_map, i);
		o = in_text(c, p.addr) && c->made_map->block.v[i].size
			? bsearch(&p, orig.v, orig.n, sizeof p, by_block)
			: NULL;
		if (o)
			walk_add(c, p.addr, o->addr, 0);
	}
	vec_free(&orig);
}

/* ---- all of it ---- */

static int compare_all(struct comparison *c, const uint64_t *edited, size_t n)
{
	if (headers_compare(c) || frames_compare_index(c) || entries_read(c, edited, n) ||
	    words_read(c) || headers_compare_bytes(c) || entries_check(c))
		return -1;
	c->index = xcalloc(c->text->p_filesz, sizeof *c->index);
	add_blocks(c);
	return tables_compare(c) || cover_check(c) ? -1 : 0;
}

int appended_compare(const char *made, const char *original, const struct blockmap *made_map,
    const struct blockmap *orig_map, const uint64_t *edited, size_t n, uint64_t *where,
    struct err *e)
{
	enum { WORK = 16 };
	struct comparison c = {.made_map = made_map, .orig_map = orig_map, .where = where, .e = e};
	int rc = -1;

	*where = 0;
	insn_decoder_init(&c.decoder);
	if (!loaded_open(&c.orig, original, e) && !loaded_open(&c.made, made, e)) {
		c.work = WORK * c.made.file.n;
		rc = compare_all(&c, edited, n);
	}
	free(c.index);
	vec_free(&c.spot);
	vec_free(&c.pred);
	vec_free(&c.todo);
	vec_free(&c.taken);
	vec_free(&c.base);
	vec_free(&c.use);
	vec_free(&c.entry);
	vec_free(&c.word);
	vec_free(&c.pointer);
	htab_free(&c.use_numbers);
	htab_free(&c.row_names);
	frames_free(&c.made_frames);
	frames_free(&c.orig_frames);
	loaded_close(&c.made);
	loaded_close(&c.orig);
	return rc;
}
