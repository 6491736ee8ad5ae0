/* Draws of profiles: as many samples and outcomes as counts let expect, and no others. */
#include "editor-driver/profile/resample.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

enum { DRAWS = 4000 };

static struct cfg_block block[3];
static struct cfg_edge edge[2];
static uint32_t succ[] = {0, 2, 2, 2};
static struct cfg g = {block, edge, 3, 2, succ, NULL, NULL};
static uint64_t state;

/* Block 0 goes to 1 three times in four, else to 2. */
static void setup(void)
{
	memset(block, 0, sizeof block);
	memset(edge, 0, sizeof edge);
	block[0] = (struct cfg_block){.insns = 4, .count = 1000};
	block[1] = (struct cfg_block){.insns = 2, .count = 750};
	block[2] = (struct cfg_block){.insns = 0, .count = 250};
	edge[0] = (struct cfg_edge){.src = 0, .dst = 1, .count = 750, .pred = 7};
	edge[1] = (struct cfg_edge){.src = 0, .dst = 2, .count = 250, .pred = 7};
	state = 1;
}

struct moments {
	double sum, squares;
};

static void add(struct moments *m, uint64_t v)
{
	double x = (double)v / SAMPLE_ONE;

	m->sum += x;
	m->squares += x * x;
}

/* Of Poisson draws the variance is the mean. Five standard errors. */
static void check_poisson(const struct moments *m, double mean)
{
	double found = m->sum / DRAWS, variance = m->squares / DRAWS - found * found;

	ck_assert_double_eq_tol(found, mean, 5 * sqrt(mean / DRAWS));
	ck_assert_double_eq_tol(variance, mean, 5 * sqrt((2 * mean * mean + mean) / DRAWS));
}

static void check_rates(double samples, double outcomes)
{
	struct resample_rates r = {samples, outcomes};
	struct moments of[3] = {{0}}, out[2] = {{0}};
	int i, k;

	for (i = 0; i < DRAWS; i++) {
		resample(&g, &r, &state);
		for (k = 0; k < 3; k++)
			add(&of[k], block[k].samples);
		for (k = 0; k < 2; k++) {
			add(&out[k], edge[k].outcomes);
			ck_assert_uint_eq(edge[k].pred, 0);
		}
	}
	check_poisson(&of[0], 4000 * samples);
	check_poisson(&of[1], 1500 * samples);
	check_poisson(&of[2], 250 * samples);
	check_poisson(&out[0], 3000 * samples * outcomes);
	check_poisson(&out[1], 1000 * samples * outcomes);
}

START_TEST(few_and_many)
{
	check_rates(0.0005, 0.8);
	check_rates(0.005, 1.5);
	check_rates(0.5, 0.1);
}
END_TEST

START_TEST(nothing_executed_nothing_drawn)
{
	struct resample_rates r = {0.1, 1};

	memset(block, 0, sizeof block);
	resample(&g, &r, &state);
	ck_assert_uint_eq(block[0].samples + block[1].samples + block[2].samples, 0);
	ck_assert_uint_eq(edge[0].outcomes + edge[1].outcomes, 0);
}
END_TEST

START_TEST(the_same_for_a_state)
{
	struct resample_rates r = {0.01, 1};
	uint64_t first, again = state;

	resample(&g, &r, &state);
	first = block[0].samples;
	resample(&g, &r, &again);
	ck_assert_uint_eq(block[0].samples, first);
	ck_assert_uint_eq(state, again);
}
END_TEST

UNIT_MAIN(
    "resample", 0, setup, NULL, few_and_many, nothing_executed_nothing_drawn, the_same_for_a_state)
