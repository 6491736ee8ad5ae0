#include "editor/layout/relax.h"
#include "tests/unit/unit.h"

static struct arena mem;

static void setup(void)
{
	mem = (struct arena){0};
}

static void teardown(void)
{
	arena_free(&mem);
}

/* 0 jumps on a condition to 2, else falls to 1, which jumps to 0; 2 leaves. */
static struct cfg_edge EDGE[] = {{.src = 0, .dst = 2, .kind = EDGE_TAKEN},
    {.src = 0, .dst = 1, .kind = EDGE_NOTTAKEN}, {.src = 1, .dst = 0, .kind = EDGE_JUMP}};

/* Of so many bytes without their jumps, which were short. */
static struct relaxed relax(uint32_t b0, uint32_t b1, uint32_t b2, struct layout *l)
{
	struct cfg_block block[] = {
	    {.bytes = b0 + 2, .jump = 2}, {.bytes = b1 + 2, .jump = 2}, {.bytes = b2}};
	struct cfg g = {.block = block, .edge = EDGE, .nblock = 3, .nedge = 3};
	struct relaxed r;

	cfg_index(&g, &mem);
	relax_slots(&g, l, &r, &mem);
	return r;
}

START_TEST(jumps_are_short_where_they_reach)
{
	uint32_t order[] = {0, 1, 2};
	struct layout l = {.order = order, .n = 3, .nhot = 3};
	struct relaxed r = relax(10, 118, 5, &l);

	/* Over 118 + 5 bytes forwards, over 12 + 118 + 2 back. */
	ck_assert_uint_eq(r.jump[0], 11);
	ck_assert_uint_eq(r.addr[1], 12);
	ck_assert_uint_eq(r.end[1], 12 + 118 + 5);
	r = relax(10, 60, 5, &l);
	ck_assert_uint_eq(r.end[1], 12 + 60 + 2);
	ck_assert_uint_eq(r.jump[1], RELAX_NONE);
	ck_assert_uint_eq(r.addr[2], r.end[1]);
}
END_TEST

START_TEST(a_longer_jump_makes_another_one_longer)
{
	uint32_t order[] = {0, 1, 2};
	struct layout l = {.order = order, .n = 3, .nhot = 3};
	/* Over 123 bytes and a short jump it would reach, but that is a long one. */
	struct relaxed r = relax(10, 123, 5, &l);

	ck_assert_uint_eq(r.jump[0], 10 + 6 - 1);
	ck_assert_uint_eq(r.addr[2], 16 + 123 + 5);
}
END_TEST

START_TEST(jumps_follow_from_what_comes_next)
{
	uint32_t turned[] = {0, 2, 1}, apart[] = {0, 1, 2};
	struct layout l = {.order = turned, .n = 3, .nhot = 3};
	struct relaxed r = relax(10, 10, 5, &l);

	/* The condition is inverted: to 1, over 2. */
	ck_assert_uint_eq(r.jump[0], 11);
	ck_assert_uint_eq(r.addr[1], 12);
	ck_assert_uint_eq(r.addr[2], 17);
	l = (struct layout){.order = apart, .n = 3, .nhot = 1};
	r = relax(10, 10, 5, &l);
	/* Two long jumps into the cold fragment. */
	ck_assert_uint_eq(r.jump[0], 10 + 6 - 1);
	ck_assert_uint_eq(r.end[0], 10 + 6 + 5);
}
END_TEST

START_TEST(padding_as_it_is_printed)
{
	uint32_t order[] = {0, 1, 2};
	uint8_t align[] = {5, 4, 5};
	struct layout l = {.order = order, .n = 3, .nhot = 3, .align = align};
	struct relaxed r = relax(5, 10, 5, &l);

	ck_assert_uint_eq(r.addr[0], 0);
	ck_assert_uint_eq(r.addr[1], 16);
	ck_assert_uint_eq(r.addr[2], 32);
	ck_assert_uint_eq(relax_padding(5, 4), 0);
	ck_assert_uint_eq(relax_padding(6, 4), 10);
	ck_assert_uint_eq(relax_padding(5, 5), 0);
	ck_assert_uint_eq(relax_padding(6, 5), 26);
	ck_assert_uint_eq(relax_padding(1, 3), 7);
	ck_assert_uint_eq(relax_padding(7, 0), 0);
}
END_TEST

UNIT_MAIN("relax", 0, setup, teardown, jumps_are_short_where_they_reach,
    a_longer_jump_makes_another_one_longer, jumps_follow_from_what_comes_next,
    padding_as_it_is_printed)
