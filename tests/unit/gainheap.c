#include "common/random.h"
#include "editor/layout/gainheap.h"
#include "tests/unit/unit.h"

#include <stdbool.h>

enum { IDS = 100, STEPS = 5000 };

struct entry {
	double gain;
	bool in;
};

/* The first by the order that the heap promises; IDS: there is none. */
static uint32_t first(const struct entry *e)
{
	uint32_t i, best = IDS;

	for (i = 0; i < IDS; i++)
		if (e[i].in && (best == IDS || e[i].gain > e[best].gain))
			best = i;
	return best;
}

START_TEST(what_gains_most_is_first_whatever_happened)
{
	struct entry e[IDS] = {{0}};
	struct gainheap h = {0};
	struct arena mem = {0};
	uint64_t seed = 1;
	uint32_t k, id, want;

	gainheap_begin(&h, IDS, &mem);
	for (k = 0; k < STEPS; k++) {
		id = (uint32_t)(random_next(&seed) % IDS);
		e[id].in = random_next(&seed) % 3;
		e[id].gain = (double)(random_next(&seed) % 20);
		if (e[id].in)
			gainheap_set(&h, id, e[id].gain);
		else
			gainheap_drop(&h, id);
		want = first(e);
		ck_assert_uint_eq(h.n ? h.v[0].id : IDS, want);
		ck_assert(want == IDS || h.v[0].gain == e[want].gain);
	}
	while ((id = first(e)) < IDS) {
		ck_assert_uint_eq(h.v[0].id, id);
		gainheap_drop(&h, id);
		e[id].in = false;
	}
	ck_assert_uint_eq(h.n, 0);
	arena_free(&mem);
}
END_TEST

UNIT_MAIN("gainheap", 0, NULL, NULL, what_gains_most_is_first_whatever_happened)
