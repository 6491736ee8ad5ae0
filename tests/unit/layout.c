#include "editor/layout/layout.h"
#include "editor/layout/slots.h"
#include "editor/infer/infer.h"
#include "editor/layout/tails.h"
#include "tests/cfggen.h"
#include "tests/unit/unit.h"

#include <stdio.h>

static struct arena mem;
static const struct layout_cpu any_cpu;
static const struct layout_options whole = {.cpu = &any_cpu},
				   parted = {.split = true, .cpu = &any_cpu};

static void setup(void)
{
	mem = (struct arena){0};
}

static void teardown(void)
{
	arena_free(&mem);
}

static void check_layout(const struct cfg *g, const struct layout *l)
{
	uint8_t *seen = arena_array(&mem, g->nblock, 1);
	uint32_t k;

	ck_assert_uint_eq(l->order[0], 0);
	ck_assert_uint_ge(l->nhot, 1);
	ck_assert_uint_le(l->nhot, g->nblock);
	for (k = 0; k < g->nblock; k++) {
		ck_assert_uint_lt(l->order[k], g->nblock);
		ck_assert_uint_eq(seen[l->order[k]]++, 0);
	}
}

static void check_same(const struct cfg *g, const struct layout *a, const struct layout *b)
{
	uint32_t k;

	ck_assert_uint_eq(a->nhot, b->nhot);
	for (k = 0; k < g->nblock; k++)
		ck_assert_uint_eq(a->order[k], b->order[k]);
}

static double score(const struct cfg *g, const struct layout *l)
{
	struct layout_score s;

	layout_score(g, l, &s);
	return s.exttsp;
}

/* 0 branches to 2 (taken, 90) or falls to 1 (10); both go to 3. Blocks of 10
 * bytes. */
static struct cfg diamond(void)
{
	static const struct cfg_edge edge[] = {{0, 1, EDGE_NOTTAKEN, 10}, {0, 2, EDGE_TAKEN, 90},
	    {1, 3, EDGE_JUMP, 10}, {2, 3, EDGE_FALL, 90}};
	static const uint64_t count[] = {100, 10, 90, 100};
	struct cfg g = {.nblock = 4, .nedge = 4};
	uint32_t b;

	g.block = arena_array(&mem, 4, sizeof *g.block);
	g.edge = arena_array(&mem, 4, sizeof *g.edge);
	memcpy(g.edge, edge, sizeof edge);
	for (b = 0; b < 4; b++) {
		g.block[b].bytes = g.block[b].insns = 10;
		g.block[b].count = count[b];
	}
	g.block[3].flags = BLK_EXIT;
	cfg_index(&g, &mem);
	return g;
}

START_TEST(score_of_a_diamond)
{
	struct cfg g = diamond();
	struct layout_score s;
	struct layout l;

	layout_identity(&g, &l, &mem);
	layout_score(&g, &l, &s);
	/* 0→1 falls; 0→2 over 10 bytes; 1→3 over 10; 2→3 falls, unconditional */
	ck_assert_double_eq_tol(s.exttsp,
	    10 + 90 * 0.1 * (1 - 10. / 1024) + 10 * 0.1 * (1 - 10. / 1024) + 90 * 1.05, 1e-9);
	ck_assert_double_eq(s.taken, 100);
	ck_assert_double_eq(s.total, 200);
}
END_TEST

START_TEST(score_of_a_backward_and_a_far_jump)
{
	struct cfg g = diamond();
	struct layout l = {.n = 4, .nhot = 3};
	struct layout_score s;
	uint32_t order[] = {0, 3, 2, 1};

	l.order = order;
	layout_score(&g, &l, &s);
	/* 2→3: from 30 back to 10; 1 lies in the other fragment */
	ck_assert_double_eq_tol(
	    s.exttsp, 90 * 0.1 * (1 - 10. / 1024) + 90 * 0.1 * (1 - 20. / 640), 1e-9);
	ck_assert_double_eq(s.taken, 200);
}
END_TEST

START_TEST(indirect_jumps_never_fall_through)
{
	struct cfg g = diamond();
	struct layout_score s;
	struct layout l;

	g.edge[3].kind = EDGE_INDIRECT;
	layout_identity(&g, &l, &mem);
	layout_score(&g, &l, &s);
	ck_assert_double_eq(s.taken, 190);
}
END_TEST

START_TEST(the_likely_way_falls_through)
{
	struct cfg g = diamond();
	struct layout l;

	layout_blocks(&g, &whole, &l, &mem);
	check_layout(&g, &l);
	ck_assert_uint_eq(l.order[1], 2);
	ck_assert_uint_eq(l.order[2], 3);
	ck_assert_uint_eq(l.order[3], 1);
	ck_assert_uint_eq(l.nhot, 4);
}
END_TEST

START_TEST(a_loop_is_rotated)
{
	/* 0 → 1; 1 tests: → 2 (990), → 3 (10); 2 → 1. Best: 0, then 2 1 3. */
	static const struct cfg_edge edge[] = {{0, 1, EDGE_FALL, 10}, {1, 2, EDGE_NOTTAKEN, 990},
	    {1, 3, EDGE_TAKEN, 10}, {2, 1, EDGE_JUMP, 990}};
	static const uint64_t count[] = {10, 1000, 990, 10};
	struct cfg g = diamond();
	struct layout l;
	uint32_t b;

	memcpy(g.edge, edge, sizeof edge);
	cfg_index(&g, &mem);
	for (b = 0; b < 4; b++)
		g.block[b].count = count[b];
	layout_blocks(&g, &parted, &l, &mem);
	check_layout(&g, &l);
	ck_assert_uint_eq(l.order[1], 2);
	ck_assert_uint_eq(l.order[2], 1);
	ck_assert_uint_eq(l.order[3], 3);
}
END_TEST

START_TEST(what_is_never_executed_goes)
{
	struct cfg g = diamond();
	struct layout l;

	g.block[1].count = g.edge[0].count = g.edge[2].count = 0;
	layout_blocks(&g, &parted, &l, &mem);
	check_layout(&g, &l);
	ck_assert_uint_eq(l.nhot, 3);
	ck_assert_uint_eq(l.order[3], 1);
}
END_TEST

/* 0 → 2 → 4 → 6; each may leave for an exit behind it: 1 (once), 3 (three times),
 * 5 (never, and too small to be put away). */
START_TEST(rare_exits_come_last)
{
	static const struct cfg_edge edge[] = {{0, 1, EDGE_NOTTAKEN, 1, 0},
	    {0, 2, EDGE_TAKEN, 999, 0}, {2, 3, EDGE_NOTTAKEN, 3, 0}, {2, 4, EDGE_TAKEN, 996, 0},
	    {4, 5, EDGE_NOTTAKEN, 0, 0}, {4, 6, EDGE_TAKEN, 996, 0}};
	static const uint64_t count[] = {1000, 1, 999, 3, 996, 0, 996};
	static const uint32_t want[] = {0, 2, 4, 6, 3, 1, 5};
	struct cfg g = {.nblock = 7, .nedge = 6};
	struct layout l;
	uint32_t b;

	g.block = arena_array(&mem, 7, sizeof *g.block);
	g.edge = arena_array(&mem, 6, sizeof *g.edge);
	memcpy(g.edge, edge, sizeof edge);
	cfg_index(&g, &mem);
	for (b = 0; b < 7; b++) {
		g.block[b].bytes = g.block[b].insns = b == 5 ? 4 : 10;
		g.block[b].count = count[b];
	}
	layout_blocks(&g, &parted, &l, &mem);
	ck_assert_uint_eq(l.nhot, 7);
	for (b = 0; b < 7; b++)
		ck_assert_uint_eq(l.order[b], want[b]);
	g.block[5].bytes = 10;
	layout_blocks(&g, &parted, &l, &mem);
	ck_assert_uint_eq(l.nhot, 6);
	for (b = 0; b < 7; b++)
		ck_assert_uint_eq(l.order[b], want[b]);
}
END_TEST

START_TEST(an_entry_may_be_all_that_is_hot)
{
	struct cfg g = diamond();
	struct layout l;

	cfggen_strip(&g);
	g.block[0].count = 100;
	g.block[0].flags = BLK_EXIT;
	layout_blocks(&g, &parted, &l, &mem);
	check_layout(&g, &l);
	ck_assert_uint_eq(l.nhot, 1);
}
END_TEST

START_TEST(a_split_that_frees_nothing_is_not_made)
{
	struct cfg g = diamond();
	struct layout l;

	g.block[1].count = g.edge[0].count = g.edge[2].count = 0;
	g.block[1].bytes = 4; /* the longer jump to it takes 4 */
	layout_blocks(&g, &parted, &l, &mem);
	check_layout(&g, &l);
	ck_assert_uint_eq(l.nhot, 4);
}
END_TEST

START_TEST(without_counts_nothing_moves)
{
	struct cfg g = diamond();
	struct layout l, same;

	cfggen_strip(&g);
	layout_blocks(&g, &parted, &l, &mem);
	layout_identity(&g, &same, &mem);
	check_same(&g, &l, &same);
}
END_TEST

START_TEST(one_block)
{
	struct cfg_block block = {.bytes = 3, .insns = 1, .count = 5, .flags = BLK_EXIT};
	struct cfg g = {.block = &block, .nblock = 1};
	struct layout l;

	cfg_index(&g, &mem);
	layout_blocks(&g, &parted, &l, &mem);
	check_layout(&g, &l);
	layout_random(&g, &parted, 1, &l, &mem);
	check_layout(&g, &l);
}
END_TEST

/* Generated functions: a permutation, the same each time, better than before. */
START_TEST(layouts_are_sound_and_better)
{
	struct layout l, again, before;
	double was = 0, is = 0;
	uint64_t seed;
	struct cfg g;

	for (seed = 1; seed <= 60; seed++) {
		cfggen(&g, seed, (uint32_t)(4 * seed), 1000, &mem);
		layout_blocks(&g, &parted, &l, &mem);
		check_layout(&g, &l);
		layout_blocks(&g, &parted, &again, &mem);
		check_same(&g, &l, &again);
		layout_identity(&g, &before, &mem);
		ck_assert_double_ge(score(&g, &l), score(&g, &before) * 0.999);
		was += score(&g, &before);
		is += score(&g, &l);
	}
	ck_assert_double_gt(is, 1.1 * was);
}
END_TEST

static double best_order(const struct cfg *g, uint32_t *order, uint32_t k)
{
	struct layout l = {.order = order, .n = g->nblock, .nhot = g->nblock};
	double best = 0, s;
	uint32_t i, t;

	if (k == g->nblock)
		return score(g, &l);
	for (i = k; i < g->nblock; i++) {
		t = order[k], order[k] = order[i], order[i] = t;
		s = best_order(g, order, k + 1);
		best = s > best ? s : best;
		t = order[k], order[k] = order[i], order[i] = t;
	}
	return best;
}

/* Against the best of all orders of functions of up to 8 blocks. */
START_TEST(nearly_the_best_order)
{
	uint32_t order[8], b, tried = 0;
	double ratio, sum = 0, least = 1;
	struct layout l;
	uint64_t seed;
	struct cfg g;

	for (seed = 1; seed <= 150; seed++) {
		cfggen(&g, seed, 4 + seed % 4, 1000, &mem);
		if (g.nblock > 8)
			continue;
		layout_blocks(&g, &whole, &l, &mem);
		for (b = 0; b < g.nblock; b++)
			order[b] = b;
		ratio = score(&g, &l) / best_order(&g, order, 1);
		sum += ratio;
		least = ratio < least ? ratio : least;
		tried++;
	}
	printf("%u graphs: %.4f of the best order's score on average, %.4f at least\n", tried,
	    sum / tried, least);
	ck_assert_uint_gt(tried, 50);
	ck_assert_double_gt(sum / tried, 0.995);
	ck_assert_double_gt(least, 0.95);
}
END_TEST

START_TEST(random_layouts_differ_and_are_sound)
{
	struct layout l, again, first;
	uint64_t seed, differ = 0;
	struct cfg g;

	cfggen(&g, 3, 40, 1000, &mem);
	layout_random(&g, &parted, 0, &first, &mem);
	for (seed = 1; seed <= 50; seed++) {
		layout_random(&g, &parted, seed, &l, &mem);
		check_layout(&g, &l);
		layout_random(&g, &parted, seed, &again, &mem);
		check_same(&g, &l, &again);
		differ += memcmp(l.order, first.order, g.nblock * sizeof *l.order) != 0;
		layout_random(&g, &whole, seed, &l, &mem);
		ck_assert_uint_eq(l.nhot, g.nblock);
	}
	ck_assert_uint_eq(differ, 50);
}
END_TEST

START_TEST(dispatch_is_copied_into_its_handlers)
{
	/* 0 → 1; 1 dispatches to 2, 3, 4, which go back to it; 5 leaves. */
	static const struct cfg_edge edge[] = {{0, 1, EDGE_FALL, 10}, {1, 2, EDGE_INDIRECT, 3000},
	    {1, 3, EDGE_INDIRECT, 2000}, {1, 4, EDGE_INDIRECT, 1000}, {1, 5, EDGE_INDIRECT, 10},
	    {2, 1, EDGE_JUMP, 3000}, {3, 1, EDGE_JUMP, 2000}, {4, 1, EDGE_FALL, 1000}};
	static const uint64_t count[] = {10, 6010, 3000, 2000, 1000, 10};
	const struct layout_options o = {
	    .split = true, .copies = true, .cpu = &any_cpu, .hot = 500};
	struct cfg g = {.nblock = 6, .nedge = 8};
	struct layout_score before, after;
	double flow[9], sum = 0;
	struct layout l, plain;
	uint32_t b, k;

	g.block = arena_array(&mem, 6, sizeof *g.block);
	g.edge = arena_array(&mem, 8, sizeof *g.edge);
	memcpy(g.edge, edge, sizeof edge);
	cfg_index(&g, &mem);
	for (b = 0; b < 6; b++)
		g.block[b] = (struct cfg_block){.insns = 5, .bytes = 16, .count = count[b]};
	g.block[5].flags = BLK_EXIT;
	layout_blocks(&g, &parted, &plain, &mem);
	layout_blocks(&g, &o, &l, &mem);
	/* One handler lies in front of the dispatch, the two others get a copy. */
	ck_assert_uint_eq(l.n, 8);
	layout_flow(&g, &l, flow);
	for (k = 0; k < l.n; k++)
		sum += l.order[k] == 1 ? flow[k] : 0;
	ck_assert_double_eq_tol(sum, 6010, 1e-9);
	layout_score(&g, &plain, &before);
	layout_score(&g, &l, &after);
	ck_assert_double_eq_tol(before.total, after.total, 1e-6);
	ck_assert_double_eq_tol(before.taken - after.taken, 6000 - 3000, 1e-6);
	g.block[1].flags = BLK_ONCE;
	layout_blocks(&g, &o, &l, &mem);
	ck_assert_uint_eq(l.n, 6);
}
END_TEST

START_TEST(a_small_loop_is_copied_behind_itself)
{
	/* 0 → 1; 1 → 1 (990) or → 2. */
	static const struct cfg_edge edge[] = {{0, 1, EDGE_FALL, 10}, {1, 1, EDGE_TAKEN, 990},
	    {1, 2, EDGE_NOTTAKEN, 10}, {2, 3, EDGE_FALL, 10}};
	static const uint64_t count[] = {10, 1000, 10, 10};
	const struct layout_options o = {
	    .split = true, .copies = true, .cpu = &any_cpu, .hot = 500};
	struct cfg g = diamond();
	struct layout_score s;
	struct layout l;
	double flow[5];
	uint32_t b;

	memcpy(g.edge, edge, sizeof edge);
	cfg_index(&g, &mem);
	for (b = 0; b < 4; b++)
		g.block[b].count = count[b];
	layout_blocks(&g, &o, &l, &mem);
	ck_assert_uint_eq(l.n, 5);
	ck_assert_uint_eq(l.order[2], 1);
	layout_flow(&g, &l, flow);
	/* x + .99 x = 1000 */
	ck_assert_double_eq_tol(flow[1], 1000 / 1.99, 1e-6);
	ck_assert_double_eq_tol(flow[2], 990 / 1.99, 1e-6);
	/* Out of the main one by a jump, back from the copy by another. */
	layout_score(&g, &l, &s);
	ck_assert_double_eq_tol(s.taken, 10 / 1.99 + 990 * .99 / 1.99, 1e-6);
}
END_TEST

/* A generated function's hot layout with cheap copies. */
static struct layout with_copies(struct cfg *g, uint32_t seed)
{
	struct layout l;

	cfggen(g, seed, 4 * seed, 1000, &mem);
	layout_blocks(g, &parted, &l, &mem);
	l.nhot = l.n;
	tails_copy(g, 1, &l, &mem);
	return l;
}

/* Block 0 jumps to 2, which mostly goes on to 4; a copy of 2 saves the jump to it. */
START_TEST(runs_follow_the_likeliest_successor)
{
	static struct cfg_edge edge[] = {{0, 1, EDGE_NOTTAKEN, .count = 1},
	    {0, 2, EDGE_TAKEN, .count = 99}, {2, 3, EDGE_NOTTAKEN, .count = 40},
	    {2, 4, EDGE_TAKEN, .count = 60}, {4, 5, EDGE_FALL, .count = 60}};
	static const uint64_t count[] = {100, 1, 100, 40, 60, 60};
	static const uint32_t likely[] = {0, 2, 1, 2, 3, 4, 5};
	struct cfg g = {.nblock = 6, .nedge = 5, .edge = edge};
	struct layout l;
	uint32_t b, k;

	g.block = arena_array(&mem, 6, sizeof *g.block);
	cfg_index(&g, &mem);
	for (b = 0; b < 6; b++)
		g.block[b] = (struct cfg_block){.insns = 2,
		    .bytes = b == 5 ? 60 : 6,
		    .count = count[b],
		    .flags = b == 2 || b == 4 ? 0 : BLK_EXIT};
	layout_identity(&g, &l, &mem);
	tails_copy(&g, .1, &l, &mem);
	ck_assert_uint_eq(l.n, 7);
	for (k = 0; k < 7; k++)
		ck_assert_uint_eq(l.order[k], likely[k]);
}
END_TEST

/* What copies leave is ordered again, and never for the worse. */
START_TEST(order_follows_the_copies)
{
	struct layout_score s, ordered;
	double before = 0, after = 0;
	struct layout l, copied;
	uint32_t seed, b, k;
	uint8_t *seen;
	struct cfg g;

	for (seed = 1; seed <= 60; seed++) {
		copied = l = with_copies(&g, seed);
		layout_score(&g, &l, &s);
		tails_order(&g, &l, &mem);
		ck_assert_uint_eq(l.n, copied.n);
		seen = arena_array(&mem, 2 * (size_t)g.nblock, 1);
		for (k = 0; k < l.n; k++) {
			seen[copied.order[k]]++;
			seen[g.nblock + l.order[k]]++;
		}
		for (b = 0; b < g.nblock; b++)
			ck_assert_uint_eq(seen[b], seen[g.nblock + b]);
		ck_assert_uint_eq(l.order[0], 0);
		layout_score(&g, &l, &ordered);
		ck_assert_double_le(ordered.taken, s.taken);
		before += s.taken;
		after += ordered.taken;
	}
	ck_assert_double_lt(after, before);
}
END_TEST

START_TEST(the_main_place_is_not_fallen_into)
{
	struct cfg g = diamond();
	uint32_t order[] = {0, 2, 3, 1, 3}, place[4];
	struct layout l = {.order = order, .n = 5, .nhot = 5};

	layout_primary(&g, &l, place);
	ck_assert_uint_eq(place[3], 2);
	l.order = (uint32_t[]){0, 2, 3, 3, 1};
	layout_primary(&g, &l, place);
	ck_assert_uint_eq(place[3], 3);
	l.nhot = 2;
	layout_primary(&g, &l, place);
	ck_assert_uint_eq(place[3], 2);
}
END_TEST

/* A loop's copy stays behind its main place, even where another copy comes first. */
START_TEST(a_copy_that_is_told_is_no_main_place)
{
	struct cfg g = diamond();
	uint32_t order[] = {0, 1, 3, 2, 3}, place[4];
	uint8_t copy[] = {0, 0, 1, 0, 0};
	struct layout l = {.order = order, .n = 5, .nhot = 5};

	layout_primary(&g, &l, place);
	ck_assert_uint_eq(place[3], 2);
	l.copy = copy;
	layout_primary(&g, &l, place);
	ck_assert_uint_eq(place[3], 4);
}
END_TEST

START_TEST(hot_lines_by_hand)
{
	/* Lines 0 (two blocks), 1, and one block over lines 2 and 3. */
	static const struct layout_block b[] = {
	    {0, 10, 32}, {32, 20, 32}, {64, 0, 64}, {160, 40, 64}};

	ck_assert_uint_eq(layout_hot_lines(b, 4, 0), 0);
	ck_assert_uint_eq(layout_hot_lines(b, 4, 30. / 70), 1);
	ck_assert_uint_eq(layout_hot_lines(b, 4, 50. / 70), 2);
	ck_assert_uint_eq(layout_hot_lines(b, 4, 1), 3);
	ck_assert_uint_eq(layout_hot_lines(b, 0, 1), 0);
}
END_TEST

UNIT_MAIN("layout", 60, setup, teardown, score_of_a_diamond, score_of_a_backward_and_a_far_jump,
    indirect_jumps_never_fall_through, the_likely_way_falls_through, a_loop_is_rotated,
    what_is_never_executed_goes, rare_exits_come_last, an_entry_may_be_all_that_is_hot,
    a_split_that_frees_nothing_is_not_made, without_counts_nothing_moves, one_block,
    layouts_are_sound_and_better, nearly_the_best_order, random_layouts_differ_and_are_sound,
    dispatch_is_copied_into_its_handlers, a_small_loop_is_copied_behind_itself,
    runs_follow_the_likeliest_successor, order_follows_the_copies,
    the_main_place_is_not_fallen_into, a_copy_that_is_told_is_no_main_place, hot_lines_by_hand)
