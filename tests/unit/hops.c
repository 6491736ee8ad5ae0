#include "editor/layout/hops.h"
#include "editor/layout/relax.h"
#include "tests/unit/unit.h"

static const struct layout_cpu CPU = {
    .hop_func_bits = .3, .hop_calls = 1. / 32, .hop_jump_bits = .8};
static struct arena mem;

static void setup(void)
{
	mem = (struct arena){0};
}

static void teardown(void)
{
	arena_free(&mem);
}

enum { BLOCKS = 7, BLOCK_BYTES = 20, JUMP_BYTES = 2, ROUNDS = 1000 };

/*
 * 0 → 1, a loop of two hard jumps: 1 jumps over 2 to 3, and 3 over 4 to 5, `taken` of
 * ROUNDS times each; 5 goes back to 1, and at last to 6.
 */
struct loop {
	struct cfg_block block[BLOCKS];
	struct cfg_edge edge[9];
	uint32_t order[BLOCKS];
	uint8_t copy[BLOCKS];
	struct cfg g;
	struct layout l;
	struct layout_options o;
};

static void make(struct loop *c, uint64_t taken)
{
	const struct cfg_edge edge[] = {{.src = 0, .dst = 1, .kind = EDGE_FALL, .count = 10},
	    {.src = 1, .dst = 2, .kind = EDGE_NOTTAKEN, .count = ROUNDS - taken},
	    {.src = 1, .dst = 3, .kind = EDGE_TAKEN, .count = taken},
	    {.src = 2, .dst = 3, .kind = EDGE_FALL, .count = ROUNDS - taken},
	    {.src = 3, .dst = 4, .kind = EDGE_NOTTAKEN, .count = ROUNDS - taken},
	    {.src = 3, .dst = 5, .kind = EDGE_TAKEN, .count = taken},
	    {.src = 4, .dst = 5, .kind = EDGE_FALL, .count = ROUNDS - taken},
	    {.src = 5, .dst = 1, .kind = EDGE_TAKEN, .count = ROUNDS - 10},
	    {.src = 5, .dst = 6, .kind = EDGE_NOTTAKEN, .count = 10}};
	const uint64_t count[] = {10, ROUNDS, ROUNDS - taken, ROUNDS, ROUNDS - taken, ROUNDS, 10};
	uint32_t b;

	*c = (struct loop){.g = {.nblock = BLOCKS, .nedge = sizeof edge / sizeof *edge}};
	memcpy(c->edge, edge, sizeof edge);
	for (b = 0; b < BLOCKS; b++) {
		c->block[b] = (struct cfg_block){.bytes = BLOCK_BYTES,
		    .jump = b % 2 ? JUMP_BYTES : 0,
		    .insns = 5,
		    .count = count[b]};
		c->order[b] = b;
	}
	c->g.block = c->block;
	c->g.edge = c->edge;
	cfg_index(&c->g, &mem);
	c->l = (struct layout){.order = c->order, .n = BLOCKS, .nhot = BLOCKS};
	c->o = (struct layout_options){.hot = 100, .cpu = &CPU};
}

/* The places that hop, from the first on: "1010000". */
static const char *hops(const struct loop *c)
{
	static char s[BLOCKS + 1];
	uint32_t k;

	for (k = 0; k < c->l.n; k++)
		s[k] = c->l.hop && c->l.hop[k] ? '1' : '0';
	return s;
}

START_TEST(into_hard_jumps_it_hops)
{
	struct loop c;

	make(&c, ROUNDS / 2);
	hops_add(&c.g, &c.o, &c.l, &mem);
	ck_assert_str_eq(hops(&c), "1010000");
	make(&c, ROUNDS / 4 + 1);
	hops_add(&c.g, &c.o, &c.l, &mem);
	ck_assert_str_eq(hops(&c), "1010000");
}
END_TEST

START_TEST(what_is_jumped_to_needs_no_hop)
{
	static const uint32_t order[] = {0, 2, 1, 4, 3, 5, 6};
	struct loop c;

	make(&c, ROUNDS / 2);
	memcpy(c.order, order, sizeof order);
	hops_add(&c.g, &c.o, &c.l, &mem);
	ck_assert_str_eq(hops(&c), "0000000");
}
END_TEST

START_TEST(easy_jumps_stay)
{
	struct loop c;

	make(&c, ROUNDS / 20); /* too few bits in all */
	hops_add(&c.g, &c.o, &c.l, &mem);
	ck_assert_ptr_null(c.l.hop);
	make(&c, ROUNDS / 5); /* in all enough, but not in one */
	hops_add(&c.g, &c.o, &c.l, &mem);
	ck_assert_ptr_nonnull(c.l.hop);
	ck_assert_str_eq(hops(&c), "0000000");
}
END_TEST

START_TEST(where_much_is_called_none_hops)
{
	struct loop c;

	make(&c, ROUNDS / 2);
	c.o.calls = 120;
	hops_add(&c.g, &c.o, &c.l, &mem);
	ck_assert_str_eq(hops(&c), "1010000");
	c.l.hop = NULL;
	c.o.calls = 130; /* of 4,020 blocks */
	hops_add(&c.g, &c.o, &c.l, &mem);
	ck_assert_ptr_null(c.l.hop);
}
END_TEST

START_TEST(what_is_not_hot_stays)
{
	struct loop c;

	make(&c, ROUNDS / 2);
	c.o.hot = ROUNDS + 1;
	hops_add(&c.g, &c.o, &c.l, &mem);
	ck_assert_str_eq(hops(&c), "0000000");
	c.o.hot = 0;
	c.l.nhot = 3; /* 3 lies in the cold part, nothing falls there */
	hops_add(&c.g, &c.o, &c.l, &mem);
	ck_assert_str_eq(hops(&c), "1000000");
}
END_TEST

START_TEST(copies_are_fallen_into)
{
	struct loop c;

	make(&c, ROUNDS / 2);
	c.copy[3] = 1;
	c.l.copy = c.copy;
	hops_add(&c.g, &c.o, &c.l, &mem);
	ck_assert_str_eq(hops(&c), "1000000");
}
END_TEST

/* It is a jump for all who ask where control goes, and it has its bytes. */
START_TEST(a_hop_is_a_jump)
{
	struct layout_score before, after;
	struct relaxed at;
	struct loop c;

	make(&c, ROUNDS / 2);
	layout_score(&c.g, &c.l, &before);
	hops_add(&c.g, &c.o, &c.l, &mem);
	layout_score(&c.g, &c.l, &after);
	ck_assert_double_eq(after.taken, before.taken + 10 + ROUNDS / 2);
	ck_assert_double_lt(after.exttsp, before.exttsp);
	ck_assert(!layout_runs_on(&c.l, 0));
	ck_assert(layout_runs_on(&c.l, 1));
	relax_slots(&c.g, &c.l, &at, &mem);
	ck_assert_uint_eq(at.addr[1], BLOCK_BYTES + JUMP_BYTES);
	ck_assert_uint_eq(at.addr[2] - at.addr[1], BLOCK_BYTES);
	ck_assert_uint_eq(at.addr[3] - at.addr[2], BLOCK_BYTES + JUMP_BYTES);
}
END_TEST

UNIT_MAIN("hops", 0, setup, teardown, into_hard_jumps_it_hops, what_is_jumped_to_needs_no_hop,
    easy_jumps_stay, where_much_is_called_none_hops, what_is_not_hot_stays, copies_are_fallen_into,
    a_hop_is_a_jump)
