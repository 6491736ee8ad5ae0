#include "editor/probe/probes.h"
#include "editor/probe/spantree.h"
#include "tests/cfggen.h"
#include "tests/unit/unit.h"

#include <stdio.h>

static struct arena mem;

static void setup(void)
{
	mem = (struct arena){0};
}

static void teardown(void)
{
	arena_free(&mem);
}

/* ---- a function that runs ---- */

struct machine {
	struct cfg want; /* counts as they happened */
	uint32_t *first; /* edge[first[b]] … edge[first[b + 1]] leave b */
	struct probes probes;
	uint32_t *at; /* place -> counter + 1 */
	uint64_t *value;
	struct rng r;
	uint64_t steps;
	bool leaves; /* calls may not come back, or twice */
};

static void touch(struct machine *m, uint32_t site)
{
	if (m->at[site])
		m->value[m->at[site] - 1]++;
}

static uint32_t end_site(const struct machine *m, uint32_t b)
{
	return m->want.nblock + m->want.nedge + b;
}

static double chance(struct machine *m)
{
	return rng_unit(&m->r);
}

/* From the end of block b on, until control leaves. */
static void go_on(struct machine *m, uint32_t b)
{
	const struct cfg_block *k;
	uint32_t n, e;

	for (;;) {
		k = &m->want.block[b];
		n = m->first[b + 1] - m->first[b];
		if (k->flags & BLK_CALLS && m->leaves && chance(m) < 0.02)
			return;
		if (k->flags & BLK_CALLS && m->leaves && m->steps && chance(m) < 0.02) {
			m->steps--;
			go_on(m, b);
		}
		if (k->flags & BLK_NORETURN)
			return;
		if (!n || (k->flags & BLK_EXIT && chance(m) < 0.5)) {
			if (!n && k->flags & BLK_EXIT)
				touch(m, end_site(m, b));
			return;
		}
		if (k->flags & BLK_INDIRECT)
			touch(m, end_site(m, b));
		if (k->flags & BLK_INDIRECT && m->leaves && chance(m) < 0.01)
			return; /* to a place that the graph does not know */
		if (!m->steps)
			return;
		m->steps--;
		e = m->first[b] + (uint32_t)(rng_next(&m->r) % n);
		m->want.edge[e].count++;
		touch(m, m->want.nblock + e);
		b = m->want.edge[e].dst;
		m->want.block[b].count++;
		touch(m, b);
	}
}

static void run(struct machine *m, uint32_t calls)
{
	uint32_t i, b;

	for (i = 0; i < calls; i++) {
		b = 0;
		if (m->leaves && chance(m) < 0.1) /* a nonlocal goto comes in */
			for (b = m->want.nblock - 1;
			     b && !(m->want.block[b].flags & (BLK_ADDRESSED | BLK_OPEN));)
				b--;
		m->want.block[b].count++;
		touch(m, b);
		m->steps = 2000;
		go_on(m, b);
	}
}

/* Steps that ran out are a way to leave that no graph knows: only in blocks
 * with calls. */
static void prepare(struct machine *m, struct cfg *g, uint64_t seed, bool edges, bool weighed)
{
	struct probe_want want = {.edges = edges, .weighed = weighed};
	uint8_t *dear = arena_array(&mem, g->nblock, 1);
	uint32_t i;

	for (i = 0; i < g->nblock; i++)
		dear[i] = i % 7 == 3;
	want.dear = dear;
	*m = (struct machine){.r = {seed}};
	probes_choose(g, &want, &m->probes, &mem);
	cfggen_copy(&m->want, g, &mem);
	cfggen_strip(&m->want);
	m->first = arena_array(&mem, g->nblock + 1, sizeof *m->first);
	for (i = 0; i < g->nedge; i++)
		m->first[g->edge[i].src + 1] = i + 1;
	for (i = 0; i < g->nblock; i++)
		if (m->first[i + 1] < m->first[i])
			m->first[i + 1] = m->first[i];
	m->at = arena_array(&mem, 2 * g->nblock + g->nedge, sizeof *m->at);
	m->value = arena_array(&mem, m->probes.n, sizeof *m->value);
	for (i = 0; i < m->probes.n; i++)
		m->at[m->probes.site[i]] = i + 1;
}

static uint32_t solve(struct machine *m, struct cfg *g, uint64_t *off)
{
	uint8_t *known = arena_array(&mem, g->nedge, 1);
	uint32_t i, unknown = 0;
	struct err e = {""};

	ck_assert_msg(!probes_solve(g, &m->probes, m->value, known, off, &mem, &e), "%s", e.text);
	for (i = 0; i < g->nblock; i++)
		ck_assert_uint_eq(g->block[i].count, m->want.block[i].count);
	for (i = 0; i < g->nedge; i++) {
		if (known[i])
			ck_assert_uint_eq(g->edge[i].count, m->want.edge[i].count);
		unknown += !known[i];
	}
	return unknown;
}

/* A function of cfggen with calls in some of its blocks. */
static void function(struct cfg *g, uint64_t seed, uint32_t blocks, double calls)
{
	struct rng r = {seed * 77};
	uint32_t i, b, direct;

	cfggen(g, seed, blocks, 100, &mem);
	for (b = 0; b < g->nblock; b++) {
		if (rng_unit(&r) < calls)
			g->block[b].flags |= BLK_CALLS;
		for (i = 0, direct = 0; i < g->nedge; i++)
			direct += g->edge[i].src == b && g->edge[i].kind != EDGE_INDIRECT;
		for (i = 0; i < g->nedge && !direct; i++)
			if (g->edge[i].src == b)
				g->block[b].flags |= BLK_INDIRECT;
	}
}

/* Runs end by themselves: steps never run out in a loop without a call. */
static bool all_done(const struct machine *m)
{
	return m->steps > 0;
}

/* Runs that all come to their end. */
static bool run_whole(struct machine *m)
{
	uint32_t i;

	for (i = 0; i < 20; i++) {
		run(m, 1);
		if (!all_done(m))
			return false;
	}
	return true;
}

START_TEST(edges_of_random_functions)
{
	uint64_t seed, off, runs = 0;
	struct machine m;
	struct cfg g;

	for (seed = 1; seed <= 150; seed++) {
		function(&g, seed, (uint32_t)(3 + 2 * seed), seed % 3 ? 0.3 : 0);
		prepare(&m, &g, seed, true, seed % 2);
		m.leaves = seed % 3;
		if (!run_whole(&m))
			continue;
		ck_assert_uint_eq(m.probes.form, PROBES_EDGES);
		if (!m.leaves)
			ck_assert_uint_eq(solve(&m, &g, &off), 0);
		else
			solve(&m, &g, &off);
		ck_assert_uint_eq(off, 0);
		runs++;
	}
	ck_assert_uint_gt(runs, 100);
}
END_TEST

START_TEST(blocks_of_random_functions)
{
	uint64_t seed, off, runs = 0, counters = 0, blocks = 0;
	struct machine m;
	struct cfg g;

	for (seed = 1; seed <= 150; seed++) {
		function(&g, seed, (uint32_t)(3 + 2 * seed), seed % 3 ? 0.2 : 0);
		prepare(&m, &g, seed, false, false);
		m.leaves = seed % 3;
		if (!run_whole(&m))
			continue;
		solve(&m, &g, &off);
		ck_assert_uint_eq(off, 0);
		runs++;
		counters += m.probes.n;
		blocks += g.nblock;
	}
	ck_assert_uint_gt(runs, 100);
	ck_assert_uint_lt(counters * 10, blocks * 8);
}
END_TEST

/* ---- graphs by hand ---- */

static struct cfg graph(uint32_t nblock, const struct cfg_edge *edge, uint32_t nedge)
{
	struct cfg g = {.nblock = nblock, .nedge = nedge};

	g.block = arena_array(&mem, nblock, sizeof *g.block);
	g.edge = arena_array(&mem, nedge, sizeof *g.edge);
	memcpy(g.edge, edge, nedge * sizeof *edge);
	g.block[nblock - 1].flags = BLK_EXIT;
	cfg_index(&g, &mem);
	return g;
}

static const struct cfg_edge DIAMOND[] = {
    {0, 1, EDGE_NOTTAKEN, 0}, {0, 2, EDGE_TAKEN, 0}, {1, 3, EDGE_JUMP, 0}, {2, 3, EDGE_FALL, 0}};

START_TEST(diamond_needs_two)
{
	struct cfg g = graph(4, DIAMOND, 4);
	struct machine m;
	uint64_t off;

	prepare(&m, &g, 1, true, false);
	ck_assert_uint_eq(m.probes.n, 2);
	run(&m, 1000);
	ck_assert_uint_eq(solve(&m, &g, &off), 0);
}
END_TEST

START_TEST(straight_line_needs_one)
{
	static const struct cfg_edge line[] = {{0, 1, EDGE_FALL, 0}, {1, 2, EDGE_JUMP, 0}};
	struct cfg g = graph(3, line, 2);
	struct machine m;

	prepare(&m, &g, 1, true, false);
	ck_assert_uint_eq(m.probes.n, 1);
	prepare(&m, &g, 1, false, false);
	ck_assert_uint_eq(m.probes.n, 1);
}
END_TEST

/* Two counters do, and the profile says which: not those of the frequent side. */
START_TEST(profile_decides)
{
	struct cfg g = graph(4, DIAMOND, 4);
	struct machine m;
	uint64_t off;

	g.block[0].count = g.block[3].count = 1000;
	g.block[1].count = g.edge[0].count = g.edge[2].count = 999;
	g.block[2].count = g.edge[1].count = g.edge[3].count = 1;
	prepare(&m, &g, 1, true, true);
	run(&m, 100);
	ck_assert_uint_eq(solve(&m, &g, &off), 0);
	ck_assert_uint_eq(m.at[1] + m.at[4] + m.at[6] == 0, m.at[0] || m.at[3] || m.at[11]);
	ck_assert(m.at[2] || m.at[5] || m.at[7]);
}
END_TEST

/* Computed goto: 0, 1 and 2 jump to 1, 2 and 3. */
START_TEST(dispatchers_with_common_targets)
{
	struct cfg_edge edge[9];
	struct machine m;
	struct cfg g;
	uint64_t off;
	uint32_t i;

	for (i = 0; i < 9; i++)
		edge[i] = (struct cfg_edge){i / 3, 1 + i % 3, EDGE_INDIRECT, 0};
	g = graph(4, edge, 9);
	for (i = 0; i < 3; i++)
		g.block[i].flags = BLK_INDIRECT;
	prepare(&m, &g, 5, true, false);
	ck_assert_uint_eq(m.probes.form, PROBES_EDGES);
	run(&m, 500);
	ck_assert_uint_eq(solve(&m, &g, &off), 9);
	ck_assert_uint_eq(off, 0);
}
END_TEST

/* Jumps to some of the blocks behind the entry, and unless `closed` to elsewhere;
 * ordinary ways there; entries from elsewhere. */
static struct cfg dispatchers(uint64_t seed, bool closed)
{
	enum { BLOCKS = 16, OPEN = 13, LAST = 15 };
	struct cfg_edge edge[BLOCKS * BLOCKS];
	uint32_t b, to, n = 0, before;
	struct rng r = {seed};
	struct cfg g;

	for (b = 0; b < LAST; b++) {
		before = n;
		for (to = 1; b % 3 != 1 && to < BLOCKS; to++)
			if (rng_unit(&r) < 0.3)
				edge[n++] = (struct cfg_edge){b, to, EDGE_INDIRECT, 0};
		if (n == before)
			edge[n++] = (struct cfg_edge){
			    b, b + 1 + (uint32_t)(rng_next(&r) % (LAST - b)), EDGE_JUMP, 0};
	}
	g = graph(BLOCKS, edge, n);
	for (b = 0; b < n; b++)
		if (edge[b].kind == EDGE_INDIRECT)
			g.block[edge[b].src].flags = BLK_INDIRECT;
	for (b = 0; b < n && !closed; b++)
		if (edge[b].kind == EDGE_INDIRECT && edge[b].dst == OPEN)
			g.block[OPEN].flags |= BLK_OPEN;
	return g;
}

START_TEST(random_dispatchers)
{
	uint64_t seed, off;
	struct machine m;
	struct cfg g;

	for (seed = 1; seed <= 200; seed++) {
		g = dispatchers(seed, seed % 4 > 1);
		prepare(&m, &g, seed, true, seed % 2);
		m.leaves = seed % 4 <= 1;
		if (m.leaves)
			run(&m, 300);
		else if (!run_whole(&m))
			continue;
		ck_assert_uint_eq(m.probes.form, PROBES_EDGES);
		solve(&m, &g, &off);
		ck_assert_uint_eq(off, 0);
	}
}
END_TEST

/* Two jump tables with one common target: all of it follows. */
START_TEST(tables_with_one_common_target)
{
	static const struct cfg_edge edge[] = {{0, 1, EDGE_INDIRECT, 0}, {0, 2, EDGE_INDIRECT, 0},
	    {0, 3, EDGE_INDIRECT, 0}, {1, 3, EDGE_INDIRECT, 0}, {1, 4, EDGE_INDIRECT, 0},
	    {2, 5, EDGE_JUMP, 0}, {3, 5, EDGE_JUMP, 0}, {4, 5, EDGE_FALL, 0}};
	struct cfg g = graph(6, edge, 8);
	struct machine m;
	uint64_t off;

	g.block[0].flags = g.block[1].flags = BLK_INDIRECT;
	prepare(&m, &g, 3, true, false);
	run(&m, 500);
	ck_assert_uint_eq(solve(&m, &g, &off), 0);
	m.leaves = true; /* now jumps go elsewhere, too */
	run(&m, 500);
	solve(&m, &g, &off);
	ck_assert_uint_eq(off, 0);
}
END_TEST

/* asm goto in a block that calls: edges cannot be told, blocks can. */
START_TEST(what_cannot_be_split_is_counted_by_blocks)
{
	static const struct cfg_edge edge[] = {
	    {0, 1, EDGE_FALL, 0}, {0, 2, EDGE_INDIRECT, 0}, {1, 2, EDGE_FALL, 0}};
	struct cfg g = graph(3, edge, 3);
	struct machine m;
	uint64_t off;

	g.block[0].flags = BLK_CALLS;
	prepare(&m, &g, 3, true, false);
	ck_assert_uint_eq(m.probes.form, PROBES_BLOCKS);
	run(&m, 500);
	solve(&m, &g, &off);
}
END_TEST

START_TEST(negative_sums_are_told)
{
	uint32_t site[] = {0, 1};
	uint64_t value[] = {10, 1000}, off;
	struct cfg g = graph(4, DIAMOND, 4);
	struct probes p = {.form = PROBES_EDGES, .n = 2, .site = site};
	uint8_t known[4];
	struct err e;

	ck_assert(!probes_solve(&g, &p, value, known, &off, &mem, &e));
	ck_assert_uint_eq(off, 3 * 990); /* block 2 and both its edges */
	ck_assert_uint_eq(g.block[1].count, 1000);
	ck_assert_uint_eq(g.block[2].count, 0);
	ck_assert_uint_eq(g.block[3].count, 10);
}
END_TEST

START_TEST(foreign_places_are_refused)
{
	static const uint32_t bad[][2] = {{0, 0}, {0, 99}, {12, 1}, {0, 3}, {UINT32_MAX, 0}};
	struct cfg g = graph(4, DIAMOND, 4);
	uint64_t value[2] = {1, 2}, off;
	struct probes p = {.n = 2};
	uint32_t site[2], i;
	uint8_t known[4];
	struct err e;

	for (i = 0; i < 10; i++) {
		memcpy(site, bad[i / 2], sizeof site);
		p.form = i % 2;
		p.site = site;
		ck_assert(probes_solve(&g, &p, value, known, &off, &mem, &e));
	}
	p.n = 0;
	ck_assert(probes_solve(&g, &p, value, known, &off, &mem, &e));
}
END_TEST

/* ---- the tree ---- */

START_TEST(tree_holds_the_dearest)
{
	struct span_edge e[] = {{0, 1, 5}, {1, 2, 4}, {2, 0, 3}, {0, 1, 6}, {1, 1, 9}, {2, 1, -1}};
	static const bool want[] = {true, true, true, false, true, false};
	uint32_t i;

	ck_assert(span_choose(e, 6, 3, &mem));
	for (i = 0; i < 6; i++)
		ck_assert_int_eq(e[i].counted, want[i]);
	e[0].cost = e[1].cost = e[2].cost = -1;
	ck_assert(!span_choose(e, 6, 3, &mem));
}
END_TEST

/* Any tree gives back any circulation. */
START_TEST(trees_give_circulations_back)
{
	enum { NODES = 60, EDGES = 150 };
	uint64_t flow[EDGES];
	struct span_edge e[EDGES];
	struct rng r = {9};
	uint32_t round, i, k, v;

	for (round = 0; round < 50; round++) {
		memset(flow, 0, sizeof flow);
		for (i = 0; i < EDGES; i++) {
			v = i < NODES ? i : (uint32_t)(rng_next(&r) % NODES);
			e[i] = (struct span_edge){.from = v,
			    .to = i < NODES ? (i + 1) % NODES : (uint32_t)(rng_next(&r) % NODES),
			    .cost = rng_unit(&r)};
		}
		/* Each chord of the ring closed along it. */
		for (i = NODES; i < EDGES; i++) {
			flow[i] = rng_next(&r) % 1000;
			for (v = e[i].to; v != e[i].from; v = (v + 1) % NODES)
				flow[v] += flow[i];
		}
		ck_assert(span_choose(e, EDGES, NODES, &mem));
		for (i = k = 0; i < EDGES; i++) {
			e[i].known = e[i].counted;
			e[i].flow = e[i].counted ? flow[i] : 0;
			k += e[i].counted;
		}
		ck_assert_uint_eq(k, EDGES - NODES + 1);
		ck_assert_uint_eq(span_solve(e, EDGES, NODES, UINT32_MAX, &mem), 0);
		for (i = 0; i < EDGES; i++)
			ck_assert_uint_eq(e[i].flow, flow[i]);
	}
}
END_TEST

UNIT_MAIN("probes", 60, setup, teardown, tree_holds_the_dearest, trees_give_circulations_back,
    edges_of_random_functions, blocks_of_random_functions, diamond_needs_two,
    straight_line_needs_one, profile_decides, dispatchers_with_common_targets, random_dispatchers,
    tables_with_one_common_target, what_cannot_be_split_is_counted_by_blocks,
    negative_sums_are_told, foreign_places_are_refused)
