#include "editor/layout/spread.h"
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

enum { LOOP = 8, BLOCKS = 2 * LOOP };

/* Blocks 2k each jump on an even chance over 2k + 1 to 2k + 2, the last one leaves.
 * Laid out with all of 2k + 1 behind them: nothing falls in there. */
struct chain {
	struct cfg_block block[BLOCKS];
	struct cfg_edge edge[3 * LOOP];
	uint32_t order[BLOCKS];
	struct cfg g;
	struct layout l;
};

static void edge(struct chain *c, uint32_t src, uint32_t dst, uint32_t kind, uint64_t count)
{
	c->edge[c->g.nedge++] =
	    (struct cfg_edge){.src = src, .dst = dst, .kind = kind, .count = count};
}

/* Each even block and what it has in front ends on a multiple of 64. */
static struct chain chain(uint64_t taken, uint64_t not_taken)
{
	struct chain c = {.g = {.nblock = BLOCKS}};
	uint32_t k;

	for (k = 0; k < LOOP; k++) {
		c.block[2 * k] = (struct cfg_block){
		    .bytes = 27, .jump = 2, .insns = 5, .count = taken + not_taken};
		c.block[2 * k + 1] =
		    (struct cfg_block){.bytes = 35, .jump = 2, .insns = 9, .count = taken};
		if (k + 1 == LOOP)
			break;
		edge(&c, 2 * k, 2 * k + 1, EDGE_TAKEN, taken);
		edge(&c, 2 * k, 2 * k + 2, EDGE_NOTTAKEN, not_taken);
		edge(&c, 2 * k + 1, 2 * k + 2, EDGE_JUMP, taken);
	}
	for (k = 0; k < BLOCKS; k++)
		c.order[k] = k;
	return c;
}

static void aim(struct chain *c)
{
	c->g.block = c->block;
	c->g.edge = c->edge;
	cfg_index(&c->g, &mem);
	c->l = (struct layout){.order = c->order, .n = BLOCKS, .nhot = BLOCKS};
}

/* Conditional jumps that end in the upper half of their line. */
static uint32_t upper(const struct chain *c)
{
	struct relaxed r;
	uint32_t k, n = 0;

	relax_slots(&c->g, &c->l, &r, &mem);
	for (k = 0; k < BLOCKS; k++)
		n += r.jump[k] != RELAX_NONE && r.jump[k] >> 5 & 1;
	return n;
}

/* In pairs with what nobody falls into: 2k + 1 behind a jump away. */
static void apart(struct chain *c)
{
	static const uint32_t order[] = {0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 1, 14, 15};

	memcpy(c->order, order, sizeof order);
}

START_TEST(hard_jumps_come_to_lie_on_both_sides)
{
	struct chain c = chain(1000, 1000);
	uint32_t before;

	aim(&c);
	apart(&c);
	before = upper(&c);
	ck_assert(before <= 1 || before >= LOOP - 2);
	ck_assert(spread_jumps(&c.g, 1, &c.l, &mem));
	ck_assert_uint_ge(upper(&c), 2);
	ck_assert_uint_le(upper(&c), LOOP - 3);
}
END_TEST

START_TEST(what_is_easy_or_dear_stays)
{
	struct chain c = chain(1000, 0);

	aim(&c);
	apart(&c);
	ck_assert(!spread_jumps(&c.g, 1, &c.l, &mem));
	ck_assert_ptr_null(c.l.align);
	c = chain(1000, 1000);
	aim(&c);
	apart(&c);
	ck_assert(!spread_jumps(&c.g, 1e6, &c.l, &mem));
	ck_assert_ptr_null(c.l.align);
}
END_TEST

START_TEST(what_is_falling_in_gets_no_padding)
{
	struct chain c = chain(1000, 1000);
	uint32_t k;

	aim(&c);
	spread_jumps(&c.g, 0, &c.l, &mem);
	for (k = 0; c.l.align && k < BLOCKS; k++)
		ck_assert_uint_eq(c.l.align[k], 0);
}
END_TEST

UNIT_MAIN("spread", 0, setup, teardown, hard_jumps_come_to_lie_on_both_sides,
    what_is_easy_or_dear_stays, what_is_falling_in_gets_no_padding)
