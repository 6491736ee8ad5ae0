#include "common/elf/fragments.h"
#include "common/sort.h"
#include "common/hash.h"
#include "common/le.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- building: fragments in ascending order, blocks one after the other ---- */

static uint64_t frag_end(const struct bm_frag *f)
{
	return f->addr + f->size;
}

uint64_t blockmap_end(const struct blockmap *m)
{
	return m->frag.n ? frag_end(&m->frag.v[m->frag.n - 1]) : 0;
}

int blockmap_add(struct blockmap *m, uint64_t gap, uint64_t size, uint64_t id, struct err *e)
{
	struct bm_frag *f = &m->frag.v[m->frag.n - 1];
	uint64_t end;

	if (gap > UINT32_MAX || size > UINT32_MAX || id > UINT32_MAX ||
	    f->size + gap + size > UINT32_MAX ||
	    __builtin_add_overflow(f->addr, f->size + gap + size, &end))
		return err_set(e, "block map: block out of range");
	vec_push(&m->block, (struct bm_block){.addr = f->addr + f->size + gap,
				.size = (uint32_t)size,
				.id = (uint32_t)id,
				.frag = (uint32_t)(m->frag.n - 1)});
	f->size += (uint32_t)(gap + size);
	f->n++;
	return 0;
}

#define vec_copy(from, to) \
	do { \
		for (i = 0; i < (from)->n; i++) \
			vec_push(to, (from)->v[i]); \
	} while (0)

void blockmap_copy(const struct blockmap *m, struct blockmap *copy)
{
	size_t i;

	*copy = (struct blockmap){.id = m->id, .origin = m->origin};
	vec_copy(&m->seg, &copy->seg);
	vec_copy(&m->frag, &copy->frag);
	vec_copy(&m->block, &copy->block);
}

void blockmap_put_original(struct blockmap *made, const struct blockmap *original)
{
	const uint64_t end = blockmap_end(original);
	struct blockmap all;
	struct bm_frag f;
	size_t i, k;

	blockmap_copy(original, &all);
	all.id = made->id;
	all.origin = made->origin;
	all.seg.n = 0;
	vec_copy(&made->seg, &all.seg);
	for (k = 0; k < made->frag.n; k++) {
		f = made->frag.v[k];
		if (f.addr < end)
			continue;
		f.first = (uint32_t)all.block.n;
		vec_push(&all.frag, f);
		for (i = 0; i < f.n; i++) {
			vec_push(&all.block, made->block.v[made->frag.v[k].first + i]);
			all.block.v[all.block.n - 1].frag = (uint32_t)(all.frag.n - 1);
		}
	}
	blockmap_free(made);
	*made = all;
}

void blockmap_free(struct blockmap *m)
{
	vec_free(&m->seg);
	vec_free(&m->frag);
	vec_free(&m->block);
	*m = (struct blockmap){0};
}

/* ---- the blob: docs/FORMATS.md "block map blob" ---- */

static const char blob_magic[8] = "MorphBM1";

/* The TUs in the order of their first fragment; *index gets each one's place. */
static void put_tus(const struct blockmap *m, struct buf *out, struct htab *index)
{
	struct buf tus = {0};
	uint64_t *place;
	bool fresh;
	size_t i;

	for (i = 0; i < m->frag.n; i++) {
		place = htab_put(index, &m->frag.v[i].tu, sizeof m->frag.v[i].tu, &fresh);
		if (fresh) {
			*place = index->n - 1;
			buf_le64(&tus, m->frag.v[i].tu);
		}
	}
	buf_uleb(out, index->n);
	buf_add(out, tus.p, tus.n);
	buf_free(&tus);
}

static void put_blocks(const struct blockmap *m, const struct bm_frag *f, struct buf *out)
{
	uint64_t at = f->addr;
	size_t i;

	for (i = f->first; i < f->first + f->n; i++) {
		const struct bm_block *b = &m->block.v[i];

		buf_uleb(out, b->id);
		buf_uleb(out, b->addr - at);
		buf_uleb(out, b->size);
		at = b->addr + b->size;
	}
}

void blockmap_encode(const struct blockmap *m, struct buf *out)
{
	struct htab index = {0};
	uint64_t at = 0;
	size_t i;

	buf_add(out, blob_magic, sizeof blob_magic);
	build_id_put(out, &m->id);
	build_id_put(out, &m->origin);
	buf_uleb(out, m->seg.n);
	for (i = 0; i < m->seg.n; i++) {
		buf_uleb(out, m->seg.v[i].offset);
		buf_uleb(out, m->seg.v[i].vaddr);
		buf_uleb(out, m->seg.v[i].filesz);
	}
	put_tus(m, out, &index);
	buf_uleb(out, m->frag.n);
	for (i = 0; i < m->frag.n; i++) {
		const struct bm_frag *f = &m->frag.v[i];

		buf_uleb(out, f->addr - at);
		buf_uleb(out, *htab_get(&index, &f->tu, sizeof f->tu));
		buf_uleb(out, f->func);
		buf_uleb(out, f->fragment);
		buf_uleb(out, f->n);
		put_blocks(m, f, out);
		at = frag_end(f);
	}
	htab_free(&index);
}

struct blob {
	const uint8_t *p, *end;
	const uint8_t *tu; /* 8 bytes each */
	uint64_t ntu;
	struct err *e;
};

static int damaged(struct blob *b, const char *what)
{
	return err_set(b->e, "block map is damaged: %s", what);
}

static int get_segments(struct blob *b, struct blockmap *m)
{
	struct elf_segment s;
	uint64_t n, end;

	if (uleb_count(&b->p, b->end, 3, &n) < 0 || n > BLOCKMAP_SEGMENTS)
		return damaged(b, "segments");
	while (n--) {
		if (uleb_read(&b->p, b->end, &s.offset) < 0 ||
		    uleb_read(&b->p, b->end, &s.vaddr) < 0 ||
		    uleb_read(&b->p, b->end, &s.filesz) < 0 ||
		    __builtin_add_overflow(s.offset, s.filesz, &end) ||
		    __builtin_add_overflow(s.vaddr, s.filesz, &end))
			return damaged(b, "segments");
		vec_push(&m->seg, s);
	}
	return 0;
}

static int get_tus(struct blob *b)
{
	if (uleb_count(&b->p, b->end, 8, &b->ntu) < 0)
		return damaged(b, "count");
	b->tu = b->p;
	b->p += 8 * b->ntu;
	return 0;
}

static int get_frag(struct blob *b, struct blockmap *m)
{
	uint64_t delta, tu, func, fragment, n, id, gap, size;
	struct bm_frag f = {.first = (uint32_t)m->block.n};

	if (uleb_read(&b->p, b->end, &delta) < 0 || uleb_read(&b->p, b->end, &tu) < 0 ||
	    uleb_read(&b->p, b->end, &func) < 0 || uleb_read(&b->p, b->end, &fragment) < 0 ||
	    uleb_count(&b->p, b->end, 3, &n) < 0)
		return damaged(b, "fragment");
	if (tu >= b->ntu || func > UINT32_MAX || fragment > UINT32_MAX ||
	    m->block.n + n > UINT32_MAX || __builtin_add_overflow(blockmap_end(m), delta, &f.addr))
		return damaged(b, "fragment");
	f.tu = get_le64(b->tu + 8 * tu);
	f.func = (uint32_t)func;
	f.fragment = (uint32_t)fragment;
	vec_push(&m->frag, f);
	while (n--) {
		if (uleb_read(&b->p, b->end, &id) < 0 || uleb_read(&b->p, b->end, &gap) < 0 ||
		    uleb_read(&b->p, b->end, &size) < 0)
			return damaged(b, "block");
		if (blockmap_add(m, gap, size, id, b->e) < 0)
			return -1;
	}
	return 0;
}

static int get_map(struct blob *b, struct blockmap *m)
{
	uint64_t n;

	if (b->end - b->p < (long)sizeof blob_magic || memcmp(b->p, blob_magic, sizeof blob_magic))
		return err_set(b->e, "not a block map of this format");
	b->p += sizeof blob_magic;
	if (build_id_get(&b->p, b->end, &m->id) || build_id_get(&b->p, b->end, &m->origin))
		return damaged(b, "build-id");
	if (get_segments(b, m) < 0 || get_tus(b) < 0)
		return -1;
	if (uleb_count(&b->p, b->end, 5, &n) < 0)
		return damaged(b, "count");
	while (n--)
		if (get_frag(b, m) < 0)
			return -1;
	return b->p == b->end ? 0 : damaged(b, "bytes after its end");
}

int blockmap_decode(const void *p, size_t n, struct blockmap *m, struct err *e)
{
	struct blob b = {.p = p, .end = n ? (const uint8_t *)p + n : p, .e = e};

	*m = (struct blockmap){0};
	if (!get_map(&b, m))
		return 0;
	blockmap_free(m);
	return -1;
}

/* ---- looking up ---- */

const struct bm_block *blockmap_find(const struct blockmap *m, uint64_t addr)
{
	/* The last block that begins at addr or before; an empty one before
	 * another at its address is never the last. */
	size_t n = partition_point(0, m->block.n, i, m->block.v[i].addr <= addr);
	const struct bm_block *b = n ? &m->block.v[n - 1] : NULL;

	return b && addr - b->addr < b->size ? b : NULL;
}

bool blockmap_offset(const struct blockmap *m, uint64_t addr, uint64_t size, uint64_t *off)
{
	const struct elf_segment *s;

	for (s = m->seg.v; s < m->seg.v + m->seg.n; s++)
		if (addr >= s->vaddr && addr - s->vaddr < s->filesz &&
		    size <= s->filesz - (addr - s->vaddr)) {
			*off = s->offset + (addr - s->vaddr);
			return true;
		}
	return false;
}
