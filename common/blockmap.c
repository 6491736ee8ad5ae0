#include "common/blockmap.h"
#include "common/hash.h"
#include "common/le.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- building: fragments in ascending order, blocks one behind the other ---- */

enum { SEGMENTS_MAX = 64 };

static uint64_t frag_end(const struct bm_frag *f)
{
	return f->addr + f->size;
}

static uint64_t map_end(const struct blockmap *m)
{
	return m->frag.n ? frag_end(&m->frag.v[m->frag.n - 1]) : 0;
}

/* Adds a block to the last fragment, gap bytes behind what is there. */
static int add_block(struct blockmap *m, uint64_t gap, uint64_t size, uint64_t id, struct err *e)
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

void blockmap_free(struct blockmap *m)
{
	vec_free(&m->seg);
	vec_free(&m->frag);
	vec_free(&m->block);
	*m = (struct blockmap){0};
}

/* ---- .llvm_bb_addr_map ---- */

/*
 * LLVM's Extensions.rst, "SHT_LLVM_BB_ADDR_MAP", versions 1 and 2:
 *	u8 version, u8 features
 *	[MULTI_RANGE: uleb ranges]
 *	per range: u64 address, uleb blocks, per block: [2: uleb id]
 *	    uleb offset from the end of the previous block, uleb size, uleb metadata
 *	[ENTRY_COUNT: uleb]
 *	per block of all ranges: [FREQUENCY: uleb]
 *	    [PROBABILITY: uleb successors, per successor: uleb id, uleb probability]
 */
enum { SHT_BB_ADDR_MAP = 0x6fff4c0a };
enum { MAP_ENTRY_COUNT = 1, MAP_FREQUENCY = 2, MAP_PROBABILITY = 4, MAP_MULTI_RANGE = 8 };

struct raw_block {
	uint64_t id, gap, size;
};

struct raw_range { /* a candidate for a fragment */
	uint64_t addr;
	size_t first, n, order;
};

struct raw_map {
	const uint8_t *p, *end;
	VEC(struct raw_range) range;
	VEC(struct raw_block) block;
	VEC(struct bm_fn_record) fn;
};

static int read_range(struct raw_map *r, unsigned version, uint64_t *total)
{
	struct raw_range g = {.first = r->block.n, .order = r->range.n};
	struct raw_block b;
	uint64_t n, i, metadata;

	if (r->end - r->p < 8)
		return -1;
	g.addr = get_le64(r->p);
	r->p += 8;
	if (uleb_read(&r->p, r->end, &n) < 0 || n > (uint64_t)(r->end - r->p))
		return -1;
	for (i = 0; i < n; i++) {
		b.id = i;
		if ((version > 1 && uleb_read(&r->p, r->end, &b.id) < 0) ||
		    uleb_read(&r->p, r->end, &b.gap) < 0 || uleb_read(&r->p, r->end, &b.size) < 0 ||
		    uleb_read(&r->p, r->end, &metadata) < 0)
			return -1;
		vec_push(&r->block, b);
	}
	g.n = n;
	*total += n;
	vec_push(&r->range, g);
	return 0;
}

/* What a compiler adds from its own profile is stepped over. */
static int skip_analysis(struct raw_map *r, unsigned features, uint64_t blocks)
{
	uint64_t v, n;

	if ((features & MAP_ENTRY_COUNT) && uleb_read(&r->p, r->end, &v) < 0)
		return -1;
	if (!(features & (MAP_FREQUENCY | MAP_PROBABILITY)))
		return 0;
	while (blocks--) {
		if ((features & MAP_FREQUENCY) && uleb_read(&r->p, r->end, &v) < 0)
			return -1;
		if (!(features & MAP_PROBABILITY))
			continue;
		if (uleb_read(&r->p, r->end, &n) < 0)
			return -1;
		while (n--)
			if (uleb_read(&r->p, r->end, &v) < 0 || uleb_read(&r->p, r->end, &v) < 0)
				return -1;
	}
	return 0;
}

static int read_entry(struct raw_map *r, struct err *e)
{
	unsigned version, features;
	uint64_t ranges = 1, blocks = 0;

	if (r->end - r->p < 2)
		return err_set(e, "section .llvm_bb_addr_map is cut off");
	version = r->p[0];
	features = r->p[1];
	r->p += 2;
	if (version < 1 || version > 2 || features > 15 || (version < 2 && features))
		return err_set(e,
		    "section .llvm_bb_addr_map: version %u with features %#x, this Morph reads "
		    "version 2 with features up to 0xf",
		    version, features);
	if ((features & MAP_MULTI_RANGE) && uleb_read(&r->p, r->end, &ranges) < 0)
		return err_set(e, "section .llvm_bb_addr_map is cut off");
	while (ranges--)
		if (read_range(r, version, &blocks) < 0)
			return err_set(e, "section .llvm_bb_addr_map is cut off");
	if (skip_analysis(r, features, blocks) < 0)
		return err_set(e, "section .llvm_bb_addr_map is cut off");
	return 0;
}

static int read_map_section(struct raw_map *r, const struct elf_section *s, struct err *e)
{
	r->p = s->data;
	r->end = s->data + s->size;
	while (r->p < r->end)
		if (read_entry(r, e) < 0)
			return -1;
	return 0;
}

static int read_fn_section(struct raw_map *r, const struct elf_section *s, struct err *e)
{
	const uint8_t *p = s->data;
	uint64_t at;

	if (s->size % sizeof(struct bm_fn_record))
		return err_set(e, "section .morph.fn is cut off");
	for (at = 0; at < s->size; at += sizeof(struct bm_fn_record))
		vec_push(&r->fn, (struct bm_fn_record){get_le64(p + at), get_le64(p + at + 8),
				     get_le32(p + at + 16), get_le32(p + at + 20)});
	return 0;
}

/* ---- ranges and records to fragments ---- */

static int by_range(const void *pa, const void *pb)
{
	const struct raw_range *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int add_fragment(struct blockmap *m, const struct raw_map *r, const struct raw_range *g,
    const struct bm_fn_record *fn, struct err *e)
{
	size_t blocks = m->block.n, i;

	vec_push(&m->frag, (struct bm_frag){.addr = g->addr,
			       .tu = fn->tu,
			       .func = fn->func,
			       .fragment = fn->fragment,
			       .first = (uint32_t)blocks});
	for (i = g->first; i < g->first + g->n; i++)
		if (add_block(m, r->block.v[i].gap, r->block.v[i].size, r->block.v[i].id, e) < 0)
			return -1;
	return 0;
}

/*
 * Both sections have one order per address, that of the linker's input: the
 * k-th range at an address is the k-th record's. Where there are more of one
 * than of the other, a foreign entry is among them and nothing is claimed.
 * Address 0 is code that was discarded. A fragment that begins inside another
 * was folded into it by the linker.
 */
static int join(struct blockmap *m, struct raw_map *r, const size_t *fn_order, struct err *e)
{
	size_t i, k, j = 0, ni, nj;

	for (i = 0; i < r->range.n; i += ni, j += nj) {
		uint64_t addr = r->range.v[i].addr;

		for (ni = 0; i + ni < r->range.n && r->range.v[i + ni].addr == addr; ni++)
			;
		while (j < r->fn.n && r->fn.v[fn_order[j]].addr < addr)
			j++;
		for (nj = 0; j + nj < r->fn.n && r->fn.v[fn_order[j + nj]].addr == addr; nj++)
			;
		if (!addr || ni != nj)
			continue;
		for (k = 0; k < ni && addr >= map_end(m); k++)
			if (add_fragment(m, r, &r->range.v[i + k], &r->fn.v[fn_order[j + k]], e) <
			    0)
				return -1;
	}
	return 0;
}

static int by_record(const void *pa, const void *pb, void *arg)
{
	const struct bm_fn_record *fn = arg;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	if (fn[a].addr != fn[b].addr)
		return fn[a].addr < fn[b].addr ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int sort_and_join(struct blockmap *m, struct raw_map *r, struct err *e)
{
	size_t *order = xmalloc(r->fn.n * sizeof *order), i;
	int status;

	for (i = 0; i < r->fn.n; i++)
		order[i] = i;
	qsort_r(order, r->fn.n, sizeof *order, by_record, r->fn.v);
	if (r->range.n)
		qsort(r->range.v, r->range.n, sizeof *r->range.v, by_range);
	status = join(m, r, order, e);
	free(order);
	return status;
}

static int read_sections(struct elf *f, struct blockmap *m, struct raw_map *r, struct err *e)
{
	struct elf_section map, fn;
	int has_map = elf_file_section(f, ".llvm_bb_addr_map", &map, e);
	int has_fn = has_map < 0 ? -1 : elf_file_section(f, ".morph.fn", &fn, e);

	if (has_map < 0 || has_fn < 0)
		return -1;
	if (!has_map || !has_fn || !map.data || !fn.data)
		return err_set(e, "no block map: not built through Morph's hooks, or stripped");
	/* clang before 15 has another layout under the same name. */
	if (map.type != SHT_BB_ADDR_MAP)
		return err_set(e, "section .llvm_bb_addr_map: type %#x, this Morph reads %#x",
		    map.type, SHT_BB_ADDR_MAP);
	if (read_map_section(r, &map, e) < 0 || read_fn_section(r, &fn, e) < 0)
		return -1;
	return sort_and_join(m, r, e);
}

int blockmap_from_elf(struct elf *f, struct blockmap *m, struct err *e)
{
	struct elf_segment seg[SEGMENTS_MAX];
	struct raw_map r = {0};
	size_t n = elf_file_exec_segments(f, seg, SEGMENTS_MAX), i;
	int status;

	*m = (struct blockmap){.id = elf_file_build_id(f), .origin = elf_file_origin(f)};
	for (i = 0; i < n; i++)
		vec_push(&m->seg, seg[i]);
	status = read_sections(f, m, &r, e);
	if (status < 0)
		blockmap_free(m);
	vec_free(&r.range);
	vec_free(&r.block);
	vec_free(&r.fn);
	return status;
}

/* ---- the blob: docs/FORMATS.md "block map blob" ---- */

static const char blob_magic[8] = "MorphBM1";

static void put_id(struct buf *out, const struct build_id *id)
{
	buf_char(out, (char)id->n);
	buf_add(out, id->b, id->n);
}

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

static void put_frag(const struct blockmap *m, const struct bm_frag *f, struct buf *out)
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
	put_id(out, &m->id);
	put_id(out, &m->origin);
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
		put_frag(m, f, out);
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

static int get_id(struct blob *b, struct build_id *id)
{
	*id = (struct build_id){0};
	if (b->p == b->end || *b->p > sizeof id->b || b->end - b->p - 1 < *b->p)
		return damaged(b, "build-id");
	id->n = *b->p++;
	memcpy(id->b, b->p, id->n);
	b->p += id->n;
	return 0;
}

/* A count of things that take at least size bytes each. */
static int get_count(struct blob *b, size_t size, uint64_t *n)
{
	if (uleb_read(&b->p, b->end, n) < 0 || *n > (uint64_t)(b->end - b->p) / size)
		return damaged(b, "count");
	return 0;
}

static int get_segments(struct blob *b, struct blockmap *m)
{
	struct elf_segment s;
	uint64_t n, end;

	if (get_count(b, 3, &n) < 0 || n > SEGMENTS_MAX)
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
	if (get_count(b, 8, &b->ntu) < 0)
		return -1;
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
	    get_count(b, 3, &n) < 0)
		return damaged(b, "fragment");
	if (tu >= b->ntu || func > UINT32_MAX || fragment > UINT32_MAX ||
	    m->block.n + n > UINT32_MAX || __builtin_add_overflow(map_end(m), delta, &f.addr))
		return damaged(b, "fragment");
	f.tu = get_le64(b->tu + 8 * tu);
	f.func = (uint32_t)func;
	f.fragment = (uint32_t)fragment;
	vec_push(&m->frag, f);
	while (n--) {
		if (uleb_read(&b->p, b->end, &id) < 0 || uleb_read(&b->p, b->end, &gap) < 0 ||
		    uleb_read(&b->p, b->end, &size) < 0)
			return damaged(b, "block");
		if (add_block(m, gap, size, id, b->e) < 0)
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
	if (get_id(b, &m->id) < 0 || get_id(b, &m->origin) < 0 || get_segments(b, m) < 0 ||
	    get_tus(b) < 0 || get_count(b, 5, &n) < 0)
		return -1;
	while (n--)
		if (get_frag(b, m) < 0)
			return -1;
	return b->p == b->end ? 0 : damaged(b, "bytes behind its end");
}

int blockmap_decode(const void *p, size_t n, struct blockmap *m, struct err *e)
{
	struct blob b = {.p = p, .end = (const uint8_t *)p + n, .e = e};

	*m = (struct blockmap){0};
	if (!get_map(&b, m))
		return 0;
	blockmap_free(m);
	return -1;
}

/* ---- looking up ---- */

int blockmap_addr(const struct blockmap *m, uint64_t file_offset, uint64_t *addr)
{
	size_t i;

	for (i = 0; i < m->seg.n; i++)
		if (file_offset >= m->seg.v[i].offset &&
		    file_offset - m->seg.v[i].offset < m->seg.v[i].filesz) {
			*addr = m->seg.v[i].vaddr + (file_offset - m->seg.v[i].offset);
			return 0;
		}
	return -1;
}

const struct bm_block *blockmap_find(const struct blockmap *m, uint64_t addr)
{
	size_t lo = 0, hi = m->block.n, mid;

	/* The last block that begins at addr or before; an empty one before
	 * another at its address is never the last. */
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (m->block.v[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - m->block.v[lo - 1].addr >= m->block.v[lo - 1].size)
		return NULL;
	return &m->block.v[lo - 1];
}
