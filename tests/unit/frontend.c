#include "editor/cost/frontend.h"
#include "common/random.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

enum { MOST = 2048 };

static struct cfg_block blocks[MOST];
static struct cfg_edge edges[MOST];
static uint32_t order[MOST], succ[MOST + 1];
static uint8_t copy[MOST];
static struct fe_slot slots[MOST];
static struct cfg g;
static struct layout l;

static void clear(void)
{
	g = (struct cfg){.block = blocks, .edge = edges, .succ = succ};
	l = (struct layout){.order = order, .copy = copy};
	memset(copy, 0, sizeof copy);
}

/* The next block. */
static void block(double count, uint32_t insns)
{
	blocks[g.nblock++] = (struct cfg_block){.insns = insns, .count = (uint64_t)count};
	succ[g.nblock] = g.nedge;
}

/* Of the last block. */
static void edge(uint32_t dst, uint32_t kind, double count)
{
	edges[g.nedge++] = (struct cfg_edge){g.nblock - 1, dst, kind, (uint64_t)count};
	succ[g.nblock] = g.nedge;
}

static void slot(uint32_t b, uint64_t addr, uint32_t bytes)
{
	slots[l.n] = (struct fe_slot){addr, bytes, (double)blocks[b].count};
	order[l.n++] = b;
	l.nhot = l.n;
}

/* Blocks of 10 bytes in this order, in one fragment. */
static void place_all(const uint32_t *b, uint32_t n)
{
	uint32_t k;

	l.n = 0;
	for (k = 0; k < n; k++)
		slot(b[k], 10 * k, 10);
}

static struct fe_cost run(void)
{
	struct fe_cost c = {0};
	double insns = 0;
	uint32_t b;

	for (b = 0; b < g.nblock; b++)
		insns += (double)blocks[b].count * blocks[b].insns;
	fe_add(&g, &l, slots, &c);
	fe_end(&c, insns);
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
	block(100, 5);
	edge(1, EDGE_NOTTAKEN, 10);
	edge(2, EDGE_TAKEN, 90);
	block(10, 5);
	edge(3, EDGE_JUMP, 10);
	block(90, 5);
	edge(3, EDGE_FALL, 90);
	block(100, 5);
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
	slots[2].bytes = 0;
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
	slot(0, 0, 10);
	slot(2, 10, 10);
	slot(3, 20, 10);
	slot(1, 30, 10);
	slot(3, 40, 10);
	l.nhot = 3;
	copy[4] = 1;
	slots[2].count = 90;
	slots[4].count = 10;
	c = run();
	ck_assert_double_eq_tol(c.taken, 10 / 1500., 1e-12);
	ck_assert_double_eq_tol(c.insns, 1 - 10 / 1500., 1e-12);
	ck_assert_double_eq_tol(c.lines, 100 / 1500., 1e-12); /* at the entry */
	slots[4].addr = 640;                                  /* on a line of its own */
	ck_assert_double_eq_tol(run().lines, (100 + 10) / 1500., 1e-12);
}
END_TEST

/* n blocks of 4 instructions in a ring, `apart` bytes from one another, none after its
 * predecessor. */
static struct fe_cost ring(uint32_t n, uint64_t apart)
{
	uint32_t b;

	clear();
	for (b = 0; b < n; b++) {
		block(1000, 4);
		edge((b + 1) % n, EDGE_JUMP, 1000);
	}
	for (b = n; b--;)
		slot(b, (1 << 20) + b * apart, 16);
	return run();
}

START_TEST(lines_change)
{
	struct fe_cost c = ring(1, 64);

	ck_assert_double_eq(c.taken, 0.25);
	ck_assert_double_eq(c.lines, 0);
	c = ring(512, 64);
	ck_assert_double_eq(c.lines, 0.25);
	c = ring(600, 16); /* four to a line */
	ck_assert_double_eq_tol(c.lines, 0.0625, 1e-12);
}
END_TEST

START_TEST(nothing_executed)
{
	struct fe_cost c;

	diamond();
	blocks[0].count = blocks[1].count = blocks[2].count = blocks[3].count = 0;
	c = run_order(0, 1, 2, 3);
	ck_assert_double_eq(c.cycles, 0);
	ck_assert_double_eq(fe_gain(&c, &c), 0);
	clear();
	c = run();
	ck_assert_double_eq(c.cycles, 0);
}
END_TEST

/* Counts that contradict each other, edges anywhere. */
START_TEST(takes_anything)
{
	uint64_t seed = (uint64_t)_i;
	struct fe_cost c;
	uint32_t b, n = 40;
	size_t i;

	for (b = 0; b < n; b++) {
		block((double)(random_next(&seed) % 3 * (random_next(&seed) >> 20)),
		    random_next(&seed) % 9);
		for (i = random_next(&seed) % 3; i--;)
			edge((uint32_t)(random_next(&seed) % n), random_next(&seed) % 5,
			    (double)(random_next(&seed) % 2 * (random_next(&seed) >> 20)));
		slot(b, random_next(&seed) % (1 << 22), random_next(&seed) % 90);
	}
	l.nhot = (uint32_t)(1 + random_next(&seed) % n);
	c = run();
	ck_assert(isfinite(c.cycles) && c.cycles >= 0);
}
END_TEST

UNIT_MAIN("frontend", 60, clear, NULL, jumps_by_counts, empty_blocks_take_no_room,
    fewer_jumps_cost_less, copies, lines_change, nothing_executed, UNIT_LOOP(takes_anything, 20))
