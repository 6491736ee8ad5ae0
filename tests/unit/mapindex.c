#include "editor-driver/plan/mapindex.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static struct blockmap map;
static struct mapindex x;

static void frag(uint64_t addr, uint64_t tu, uint32_t func, uint32_t fragment)
{
	struct bm_frag f = {.addr = addr,
	    .tu = tu,
	    .func = func,
	    .fragment = fragment,
	    .first = (uint32_t)map.block.n};

	vec_push(&map.frag, f);
}

static void block(uint64_t addr, uint32_t id)
{
	vec_push(&map.block,
	    (struct bm_block){.addr = addr, .size = 4, .id = id, .frag = (uint32_t)map.frag.n - 1});
	map.frag.v[map.frag.n - 1].n++;
}

/* Function (7, 0) has its cold part in front of its hot one; (7, 1) one part;
 * (9, 0) was linked twice. */
static void setup(void)
{
	frag(0x100, 7, 0, 1);
	block(0x100, 2);
	block(0x104, 3);
	frag(0x200, 7, 1, 0);
	block(0x200, 0);
	frag(0x300, 7, 0, 0);
	block(0x300, 0);
	block(0x304, 4);
	block(0x308, 1);
	frag(0x400, 9, 0, 0);
	block(0x400, 0);
	block(0x404, 1);
	frag(0x500, 9, 0, 0);
	block(0x500, 0);
	block(0x504, 1);
	mapindex_make(&x, &map);
}

static void teardown(void)
{
	mapindex_free(&x);
	blockmap_free(&map);
}

static void expect(
    uint64_t tu, uint32_t func, uint32_t nblock, uint32_t n, uint32_t nhot, const uint64_t *addr)
{
	struct func_blocks b;
	uint32_t i;

	mapindex_blocks(&x, tu, func, nblock, &b);
	ck_assert_uint_eq(b.block.n, n);
	ck_assert_uint_eq(b.nhot, nhot);
	for (i = 0; i < n; i++)
		ck_assert_uint_eq(b.block.v[i]->addr, addr[i]);
	mapindex_blocks_free(&b);
}

START_TEST(hot_part_first)
{
	expect(7, 0, 5, 5, 3, (uint64_t[]){0x300, 0x304, 0x308, 0x100, 0x104});
	expect(7, 1, 1, 1, 1, (uint64_t[]){0x200});
}
END_TEST

START_TEST(twice_linked_counts_once)
{
	expect(9, 0, 2, 2, 2, (uint64_t[]){0x400, 0x404});
	ck_assert_int_eq(mapindex_first(&x, 9, 0), 3);
	ck_assert_int_eq(x.next[3], 4);
	ck_assert_int_eq(x.next[4], -1);
}
END_TEST

START_TEST(ids_beyond_are_left_out)
{
	expect(7, 0, 3, 3, 2, (uint64_t[]){0x300, 0x308, 0x100});
}
END_TEST

START_TEST(strangers_have_none)
{
	ck_assert_int_eq(mapindex_first(&x, 8, 0), -1);
	expect(7, 2, 5, 0, 0, NULL);
}
END_TEST

UNIT_MAIN("mapindex", 0, setup, teardown, hot_part_first, twice_linked_counts_once,
    ids_beyond_are_left_out, strangers_have_none)
