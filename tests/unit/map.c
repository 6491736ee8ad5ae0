#include "managerd/samples/map.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct err e;
static struct map_table t;
static struct map m;
static struct blockmap b;

static void add_func(
    const char *name, uint64_t tu, uint32_t ord, uint32_t nblock, const char *opaque)
{
	map_table_add(&t, &(struct map_func){.key = hash_bytes(name, strlen(name)),
			      .tu = tu,
			      .ord = ord,
			      .nblock = nblock,
			      .name = name,
			      .tu_name = "a.c",
			      .opaque = opaque});
}

static void add_frag(uint64_t tu, uint32_t func, uint64_t addr)
{
	vec_push(&b.frag,
	    (struct bm_frag){.addr = addr, .tu = tu, .func = func, .first = (uint32_t)b.block.n});
}

static void add_block(uint32_t id, uint64_t addr, uint32_t size)
{
	vec_push(&b.block, (struct bm_block){addr, size, id, (uint32_t)b.frag.n - 1});
	b.frag.v[b.frag.n - 1].n++;
}

/* f (3 blocks, split in two fragments), g (opaque), one that nobody knows. */
static void setup(void)
{
	t = (struct map_table){0};
	b = (struct blockmap){0};
	m = (struct map){0};
	add_func("g", 7, 1, 1, "odd");
	add_func("f", 7, 0, 3, NULL);
	ck_assert_int_eq(map_table_end(&t, &e), 0);
	vec_push(
	    &b.seg, (struct elf_segment){.offset = 0x1000, .vaddr = 0x401000, .filesz = 0x1000});
	add_frag(7, 0, 0x401000);
	add_block(2, 0x401000, 16);
	add_block(0, 0x401010, 4);
	add_frag(7, 1, 0x401020);
	add_block(0, 0x401020, 32);
	add_frag(9, 5, 0x401050);
	add_block(0, 0x401050, 8);
	add_frag(7, 0, 0x401060);
	add_block(1, 0x401060, 1);
	add_block(3, 0x401061, 1);
}

static void teardown(void)
{
	map_free(&m);
	map_table_free(&t);
	blockmap_free(&b);
}

/* What map_samples() says, by slot. */
static uint64_t count_hits(
    const struct map *in, const struct wire_sample *s, size_t n, uint64_t *hit, size_t *hits)
{
	struct map_hits h = {0};
	uint64_t outside = map_samples(in, s, n, &h);
	size_t i;

	for (i = 0; i < h.v.n; i++)
		hit[h.v.v[i].slot] += h.v.v[i].samples;
	*hits = h.v.n;
	vec_free(&h.v);
	return outside;
}

START_TEST(samples_find_their_blocks)
{
	struct wire_sample s[] = {{0, 1}, {0xfff, 2}, {0x1000, 4}, {0x100f, 8}, {0x1010, 16},
	    {0x1014, 32}, {0x1020, 64}, {0x103f, 128}, {0x1040, 256}, {0x1050, 512}, {0x1060, 1024},
	    {0x1061, 2048}, {UINT64_MAX, 4096}};
	uint64_t hit[4] = {0};
	size_t hits;

	ck_assert_int_eq(map_make(&b, &t, &m, &e), 0);
	ck_assert_uint_eq(m.range.n, 4);
	ck_assert_uint_eq(m.unknown, 2);
	ck_assert_uint_eq(count_hits(&m, s, 13, hit, &hits), 1 + 2 + 32 + 256 + 512 + 2048 + 4096);
	ck_assert_uint_eq(hit[0], 16);
	ck_assert_uint_eq(hit[1], 1024);
	ck_assert_uint_eq(hit[2], 4 + 8);
	ck_assert_uint_eq(hit[3], 64 + 128);
	ck_assert_uint_eq(hits, 4);
}
END_TEST

START_TEST(slots_know_their_functions)
{
	uint32_t block;

	ck_assert_uint_eq(t.nslot, 4);
	ck_assert_str_eq(map_slot(&t, 2, &block)->name, "f");
	ck_assert_uint_eq(block, 2);
	ck_assert_str_eq(map_slot(&t, 3, &block)->name, "g");
	ck_assert_uint_eq(block, 0);
	ck_assert_str_eq(map_slot(&t, 3, &block)->opaque, "odd");
}
END_TEST

START_TEST(no_map_takes_nothing)
{
	struct wire_sample s[] = {{1, 5}, {9, 6}};
	size_t hits;

	ck_assert_uint_eq(count_hits(&m, s, 2, NULL, &hits), 11);
	ck_assert_uint_eq(hits, 0);
}
END_TEST

/* Against the plain way, over gaps and dense runs. */
START_TEST(same_as_searching)
{
	enum { BLOCKS = 3000, SAMPLES = 2000 };
	static struct wire_sample s[SAMPLES];
	struct blockmap big = {0};
	struct map_table bt = {0};
	struct map bmap;
	size_t hits;
	uint64_t *hit = calloc(BLOCKS, sizeof *hit), *want = calloc(BLOCKS, sizeof *want);
	uint64_t addr = 0, off = 0, lost = 0;
	uint32_t i, r = 77;
	const struct map_range *at;
	const struct bm_block *k;

	map_table_add(
	    &bt, &(struct map_func){.tu = 1, .nblock = BLOCKS, .name = "f", .tu_name = ""});
	ck_assert_int_eq(map_table_end(&bt, &e), 0);
	vec_push(&big.frag, (struct bm_frag){.tu = 1, .n = BLOCKS});
	for (i = 0; i < BLOCKS; i++) {
		r = r * 1664525 + 1013904223;
		addr += r >> 28;
		vec_push(&big.block, (struct bm_block){addr, (r >> 20) & 15, i, 0});
		addr += (r >> 20) & 15;
	}
	vec_push(&big.seg, (struct elf_segment){.offset = 0, .vaddr = 0, .filesz = addr});
	for (i = 0; i < SAMPLES; i++) {
		r = r * 1664525 + 1013904223;
		off += 1 + (i % 100 ? r >> 29 : r >> 22);
		s[i] = (struct wire_sample){off, 1 + (r & 3)};
		k = blockmap_find(&big, off);
		if (k && off - k->addr < k->size)
			want[k->id] += s[i].count;
		else
			lost += s[i].count;
	}
	ck_assert_int_eq(map_make(&big, &bt, &bmap, &e), 0);
	ck_assert_uint_eq(count_hits(&bmap, s, SAMPLES, hit, &hits), lost);
	ck_assert_mem_eq(hit, want, BLOCKS * sizeof *hit);
	for (off = 0; off < addr + 10; off++) {
		k = blockmap_find(&big, off);
		at = map_at(&bmap, off);
		ck_assert(at ? k && at->slot == k->id : !k || off - k->addr >= k->size);
	}
	ck_assert_uint_gt(hits, 100);
	map_free(&bmap);
	map_table_free(&bt);
	blockmap_free(&big);
	free(hit);
	free(want);
}
END_TEST

START_TEST(map_that_does_not_fit)
{
	add_frag(7, 0, 0x402000);
	add_block(1, 0x402000, 4);
	ck_assert_int_eq(map_make(&b, &t, &m, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "no segment"));
	b.block.v[b.block.n - 1].addr = 0x401ffe; /* half in */
	ck_assert_int_eq(map_make(&b, &t, &m, &e), -1);
	b.block.v[b.block.n - 1].addr = 0x401002;
	ck_assert_int_eq(map_make(&b, &t, &m, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "overlap"));
}
END_TEST

START_TEST(table_survives_the_store)
{
	struct map_table u;
	struct buf one = {0}, two = {0};

	map_table_encode(&t, &one);
	ck_assert_int_eq(map_table_decode(one.p, one.n, &u, &e), 0);
	map_table_encode(&u, &two);
	ck_assert_uint_eq(one.n, two.n);
	ck_assert_mem_eq(one.p, two.p, one.n);
	ck_assert_str_eq(u.func.v[1].opaque, "odd");
	ck_assert_ptr_null(u.func.v[0].opaque);
	map_table_free(&u);
	buf_free(&one);
	buf_free(&two);
}
END_TEST

START_TEST(garbled_table)
{
	struct map_table u;
	struct buf blob = {0};
	size_t i;

	map_table_encode(&t, &blob);
	for (i = 0; i < blob.n; i++) {
		char *cut = memcpy(malloc(i ? i : 1), blob.p, i);

		ck_assert_int_eq(map_table_decode(cut, i, &u, &e), -1);
		free(cut);
	}
	buf_char(&blob, 0);
	ck_assert_int_eq(map_table_decode(blob.p, blob.n, &u, &e), -1);
	ck_assert_int_eq(map_table_decode(NULL, 0, &u, &e), -1);
	buf_free(&blob);
}
END_TEST

static char *long_name(size_t n)
{
	char *s = xcalloc(n + 1, 1);

	memset(s, 'x', n);
	return s;
}

START_TEST(long_names_are_refused)
{
	char *longest = long_name(MAP_NAME_MAX), *longer = long_name(MAP_NAME_MAX + 1);
	struct map_table u;
	struct buf blob = {0};

	add_func(longest, 8, 0, 1, longest);
	ck_assert_int_eq(map_table_end(&t, &e), 0);
	map_table_encode(&t, &blob);
	ck_assert_msg(!map_table_decode(blob.p, blob.n, &u, &e), "%s", e.text);
	map_table_free(&u);
	add_func(_i ? "h" : longer, 8, 1, 1, _i ? longer : NULL);
	blob.n = 0;
	map_table_encode(&t, &blob);
	ck_assert_int_eq(map_table_decode(blob.p, blob.n, &u, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "a name of more than 65536 bytes"));
	ck_assert_int_eq(map_table_end(&t, &e), -1);
	buf_free(&blob);
	free(longest);
	free(longer);
}
END_TEST

START_TEST(doubles_are_one)
{
	add_func("f", 7, 0, 3, NULL);
	ck_assert_int_eq(map_table_end(&t, &e), 0);
	ck_assert_uint_eq(t.func.n, 2);
	ck_assert_uint_eq(t.nslot, 4);
	add_func("huge", 8, 0, 0x7fffffff, NULL);
	ck_assert_int_eq(map_table_end(&t, &e), -1);
}
END_TEST

UNIT_MAIN("map", 0, setup, teardown, samples_find_their_blocks, slots_know_their_functions,
    no_map_takes_nothing, same_as_searching, map_that_does_not_fit, table_survives_the_store,
    garbled_table, UNIT_LOOP(long_names_are_refused, 2), doubles_are_one)
