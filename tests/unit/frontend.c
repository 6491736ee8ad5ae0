#include "editor/cost/frontend.h"
#include "common/random.h"
#include "tests/unit/unit.h"

#include <math.h>

static struct fe_program p;
static struct fe_walk w;
static struct fe_layout l;
static uint32_t primary[2048];

static void setup(void)
{
	p = (struct fe_program){{0}};
	w = (struct fe_walk){{0}};
	l = (struct fe_layout){{0}, primary};
}

static void teardown(void)
{
	fe_free(&p);
	vec_free(&w.step);
	vec_free(&l.slot);
}

/* The next block: b of the function that begins at `entry`. */
static void block(uint32_t entry, double count, uint32_t insns, uint32_t flags)
{
	vec_push(&p.block,
	    (struct fe_block){count, insns, flags, entry, (uint32_t)p.edge.n, (uint32_t)p.call.n});
}

/* Of the last block. */
static void edge(uint32_t dst, uint32_t kind, double count)
{
	vec_push(&p.edge, (struct fe_edge){dst, kind, count});
}

static void call(uint32_t entry)
{
	vec_push(&p.call, (struct fe_call){entry});
}

static void end(void)
{
	block(0, 0, 0, 0);
}

static void slot(uint32_t b, uint64_t addr, uint32_t bytes, bool falls)
{
	primary[b] = (uint32_t)l.slot.n;
	vec_push(&l.slot, (struct fe_slot){addr, bytes, b, falls, p.block.v[b].count});
}

/* Blocks of 10 bytes in this order, in one fragment. */
static void place_all(const uint32_t *order, uint32_t n)
{
	uint32_t k;

	vec_free(&l.slot);
	for (k = 0; k < n; k++)
		slot(order[k], 10 * k, 10, k + 1 < n);
}

static struct fe_cost run(void)
{
	struct fe_cost c;

	vec_free(&w.step);
	fe_walk(&p, &w);
	fe_run(&p, &w, &l, &c);
	return c;
}

static struct fe_cost run_order(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	place_all((uint32_t[]){a, b, c, d}, 4);
	return run();
}

/* 0 branches to 2 (taken, 90) or falls to 1 (10); 1 jumps to 3, 2 falls to 3. */
static void diamond(void)
{
	block(0, 100, 5, 0);
	edge(1, EDGE_NOTTAKEN, 10);
	edge(2, EDGE_TAKEN, 90);
	block(0, 10, 5, 0);
	edge(3, EDGE_JUMP, 10);
	block(0, 90, 5, 0);
	edge(3, EDGE_FALL, 90);
	block(0, 100, 5, BLK_EXIT);
	end();
}

START_TEST(jumps_by_counts)
{
	static const struct {
		uint32_t order[4];
		double taken, insns; /* executions */
	} t[] = {
	    {{0, 1, 2, 3}, 100, 0},
	    {{0, 2, 3, 1}, 20, 0},
	    {{0, 2, 1, 3}, 100, 90 - 10}, /* 2 needs a jump, 1 none */
	    {{0, 3, 2, 1}, 200, 10 + 90}, /* 0 two, 2 one */
	    {{0, 1, 3, 2}, 180, 90 - 10},
	};
	struct fe_cost c;
	size_t i;

	diamond();
	for (i = 0; i < sizeof t / sizeof *t; i++) {
		c = run_order(t[i].order[0], t[i].order[1], t[i].order[2], t[i].order[3]);
		ck_assert_double_eq_tol(c.taken, t[i].taken / 1500, 1e-12);
		ck_assert_double_eq_tol(c.insns, 1 + t[i].insns / 1500, 1e-12);
	}
}
END_TEST

START_TEST(empty_blocks_take_no_room)
{
	diamond();
	place_all((uint32_t[]){0, 2, 1, 3}, 4);
	ck_assert_double_eq_tol(run().taken, (10 + 90) / 1500., 1e-12);
	l.slot.v[2].bytes = 0;
	ck_assert_double_eq_tol(run().taken, 10 / 1500., 1e-12);
}
END_TEST

START_TEST(fewer_jumps_cost_less)
{
	struct fe_cost before, after;

	diamond();
	before = run_order(0, 1, 2, 3);
	after = run_order(0, 2, 3, 1);
	ck_assert_double_gt(fe_gain(&before, &after), 0);
	ck_assert_double_lt(fe_gain(&after, &before), 0);
	ck_assert_double_eq(fe_gain(&before, &before), 0);
}
END_TEST

/* A copy of 3 behind 1: that way jumps no more, and 3's own place has the rest. */
START_TEST(copies)
{
	struct fe_cost c;

	diamond();
	slot(0, 0, 10, true);
	slot(2, 10, 10, true);
	slot(3, 20, 10, false);
	slot(1, 30, 10, true);
	slot(3, 40, 10, false);
	primary[3] = 2;
	l.slot.v[2].count = 90;
	l.slot.v[4].count = 10;
	c = run();
	ck_assert_double_eq_tol(c.taken, 10 / 1500., 1e-12);
	ck_assert_double_eq_tol(c.insns, 1 - 10 / 1500., 1e-12);
	ck_assert_double_eq_tol(c.lines, 100 / 1500., 1e-12); /* at the entry */
	l.slot.v[4].addr = 640;                               /* on a line of its own */
	ck_assert_double_eq_tol(run().lines, (100 + 10) / 1500., 1e-12);
}
END_TEST

/* n blocks of 4 instructions in a ring, `apart` bytes from one another. */
static struct fe_cost ring(uint32_t n, uint64_t apart)
{
	uint32_t b;

	fe_free(&p);
	vec_free(&l.slot);
	for (b = 0; b < n; b++) {
		block(0, 1000, 4, 0);
		edge((b + 1) % n, EDGE_JUMP, 1000);
		slot(b, (1 << 20) + b * apart, 16, false);
	}
	end();
	return run();
}

START_TEST(lines_and_misses)
{
	struct fe_cost c = ring(1, 64);

	ck_assert_double_eq(c.taken, 0.25);
	ck_assert_double_eq(c.lines, 0);
	ck_assert_double_eq(c.l1i, 0);
	c = ring(512, 64); /* just fits */
	ck_assert_double_eq(c.lines, 0.25);
	ck_assert_double_eq(c.l1i, 0);
	c = ring(600, 64); /* 24 of 64 sets have 10 lines for 8 ways, the others 9 */
	ck_assert_double_eq_tol(c.l1i, 0.25, 1e-12);
	ck_assert_double_eq(c.itlb, 0);
	c = ring(600, 16); /* four to a line */
	ck_assert_double_eq_tol(c.lines, 0.0625, 1e-12);
	ck_assert_double_eq(c.l1i, 0);
	c = ring(64, 4096 + 64);
	ck_assert_double_eq(c.itlb, 0);
	c = ring(80, 4096 + 64);
	ck_assert_double_eq_tol(c.itlb, 0.25, 1e-12);
	ck_assert_double_eq(c.l1i, 0);
}
END_TEST

static double share_of(uint32_t step)
{
	size_t i, n = 0;

	for (i = 0; i < w.step.n; i++)
		n += w.step.v[i] == step;
	return (double)n / (double)w.step.n;
}

/* Whether each step can follow the one before, but for a few fresh starts. */
START_TEST(walks_by_the_counts)
{
	/* main: 0 calls f in a loop, ten times, then calls it again in 1. */
	block(0, 100, 1, 0);
	call(2);
	edge(0, EDGE_TAKEN, 90);
	edge(1, EDGE_NOTTAKEN, 10);
	block(0, 10, 1, BLK_EXIT);
	call(2);
	block(2, 110, 1, 0);
	edge(3, EDGE_TAKEN, 22);
	edge(4, EDGE_NOTTAKEN, 88);
	block(2, 22, 1, BLK_EXIT);
	block(2, 88, 1, BLK_EXIT);
	end();
	fe_walk(&p, &w);
	ck_assert_uint_eq(w.step.n, FE_STEPS);
	/* 330 steps forward and 110 back. */
	ck_assert_double_eq_tol(share_of(0), 100 / 440., 0.002);
	ck_assert_double_eq_tol(share_of(1), 10 / 440., 0.002);
	ck_assert_double_eq_tol(share_of(2), 110 / 440., 0.002);
	ck_assert_double_eq_tol(share_of(3), 22 / 440., 0.002);
	ck_assert_double_eq_tol(share_of(4), 88 / 440., 0.002);
	ck_assert_double_eq_tol(share_of(0 | FE_RETURN), 100 / 440., 0.002);
	ck_assert_double_eq_tol(share_of(1 | FE_RETURN), 10 / 440., 0.002);
}
END_TEST

START_TEST(walks_through_pointers)
{
	/* 0 calls through a pointer each time; 2 and 3 have no other callers. */
	block(0, 100, 1, 0);
	call(FE_NONE);
	edge(0, EDGE_TAKEN, 99);
	edge(1, EDGE_NOTTAKEN, 1);
	block(0, 1, 1, BLK_EXIT);
	block(2, 75, 1, BLK_EXIT);
	block(3, 25, 1, BLK_EXIT);
	end();
	fe_walk(&p, &w);
	ck_assert_double_eq_tol(share_of(2), 75 / 301., 0.01);
	ck_assert_double_eq_tol(share_of(3), 25 / 301., 0.01);
	ck_assert_double_eq_tol(share_of(0 | FE_RETURN), 100 / 301., 0.01);
}
END_TEST

START_TEST(conditional_tail_calls_are_not_always_made)
{
	block(0, 100, 1, BLK_EXIT);
	call(2);
	edge(1, EDGE_FALL, 70);
	block(0, 70, 1, BLK_EXIT);
	block(2, 30, 1, BLK_EXIT);
	end();
	fe_walk(&p, &w);
	ck_assert_double_eq_tol(share_of(2) / share_of(0), 0.3, 0.01);
}
END_TEST

START_TEST(recursion_is_bounded)
{
	block(0, 100, 1, 0);
	edge(1, EDGE_TAKEN, 99);
	edge(2, EDGE_NOTTAKEN, 1);
	block(0, 99, 1, 0);
	call(0);
	edge(2, EDGE_FALL, 99);
	block(0, 100, 1, BLK_EXIT);
	end();
	fe_walk(&p, &w);
	ck_assert_uint_eq(w.step.n, FE_STEPS);
	ck_assert_double_eq_tol(share_of(2) / share_of(0), 1, 0.05);
}
END_TEST

START_TEST(nothing_executed)
{
	struct fe_cost c;

	diamond();
	p.block.v[0].count = p.block.v[1].count = p.block.v[2].count = p.block.v[3].count = 0;
	c = run_order(0, 1, 2, 3);
	ck_assert_uint_eq(w.step.n, 0);
	ck_assert_double_eq(c.cycles, 0);
	ck_assert_double_eq(fe_gain(&c, &c), 0);
	fe_free(&p);
	vec_free(&l.slot);
	end();
	c = run();
	ck_assert_double_eq(c.cycles, 0);
}
END_TEST

/* Counts that contradict each other, edges and calls anywhere. */
START_TEST(takes_anything)
{
	uint64_t seed = (uint64_t)_i;
	uint32_t b, n = 40, entry = 0, last = 0;
	struct fe_cost c;
	size_t i;

	for (b = 0; b < n; b++) {
		entry = b % 7 ? entry : b;
		block(entry, (double)(random_next(&seed) % 3 * (random_next(&seed) >> 20)),
		    random_next(&seed) % 9, random_next(&seed) % 16);
		for (i = random_next(&seed) % 3; i--;)
			edge((uint32_t)(random_next(&seed) % n), random_next(&seed) % 5,
			    (double)(random_next(&seed) % 2 * (random_next(&seed) >> 20)));
		if (random_next(&seed) % 3 == 0)
			call(random_next(&seed) % 4 ? (uint32_t)(random_next(&seed) % n / 7 * 7)
						    : FE_NONE);
		slot(b, random_next(&seed) % (1 << 22), random_next(&seed) % 90,
		    b + 1 < n && random_next(&seed) % 9);
	}
	end();
	c = run();
	for (i = 0; i < w.step.n; i++)
		last = (w.step.v[i] & ~FE_RETURN) > last ? w.step.v[i] & ~FE_RETURN : last;
	ck_assert_uint_lt(last, n);
	ck_assert(isfinite(c.cycles) && c.cycles >= 0);
}
END_TEST

UNIT_MAIN("frontend", 60, setup, teardown, jumps_by_counts, empty_blocks_take_no_room,
    fewer_jumps_cost_less, copies, lines_and_misses, walks_by_the_counts, walks_through_pointers,
    conditional_tail_calls_are_not_always_made, recursion_is_bounded, nothing_executed,
    UNIT_LOOP(takes_anything, 20))
