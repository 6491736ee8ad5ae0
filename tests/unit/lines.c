#include "editor/layout/lines.h"
#include "common/random.h"
#include "editor/layout/relax.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <string.h>

static struct arena mem;

static void setup(void)
{
	mem = (struct arena){0};
}

static void teardown(void)
{
	arena_free(&mem);
}

enum {
	BLOCKS = 7,
	RUNS = 3,
	EDGES = 12,
	LINE = 64,
	GAP = 32 /* in front of an entry, in the mean */
};

static const uint32_t RUN[RUNS + 1] = {0, 3, 5, BLOCKS}; /* the first blocks of the runs */
static const uint8_t CHOICE[] = {0, 3, 4, 5, 6};

/* Three loops, each of blocks that fall into each other, with an indirect jump at its
 * end to its own head and to others: no jump's length depends on where what lies. */
struct loops {
	struct cfg_block block[BLOCKS];
	struct cfg_edge edge[EDGES];
	uint32_t order[BLOCKS];
	struct cfg g;
	struct layout l;
};

static void edge(struct loops *c, uint32_t src, uint32_t dst, uint32_t kind, uint64_t count)
{
	c->edge[c->g.nedge++] =
	    (struct cfg_edge){.src = src, .dst = dst, .kind = kind, .count = count};
	c->block[src].count += count;
}

static uint64_t below(uint64_t *seed, uint64_t n)
{
	return random_next(seed) % n;
}

static uint32_t run_of(uint32_t block)
{
	return block >= RUN[2] ? 2 : block >= RUN[1];
}

static void make(struct loops *c, uint64_t seed)
{
	static const uint32_t head[RUNS] = {1, 3, 5};
	uint32_t i, k;

	*c = (struct loops){.g = {.nblock = BLOCKS}};
	for (i = 0; i < BLOCKS; i++) { /* by source */
		if (i + 1 != RUN[run_of(i) + 1])
			edge(c, i, i + 1, EDGE_FALL, 1 + below(&seed, i ? 1000 : 10));
		else
			for (k = 0; k < 2; k++)
				edge(c, i, head[(run_of(i) + k) % RUNS], EDGE_INDIRECT,
				    1 + below(&seed, k ? 100 : 1000));
	}
	for (i = 0; i < BLOCKS; i++) {
		c->block[i].bytes = 1 + (uint32_t)below(&seed, 40);
		c->order[i] = i;
	}
	c->g.block = c->block;
	c->g.edge = c->edge;
	cfg_index(&c->g, &mem);
	c->l = (struct layout){.order = c->order, .n = BLOCKS, .nhot = BLOCKS};
}

/* Changes of the line within runs, and the padding's price, counted one by one. */
static double cost(const struct loops *c, double price, uint32_t lead, const uint8_t *align)
{
	uint64_t addr[BLOCKS], at = lead, last;
	double sum = price * (GAP + lead);
	const struct cfg_edge *e;
	uint32_t i;

	for (i = 0; i < BLOCKS; i++) {
		if (i && i == RUN[run_of(i)]) {
			sum += price * relax_padding(at, align[i]);
			at += relax_padding(at, align[i]);
		}
		addr[i] = at;
		at += c->block[i].bytes;
		sum += (double)c->block[i].count * (double)((at - 1) / LINE - addr[i] / LINE);
	}
	for (e = c->edge; e < c->edge + c->g.nedge; e++) {
		last = addr[e->src] + c->block[e->src].bytes - 1;
		if (run_of(e->src) == run_of(e->dst) && last / LINE != addr[e->dst] / LINE)
			sum += (double)e->count;
	}
	return sum;
}

/* The least of all ways there are. */
static double least(const struct loops *c, double price)
{
	uint8_t align[BLOCKS] = {0};
	double min = DBL_MAX, is;
	uint32_t lead, i, k;

	for (lead = 0; lead < LINE; lead += 2)
		for (i = 0; i < sizeof CHOICE; i++)
			for (k = 0; k < sizeof CHOICE; k++) {
				align[RUN[1]] = CHOICE[i];
				align[RUN[2]] = CHOICE[k];
				is = cost(c, price, lead, align);
				min = is < min ? is : min;
			}
	return min;
}

START_TEST(finds_the_least_of_all)
{
	struct loops c;
	uint32_t i, placed = 0;
	uint64_t seed;

	for (seed = 1; seed <= 50; seed++) {
		make(&c, seed);
		lines_pad(&c.g, 1, &c.l, &mem);
		if (!c.l.align)
			continue;
		placed++;
		ck_assert_double_eq_tol(
		    cost(&c, 1, c.l.entry_offset, c.l.align), least(&c, 1), 1e-6);
		for (i = 0; i < BLOCKS; i++)
			ck_assert(!c.l.align[i] || i == RUN[1] || i == RUN[2]);
	}
	ck_assert_uint_gt(placed, 25);
}
END_TEST

START_TEST(what_is_dear_stays)
{
	struct loops c;

	make(&c, 1);
	lines_pad(&c.g, 1e6, &c.l, &mem);
	ck_assert_ptr_null(c.l.align);
	ck_assert_uint_eq(c.l.entry_offset, 0);
}
END_TEST

UNIT_MAIN("lines", 0, setup, teardown, finds_the_least_of_all, what_is_dear_stays)
