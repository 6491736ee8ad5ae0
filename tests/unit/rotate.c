#include "editor/layout/rotate.h"
#include "editor/layout/layout.h"
#include "tests/cfggen.h"
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

static struct cfg graph(uint32_t nblock, const struct cfg_edge *edge, uint32_t nedge)
{
	struct cfg g = {.nblock = nblock, .nedge = nedge};
	uint32_t b, i;

	g.block = arena_array(&mem, nblock, sizeof *g.block);
	g.edge = arena_array(&mem, nedge, sizeof *g.edge);
	memcpy(g.edge, edge, nedge * sizeof *edge);
	for (b = 0; b < nblock; b++)
		g.block[b].bytes = g.block[b].insns = 10;
	for (i = 0; i < nedge; i++)
		g.block[edge[i].src].count += edge[i].count;
	cfg_index(&g, &mem);
	return g;
}

static struct layout_score score(const struct cfg *g, uint32_t *order)
{
	struct layout l = {.order = order, .n = g->nblock, .nhot = g->nblock};
	struct layout_score s;

	layout_score(g, &l, &s);
	return s;
}

static void check_order(const uint32_t *order, const uint32_t *want, uint32_t n)
{
	uint32_t k;

	for (k = 0; k < n; k++)
		ck_assert_uint_eq(order[k], want[k]);
}

/* 0 falls to 1 and jumps into the loop 2, 3, 4, which is left in the middle, for 5. */
static const struct cfg_edge LEFT_INSIDE[] = {{0, 1, EDGE_NOTTAKEN, 900, 0},
    {0, 2, EDGE_TAKEN, 100, 0}, {1, 6, EDGE_FALL, 900, 0}, {2, 3, EDGE_FALL, 1000, 0},
    {3, 4, EDGE_NOTTAKEN, 900, 0}, {3, 5, EDGE_TAKEN, 100, 0}, {4, 2, EDGE_TAKEN, 900, 0},
    {5, 6, EDGE_FALL, 100, 0}};

START_TEST(a_loop_is_turned_until_it_falls_out)
{
	struct cfg g = graph(7, LEFT_INSIDE, 8);
	uint32_t order[] = {0, 1, 6, 2, 3, 4, 5};
	struct layout_score before = score(&g, order), after;

	ck_assert(rotate_loops(&g, order, 7, &mem));
	check_order(order, (uint32_t[]){0, 1, 6, 4, 2, 3, 5}, 7);
	after = score(&g, order);
	ck_assert_double_eq(after.taken, before.taken - 100);
	ck_assert(!rotate_loops(&g, order, 7, &mem));
}
END_TEST

START_TEST(what_gains_little_stays)
{
	struct cfg g = graph(7, LEFT_INSIDE, 8);
	uint32_t order[] = {0, 1, 6, 2, 3, 4, 5};

	g.edge[5].count = 40; /* of 900 rounds */
	ck_assert(!rotate_loops(&g, order, 7, &mem));
	check_order(order, (uint32_t[]){0, 1, 6, 2, 3, 4, 5}, 7);
}
END_TEST

START_TEST(a_loop_that_is_entered_by_falling_stays)
{
	struct cfg g = graph(7, LEFT_INSIDE, 8);
	uint32_t order[] = {1, 0, 2, 3, 4, 5, 6};

	ck_assert(!rotate_loops(&g, order, 7, &mem));
}
END_TEST

START_TEST(the_first_block_stays)
{
	static const struct cfg_edge edge[] = {{0, 1, EDGE_NOTTAKEN, 900, 0},
	    {0, 2, EDGE_TAKEN, 100, 0}, {1, 0, EDGE_JUMP, 900, 0}};
	struct cfg g = graph(3, edge, 3);
	uint32_t order[] = {0, 1, 2};

	ck_assert(!rotate_loops(&g, order, 3, &mem));
	check_order(order, (uint32_t[]){0, 1, 2}, 3);
}
END_TEST

START_TEST(blocks_that_are_left_out_count_for_nothing)
{
	struct cfg g = graph(7, LEFT_INSIDE, 8);
	uint32_t order[] = {0, 1, 6, 2, 3, 4};

	ck_assert(!rotate_loops(&g, order, 6, &mem));
}
END_TEST

/* Any order of any graph: the same blocks, never worth less, the same again. */
START_TEST(generated_orders_get_no_worse)
{
	struct layout_options o = {.split = 0};
	double was = 0, is = 0, s;
	uint32_t k, *again;
	uint64_t seed;
	uint8_t *seen;
	struct layout l;
	struct cfg g;

	for (seed = 1; seed <= 100; seed++) {
		cfggen(&g, seed, (uint32_t)(4 * seed), 1000, &mem);
		layout_random(&g, &o, seed, &l, &mem);
		again = arena_array(&mem, l.n, sizeof *again);
		seen = arena_array(&mem, l.n, 1);
		memcpy(again, l.order, l.n * sizeof *again);
		s = score(&g, l.order).exttsp;
		was += s;
		rotate_loops(&g, l.order, l.n, &mem);
		rotate_loops(&g, again, l.n, &mem);
		check_order(l.order, again, l.n);
		ck_assert_uint_eq(l.order[0], 0);
		for (k = 0; k < l.n; k++)
			ck_assert_uint_eq(seen[l.order[k]]++, 0);
		ck_assert_double_ge(score(&g, l.order).exttsp, s);
		is += score(&g, l.order).exttsp;
	}
	ck_assert_double_gt(is, 1.05 * was);
}
END_TEST

UNIT_MAIN("rotate", 60, setup, teardown, a_loop_is_turned_until_it_falls_out,
    what_gains_little_stays, a_loop_that_is_entered_by_falling_stays, the_first_block_stays,
    blocks_that_are_left_out_count_for_nothing, generated_orders_get_no_worse)
