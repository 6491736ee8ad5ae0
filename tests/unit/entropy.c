#include "editor/layout/hops.h"
#include "tests/unit/unit.h"

enum { JUMPS = 3, BLOCKS = 4 };

/* Blocks 0, 1 and 2 go to 3 by a jump, or to the next one. */
static struct cfg jumps(
    struct cfg_block *block, struct cfg_edge *edge, uint64_t taken, uint64_t straight)
{
	uint32_t b;

	for (b = 0; b < BLOCKS; b++)
		block[b] = (struct cfg_block){.bytes = 8, .insns = 2, .count = taken + straight};
	for (b = 0; b < JUMPS; b++) {
		edge[2 * b] =
		    (struct cfg_edge){.src = b, .dst = 3, .kind = EDGE_TAKEN, .count = taken};
		edge[2 * b + 1] = (struct cfg_edge){
		    .src = b, .dst = b + 1, .kind = EDGE_NOTTAKEN, .count = straight};
	}
	return (struct cfg){.nblock = BLOCKS, .block = block, .nedge = 2 * JUMPS, .edge = edge};
}

START_TEST(hardness_is_entropy)
{
	static const struct {
		uint64_t taken, straight;
		double bits; /* of one jump */
	} v[] = {{1000, 1000, 2000}, {1000, 3000, 4000 * .811278124459}, {1000, 0, 0}, {0, 7, 0},
	    {0, 0, 0}};
	struct cfg_block block[BLOCKS];
	struct cfg_edge edge[2 * JUMPS];
	double bits[BLOCKS];
	struct cfg g;
	size_t i;

	for (i = 0; i < sizeof v / sizeof *v; i++) {
		g = jumps(block, edge, v[i].taken, v[i].straight);
		entropy_blocks(&g, bits);
		ck_assert_double_eq_tol(bits[0], v[i].bits, 1e-6);
		ck_assert_double_eq_tol(bits[2], v[i].bits, 1e-6);
		ck_assert_double_eq(bits[3], 0);
	}
}
END_TEST

UNIT_MAIN("entropy", 0, NULL, NULL, hardness_is_entropy)
