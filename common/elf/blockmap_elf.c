/* A block map out of an ELF file; apart from blockmap.c, so that who reads the
 * blob alone does without libelf. */
#include "common/elf/fragments.h"
#include "common/le.h"
#include "common/sort.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
	VEC(struct elf_section) code;
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

	return ORDER(a->addr, b->addr) ?: ORDER(a->order, b->order);
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
		if (blockmap_add(m, r->block.v[i].gap, r->block.v[i].size, r->block.v[i].id, e) < 0)
			return -1;
	return 0;
}

/*
 * Both sections have one order per address, that of the linker's input: the
 * k-th range at an address is the k-th record's. Where there are more of one
 * than of the other, a foreign entry is among them and nothing is claimed.
 * What is in no section of code was discarded: its address is 0, or its offset in its section.
 * A fragment that begins inside another was folded into it by the linker.
 */
static bool is_code(const struct raw_map *r, uint64_t addr)
{
	size_t i;

	for (i = 0; i < r->code.n && addr - r->code.v[i].addr > r->code.v[i].size; i++)
		;
	return i < r->code.n;
}

static int keep_code(const struct elf_section *s, void *arg)
{
	struct raw_map *r = arg;

	if (s->flags & SHF_EXECINSTR)
		vec_push(&r->code, *s);
	return 0;
}

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
		if (!is_code(r, addr) || ni != nj)
			continue;
		for (k = 0; k < ni && addr >= blockmap_end(m); k++)
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

	return ORDER(fn[a].addr, fn[b].addr) ?: ORDER(a, b);
}

static int sort_and_join(struct blockmap *m, struct raw_map *r, struct err *e)
{
	size_t *order = xmalloc(r->fn.n * sizeof *order), i;
	int status;

	for (i = 0; i < r->fn.n; i++)
		order[i] = i;
	qsort_r(order, r->fn.n, sizeof *order, by_record, r->fn.v);
	vec_sort(&r->range, by_range);
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
	struct elf_segment seg[BLOCKMAP_SEGMENTS];
	struct raw_map r = {0};
	size_t n = elf_file_exec_segments(f, seg, BLOCKMAP_SEGMENTS), i;
	int status;

	*m = (struct blockmap){.id = elf_file_build_id(f), .origin = elf_file_origin(f)};
	for (i = 0; i < n; i++)
		vec_push(&m->seg, seg[i]);
	elf_file_sections(f, keep_code, &r);
	status = read_sections(f, m, &r, e);
	if (status < 0)
		blockmap_free(m);
	vec_free(&r.range);
	vec_free(&r.block);
	vec_free(&r.fn);
	vec_free(&r.code);
	return status;
}
