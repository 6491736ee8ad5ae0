#include "editor/infer/infer.h"
#include "editor/infer/flow.h"
#include "tests/cfggen.h"
#include "tests/unit/unit.h"

enum { S = SAMPLE_ONE };

static struct arena mem;

static void setup(void)
{
	mem = (struct arena){0};
}

static void teardown(void)
{
	arena_free(&mem);
}

/* ---- a graph from a string: "01t 02n 13j" = src, dst, kind ---- */

static struct cfg graph(uint32_t nblock, const char *edges)
{
	struct cfg g = {.nblock = nblock};
	const char *p;
	uint32_t b;

	g.block = arena_array(&mem, nblock, sizeof *g.block);
	g.edge = arena_array(&mem, strlen(edges) / 3 + 1, sizeof *g.edge);
	for (p = edges; *p; p += p[3] ? 4 : 3)
		g.edge[g.nedge++] =
		    (struct cfg_edge){(uint32_t)(p[0] - '0'), (uint32_t)(p[1] - '0'),
			p[2] == 'f'   ? EDGE_FALL
			: p[2] == 'j' ? EDGE_JUMP
			: p[2] == 't' ? EDGE_TAKEN
			: p[2] == 'n' ? EDGE_NOTTAKEN
				      : EDGE_INDIRECT,
			0};
	for (b = 0; b < nblock; b++)
		g.block[b].insns = g.block[b].bytes = 1;
	cfg_index(&g, &mem);
	return g;
}

static uint64_t edge(const struct cfg *g, uint32_t src, uint32_t dst)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < g->nedge; i++)
		if (g->edge[i].src == src && g->edge[i].dst == dst)
			sum += g->edge[i].count;
	return sum;
}

/* Kirchhoff's law, exactly. */
static void check_flow(const struct cfg *g)
{
	uint64_t *in = arena_array(&mem, g->nblock, sizeof *in);
	uint64_t *out = arena_array(&mem, g->nblock, sizeof *out);
	struct reach r;
	uint32_t b, i;

	reach_find(&r, g, &mem);
	for (i = 0; i < g->nedge; i++) {
		out[g->edge[i].src] += g->edge[i].count;
		in[g->edge[i].dst] += g->edge[i].count;
	}
	for (b = 0; b < g->nblock; b++) {
		if (r.entry[b])
			ck_assert_uint_le(in[b], g->block[b].count);
		else
			ck_assert_uint_eq(in[b], g->block[b].count);
		if (r.exit[b])
			ck_assert_uint_le(out[b], g->block[b].count);
		else
			ck_assert_uint_eq(out[b], g->block[b].count);
	}
}

static void near(uint64_t count, double samples, double within)
{
	ck_assert_double_ge((double)count, samples * COUNT_ONE * (1 - within));
	ck_assert_double_le((double)count, samples * COUNT_ONE * (1 + within));
}

START_TEST(no_samples_no_counts)
{
	struct cfg g = graph(4, "01t 02n 13j 23f");

	g.block[3].flags = BLK_EXIT;
	g.block[2].count = g.edge[1].count = 7;
	infer(&g, INFER_SAMPLES, &mem);
	ck_assert_uint_eq(g.block[2].count, 0);
	ck_assert_uint_eq(g.edge[1].count, 0);
}
END_TEST

START_TEST(no_blocks)
{
	struct cfg g = {0};

	cfg_index(&g, &mem);
	infer(&g, INFER_SAMPLES, &mem);
	ck_assert_uint_eq(g.nblock, 0);
}
END_TEST

START_TEST(diamond_divides_by_its_arms)
{
	struct cfg g = graph(4, "01n 02t 13j 23f");

	g.block[0].samples = 100 * S;
	g.block[1].samples = 90 * S;
	g.block[2].samples = 10 * S;
	g.block[3].samples = 100 * S;
	g.block[3].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	near(g.block[0].count, 100, 0.1);
	near(edge(&g, 0, 1), 90, 0.1);
	near(edge(&g, 0, 2), 10, 0.15);
}
END_TEST

START_TEST(counts_are_samples_by_instructions)
{
	struct cfg g = graph(2, "01f");

	g.block[0].samples = 20 * S;
	g.block[0].insns = 2;
	g.block[1].samples = 100 * S;
	g.block[1].insns = 10;
	g.block[1].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	near(g.block[0].count, 10, 0.01);
	near(edge(&g, 0, 1), 10, 0.01);
}
END_TEST

START_TEST(loop_flows_back)
{
	/* 0 → 1 ⇄ 1, 1 → 2 */
	struct cfg g = graph(3, "01f 11t 12n");

	g.block[0].samples = 10 * S;
	g.block[1].samples = 1000 * S;
	g.block[2].samples = 10 * S;
	g.block[2].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	near(g.block[1].count, 1000, 0.02);
	near(edge(&g, 1, 1), 990, 0.02);
	near(edge(&g, 1, 2), 10, 0.03);
}
END_TEST

/* The test before the loop and the one at its end lead to the same two blocks:
 * the block counts allow 0…10 for 0→1, and the even answer is 10 · 1000/1010. */
START_TEST(a_copied_test_is_divided_evenly)
{
	struct cfg g = graph(3, "01n 02t 11t 12n");

	g.block[0].count = g.block[2].count = 10 * COUNT_ONE;
	g.block[1].count = 1000 * COUNT_ONE;
	g.block[2].flags = BLK_EXIT;
	infer(&g, INFER_COUNTS, &mem);
	check_flow(&g);
	ck_assert_uint_eq(g.block[1].count, 1000 * COUNT_ONE);
	near(edge(&g, 0, 1), 9.901, 0.001);
	near(edge(&g, 0, 2), 0.099, 0.01);
	near(edge(&g, 1, 2), 9.901, 0.001);
}
END_TEST

START_TEST(unsampled_block_of_a_hot_chain_is_hot)
{
	struct cfg g = graph(5, "01f 12f 23f 34f");
	uint32_t b;

	for (b = 0; b < 5; b++) {
		g.block[b].insns = b == 2 ? 1 : 6;
		g.block[b].samples = b == 2 ? 0 : 300 * S;
	}
	g.block[4].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	near(g.block[2].count, 35, 0.5);
}
END_TEST

/* A hundredth of its samples, in a block of two instructions, does not stop
 * what the blocks around it have seen, however many they are. */
START_TEST(few_samples_do_not_close_a_way)
{
	struct cfg g = graph(5, "01t 02n 14j 23f 34f");
	uint32_t many, b;

	for (many = 300; many <= 30000; many *= 10) {
		for (b = 0; b < 5; b++) {
			g.block[b].insns = b == 2 ? 2 : 6;
			g.block[b].samples = (b == 1 || b == 3 ? 1 : 2) * many * S;
		}
		g.block[2].samples = many / 100 * S;
		g.block[4].flags = BLK_EXIT;
		infer(&g, INFER_SAMPLES, &mem);
		check_flow(&g);
		near(g.block[2].count, many / 6.0, 0.4);
	}
}
END_TEST

START_TEST(long_unsampled_arm_loses_to_the_sampled_one)
{
	struct cfg g = graph(4, "01t 02n 13j 23f");

	g.block[0].samples = g.block[3].samples = 100 * S;
	g.block[1].samples = 80 * S; /* lost some by noise */
	g.block[2].insns = 20;
	g.block[3].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	ck_assert_uint_gt(g.block[1].count, 90 * g.block[2].count);
	ck_assert_uint_gt(g.block[2].count, 0);
}
END_TEST

START_TEST(cold_and_noreturn_blocks_stay_at_zero)
{
	struct cfg g = graph(4, "01t 02n 13t 12n");

	g.block[0].samples = g.block[2].samples = 30 * S;
	g.block[1].flags = BLK_COLD;
	g.block[3].flags = BLK_NORETURN;
	g.block[2].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	ck_assert_uint_eq(g.block[1].count, 0);
	ck_assert_uint_eq(g.block[3].count, 0);
}
END_TEST

/* Of a long function sampled once all blocks together take the time of that sample. */
START_TEST(one_sample_is_one_sample)
{
	struct cfg g = graph(6, "01t 02n 13j 23f 34t 35n");
	double time = 0;
	uint32_t b;

	for (b = 0; b < g.nblock; b++)
		g.block[b].insns = 10;
	g.block[1].samples = 1 * S;
	g.block[4].flags = g.block[5].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	for (b = 0; b < g.nblock; b++)
		time += 10 * (double)g.block[b].count / COUNT_ONE;
	ck_assert_double_le(time, 1.001);
	ck_assert_double_ge(time, 0.8);
	ck_assert_uint_gt(g.block[1].count, 3 * g.block[2].count);
}
END_TEST

START_TEST(tail_calls_are_exits)
{
	struct cfg g = graph(3, "01n 02t");

	g.block[0].samples = 100 * S;
	g.block[1].samples = 60 * S;
	g.block[2].samples = 40 * S;
	g.block[0].flags = g.block[1].flags = g.block[2].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	near(2 * g.block[1].count, 3 * (double)g.block[2].count / COUNT_ONE, 0.06);
	near(g.block[0].count + g.block[1].count + g.block[2].count, 200, 0.001);
}
END_TEST

START_TEST(endless_loop_without_exit)
{
	struct cfg g = graph(3, "01f 12f 21j");

	g.block[0].samples = 1 * S;
	g.block[1].samples = g.block[2].samples = 500 * S;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	near(g.block[1].count, 500, 0.01);
	ck_assert_uint_gt(g.block[0].count, 0);
}
END_TEST

START_TEST(block_behind_no_entry)
{
	struct cfg g = graph(3, "01f 21f");

	g.block[0].samples = 10 * S;
	g.block[1].samples = 110 * S;
	g.block[2].samples = 100 * S;
	g.block[1].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	near(g.block[2].count, 100, 0.05);
}
END_TEST

START_TEST(addressed_blocks_are_entries)
{
	/* 1 is entered from outside the graph's edges (a nonlocal label). */
	struct cfg g = graph(3, "02f 12f");

	g.block[0].samples = 10 * S;
	g.block[1].samples = 90 * S;
	g.block[2].samples = 100 * S;
	g.block[1].flags = BLK_ADDRESSED;
	g.block[2].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	near(g.block[1].count, 90, 0.05);
	near(g.block[2].count, 100, 0.05);
}
END_TEST

START_TEST(consistent_counts_stay)
{
	struct cfg g, want;
	uint64_t seed;
	uint32_t b;

	for (seed = 1; seed <= 40; seed++) {
		cfggen(&want, seed, (uint32_t)(5 + 7 * seed), 1000 * seed, &mem);
		cfggen_copy(&g, &want, &mem);
		for (b = 0; b < g.nedge; b++)
			g.edge[b].count = 12345;
		infer(&g, INFER_COUNTS, &mem);
		check_flow(&g);
		for (b = 0; b < g.nblock; b++)
			ck_assert_uint_eq(g.block[b].count, want.block[b].count);
	}
}
END_TEST

/* Nine edges of a third each: what a spanning tree takes of them would be -1 somewhere. */
START_TEST(rounding_leaves_no_flow_negative)
{
	struct cfg g = graph(7, "01i 02i 03i 14i 15i 16i 24i 25i 26i 34i 35i 36i");
	uint32_t b;

	for (b = 0; b < 7; b++)
		g.block[b].count = b ? 1 : 3;
	for (b = 4; b < 7; b++)
		g.block[b].flags = BLK_EXIT;
	infer(&g, INFER_COUNTS, &mem);
	check_flow(&g);
	for (b = 0; b < 7; b++)
		ck_assert_uint_eq(g.block[b].count, b ? 1 : 3);
}
END_TEST

START_TEST(counted_edges_stay)
{
	/* Blocks leave it open which way the two tests go: 0 and 1 to 2 or 3. */
	struct cfg g = graph(5, "02t 01n 12t 13n 23t 24n 34f");
	static const uint64_t way[] = {10, 90, 60, 30, 65, 5, 95};
	static const uint64_t block[] = {100, 90, 70, 95, 100};
	uint32_t i;

	for (i = 0; i < g.nedge; i++)
		g.edge[i].outcomes = way[i];
	for (i = 0; i < g.nblock; i++)
		g.block[i].count = block[i];
	g.block[4].flags = BLK_EXIT;
	infer(&g, INFER_COUNTS, &mem);
	check_flow(&g);
	for (i = 0; i < g.nedge; i++)
		ck_assert_uint_eq(g.edge[i].count, way[i]);
	/* One block counted wrongly: the edges still say how often. */
	g.block[2].count = 20;
	infer(&g, INFER_COUNTS, &mem);
	check_flow(&g);
	ck_assert_uint_gt(edge(&g, 2, 3), 30);
	ck_assert_uint_ge(edge(&g, 1, 3), 30);
}
END_TEST

START_TEST(outcomes_tell_what_samples_hide)
{
	/* The arm of 1 draws four times its samples; 300 of 400 seen went to 2. */
	struct cfg g = graph(4, "01t 02n 13j 23f");
	uint32_t b;

	for (b = 0; b < 4; b++)
		g.block[b].insns = 5;
	g.block[0].samples = g.block[3].samples = 400 * S;
	g.block[1].samples = 400 * S;
	g.block[2].samples = 300 * S;
	g.block[3].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	ck_assert_uint_gt(g.block[1].count, g.block[2].count);
	g.edge[0].outcomes = 100 * S;
	g.edge[1].outcomes = 300 * S;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	ck_assert_uint_lt(2 * g.block[1].count, g.block[2].count);
}
END_TEST

START_TEST(what_came_tells_what_samples_hide)
{
	struct cfg g = graph(4, "01t 02n 13j 23f");
	uint32_t b;

	for (b = 0; b < 4; b++)
		g.block[b].insns = 5;
	g.block[0].samples = g.block[3].samples = 400 * S;
	g.block[1].samples = 400 * S;
	g.block[2].samples = 300 * S;
	g.block[3].flags = BLK_EXIT;
	g.edge[2].pred = 100 * S;
	g.edge[3].pred = 300 * S;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	ck_assert_uint_lt(2 * g.block[1].count, g.block[2].count);
}
END_TEST

/* How often the jump of five blocks that leads from `from` to 4 is said to be taken, where
 * those between have so many samples. */
static uint64_t to_the_last(const char *text, uint32_t from, uint64_t samples)
{
	struct cfg g = graph(5, text);
	uint32_t b;

	for (b = 0; b < 5; b++)
		g.block[b].samples = (b % 4 ? samples : 60) * S;
	g.block[4].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	return edge(&g, from, 4);
}

/* Block 4 as the target of a jump, or as what follows one. */
START_TEST(forward_jumps_are_rare)
{
	ck_assert_uint_lt(to_the_last("04t 01n 12f 23f 32t 34n", 0, 20),
	    to_the_last("04n 01t 12f 23f 32t 34n", 0, 20));
}
END_TEST

/* gzip's longest_match on a Zen 5: the end of its loop retires with what is in front of
 * it, and what follows a mispredicted jump has too many samples. */
START_TEST(a_loop_whose_end_hides_is_one)
{
	static const uint32_t insns[] = {21, 4, 4, 2, 1, 2, 6};
	static const uint32_t samples[] = {121, 4413, 3361, 84, 0, 1273, 588};
	struct cfg g = graph(7, "01f 12t 15n 23n 26t 34n 36t 41f 52t 56n");
	uint32_t b;

	for (b = 0; b < g.nblock; b++) {
		g.block[b].insns = insns[b];
		g.block[b].samples = samples[b] * S;
	}
	g.block[6].flags = BLK_EXIT;
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	ck_assert_uint_gt(edge(&g, 4, 1), 3 * g.block[0].count);
}
END_TEST

/* Thousands of blocks that all lead to one another are given up by joint
 * inference, and answered all the same. */
START_TEST(entangled_graphs_are_answered)
{
	enum { N = 500, OUT = 40 };
	struct cfg g = {.nblock = N, .nedge = N * OUT};
	struct rng r = {1};
	uint32_t b, i;

	g.block = arena_array(&mem, N, sizeof *g.block);
	g.edge = arena_array(&mem, g.nedge, sizeof *g.edge);
	for (b = 0; b < N; b++) {
		g.block[b] = (struct cfg_block){.insns = 3, .samples = rng_next(&r) % 1000 * S};
		for (i = 0; i < OUT; i++)
			g.edge[b * OUT + i] = (struct cfg_edge){b,
			    (uint32_t)(i * (N / OUT) + rng_next(&r) % (N / OUT)), EDGE_INDIRECT,
			    .outcomes = rng_next(&r) % 50 * S, .pred = rng_next(&r) % 50 * S};
	}
	g.block[N - 1].flags = BLK_EXIT;
	cfg_index(&g, &mem);
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	ck_assert_uint_gt(g.block[0].count, 0);
}
END_TEST

/* An interpreter's loop, in which each operation jumps to any other: most edges have less than
 * what is rounded to, and hundreds of flows have to be raised. Paths through all that has samples,
 * the answer otherwise, take eight times the time that was sampled. */
START_TEST(dispatch_takes_no_more_time_than_sampled)
{
	enum { OPS = 100, EACH = 5, BLOCKS = 1 + EACH * OPS };
	struct cfg g = {.nblock = BLOCKS};
	double time = 0, samples = 0;
	struct rng r = {1};
	uint64_t percent;
	uint32_t b, to;

	g.block = arena_array(&mem, BLOCKS, sizeof *g.block);
	g.edge = arena_array(&mem, (OPS + EACH + 1) * (OPS + 1), sizeof *g.edge);
	for (b = 0; b < BLOCKS; b++) {
		percent = rng_next(&r) % 100;
		g.block[b].insns = g.block[b].bytes = 1 + (uint32_t)(rng_next(&r) % 8);
		g.block[b].samples =
		    percent < 60 ? 0 : rng_next(&r) % (percent < 90 ? 20 : 1000) * S;
		samples += (double)g.block[b].samples / S;
	}
	for (to = 1; to < BLOCKS; to += EACH)
		g.edge[g.nedge++] = (struct cfg_edge){0, to, EDGE_INDIRECT, 0};
	for (b = 1; b < BLOCKS; b += EACH) {
		g.edge[g.nedge++] = (struct cfg_edge){b, b + 1, EDGE_NOTTAKEN, 0};
		g.edge[g.nedge++] = (struct cfg_edge){b, b + 2, EDGE_TAKEN, 0};
		g.edge[g.nedge++] = (struct cfg_edge){b + 1, b + 3, EDGE_JUMP, 0};
		g.edge[g.nedge++] = (struct cfg_edge){b + 2, b + 3, EDGE_NOTTAKEN, 0};
		g.edge[g.nedge++] = (struct cfg_edge){b + 2, b + 4, EDGE_TAKEN, 0};
		if (b / EACH % 2)
			g.edge[g.nedge++] = (struct cfg_edge){b + 4, b, EDGE_JUMP, 0};
		else
			g.block[b + 4].flags = BLK_EXIT;
		for (to = 1; to < BLOCKS; to += EACH)
			g.edge[g.nedge++] = (struct cfg_edge){b + 3, to, EDGE_INDIRECT, 0};
	}
	cfg_index(&g, &mem);
	infer(&g, INFER_SAMPLES, &mem);
	check_flow(&g);
	for (b = 0; b < BLOCKS; b++)
		time += (double)g.block[b].count * g.block[b].insns / COUNT_ONE;
	ck_assert_double_le(time, 1.01 * samples);
}
END_TEST

START_TEST(samples_obey_kirchhoff)
{
	struct cfg g, again;
	struct rng r = {1};
	uint64_t seed;
	uint32_t i;

	for (seed = 1; seed <= 60; seed++) {
		cfggen(&g, seed, (uint32_t)(3 + 5 * seed), 10 * seed * seed, &mem);
		cfggen_sample(&g, &r, 1e-3 * (double)(seed % 7), 0.3, 1, &mem);
		cfggen_copy(&again, &g, &mem);
		infer(&g, INFER_SAMPLES, &mem);
		check_flow(&g);
		infer(&again, INFER_SAMPLES, &mem);
		for (i = 0; i < g.nblock; i++)
			ck_assert_uint_eq(g.block[i].count, again.block[i].count);
		for (i = 0; i < g.nedge; i++)
			ck_assert_uint_eq(g.edge[i].count, again.edge[i].count);
	}
}
END_TEST

/* Taken for a profile, samples must tell more than no profile does: p(branch)
 * of the inferred counts is nearer to the truth than the even split. */
START_TEST(samples_tell_the_branches)
{
	struct cfg g, want;
	struct rng r = {7};
	double error = 0, even = 0, p, q;
	uint64_t seed;
	uint32_t i, src;

	for (seed = 1; seed <= 30; seed++) {
		cfggen(&want, seed, 150, 1000, &mem);
		cfggen_copy(&g, &want, &mem);
		cfggen_sample(&g, &r, 0.01, 0.3, 1, &mem);
		infer(&g, INFER_SAMPLES, &mem);
		for (i = 0; i < g.nedge; i++) {
			src = g.edge[i].src;
			if (g.edge[i].kind != EDGE_TAKEN || !want.block[src].count ||
			    !g.block[src].count)
				continue;
			p = (double)want.edge[i].count / (double)want.block[src].count;
			q = (double)g.edge[i].count / (double)g.block[src].count;
			error += fabs(p - q) * log1p((double)want.block[src].count);
			even += fabs(p - 0.5) * log1p((double)want.block[src].count);
		}
	}
	ck_assert_double_lt(error, 0.5 * even);
}
END_TEST

UNIT_MAIN("infer", 60, setup, teardown, no_samples_no_counts, no_blocks,
    diamond_divides_by_its_arms, counts_are_samples_by_instructions, loop_flows_back,
    a_copied_test_is_divided_evenly, unsampled_block_of_a_hot_chain_is_hot,
    few_samples_do_not_close_a_way, long_unsampled_arm_loses_to_the_sampled_one,
    cold_and_noreturn_blocks_stay_at_zero, one_sample_is_one_sample, tail_calls_are_exits,
    endless_loop_without_exit, block_behind_no_entry, addressed_blocks_are_entries,
    consistent_counts_stay, rounding_leaves_no_flow_negative, counted_edges_stay,
    outcomes_tell_what_samples_hide, what_came_tells_what_samples_hide, forward_jumps_are_rare,
    a_loop_whose_end_hides_is_one, entangled_graphs_are_answered,
    dispatch_takes_no_more_time_than_sampled, samples_obey_kirchhoff, samples_tell_the_branches)
