#include "morphctl/report/show/callgraph.h"
#include "tests/unit/unit.h"

#include <math.h>

enum { MAIN, WORK, LEFT, RIGHT, LEAF, FUNCTIONS };

static void make_nodes(struct callgraph *g)
{
	uint32_t i;

	for (i = 0; i < FUNCTIONS; i++)
		ck_assert_uint_eq(callgraph_node(g, 0, i), i);
}

static const struct callgraph_node *node_of(const struct callgraph *g, uint32_t function)
{
	size_t i;

	for (i = 0; i < g->node.n; i++)
		if (g->node.v[i].function == function)
			return &g->node.v[i];
	ck_abort();
}

static double time_of(const struct callgraph *g, uint32_t caller, uint32_t callee)
{
	size_t i;

	for (i = 0; i < g->arc.n; i++)
		if (g->node.v[g->arc.v[i].caller].function == caller &&
		    g->node.v[g->arc.v[i].callee].function == callee)
			return g->arc.v[i].time;
	return NAN;
}

START_TEST(time_is_divided_by_calls)
{
	struct callgraph g = {0};

	make_nodes(&g);
	g.node.v[LEAF].self = 100;
	g.node.v[LEFT].self = 10;
	g.node.v[MAIN].self = 1;
	callgraph_arc(&g, LEFT, LEAF, 3, 0);
	callgraph_arc(&g, RIGHT, LEAF, 1, 0);
	callgraph_arc(&g, MAIN, LEFT, 5, 0);
	callgraph_arc(&g, MAIN, RIGHT, 7, 0);
	callgraph_arc(&g, LEAF, LEAF, 1000, 0); /* recursion divides nothing */
	callgraph_propagate(&g);
	callgraph_end(&g);
	ck_assert_double_eq_tol(time_of(&g, LEFT, LEAF), 75, 1e-9);
	ck_assert_double_eq_tol(time_of(&g, RIGHT, LEAF), 25, 1e-9);
	ck_assert_double_eq_tol(node_of(&g, LEFT)->total, 85, 1e-9);
	ck_assert_double_eq_tol(node_of(&g, MAIN)->total, 111, 1e-9);
	ck_assert_double_eq_tol(g.sum, 111, 1e-9);
	ck_assert_uint_eq(g.node.v[0].function, MAIN);
	ck_assert_uint_eq(node_of(&g, LEAF)->cycle, 0);
	callgraph_free(&g);
}
END_TEST

START_TEST(a_cycle_has_its_time_as_one)
{
	struct callgraph g = {0};

	make_nodes(&g);
	g.node.v[LEFT].self = 30;
	g.node.v[RIGHT].self = 20;
	g.node.v[LEAF].self = 50;
	callgraph_arc(&g, LEFT, RIGHT, 9, 0);
	callgraph_arc(&g, RIGHT, LEFT, 9, 0);
	callgraph_arc(&g, RIGHT, LEAF, 4, 0);
	callgraph_arc(&g, MAIN, LEFT, 1, 0);
	callgraph_arc(&g, WORK, RIGHT, 3, 0);
	callgraph_propagate(&g);
	callgraph_end(&g);
	ck_assert_uint_ne(node_of(&g, LEFT)->cycle, 0);
	ck_assert_uint_eq(node_of(&g, LEFT)->cycle, node_of(&g, RIGHT)->cycle);
	ck_assert_double_eq_tol(node_of(&g, LEFT)->total, 100, 1e-9);
	ck_assert_double_eq_tol(node_of(&g, MAIN)->total, 25, 1e-9);
	ck_assert_double_eq_tol(node_of(&g, WORK)->total, 75, 1e-9);
	ck_assert_double_eq_tol(time_of(&g, LEFT, RIGHT), 0, 1e-9);
	callgraph_free(&g);
}
END_TEST

/* A long chain of calls is no deep recursion of ours. */
START_TEST(a_long_chain_is_followed)
{
	enum { LONG = 200000 };
	struct callgraph g = {0};
	uint32_t i;

	for (i = 0; i < LONG; i++)
		callgraph_node(&g, 0, i);
	for (i = 0; i + 1 < LONG; i++)
		callgraph_arc(&g, i, i + 1, 1, 0);
	g.node.v[LONG - 1].self = 8;
	callgraph_propagate(&g);
	ck_assert_double_eq_tol(g.node.v[0].total, 8, 1e-9);
	callgraph_free(&g);
}
END_TEST

/* Functions are numbered as they come. */
static uint32_t stack_of(struct recording *r, const uint32_t *function, size_t n)
{
	uint32_t stack = RECORDING_NONE, file = recording_file(r, RECORDING_ELF, "/bin/x", NULL, 0);
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t at = recording_location(r, file, 100 * function[i]);
		struct recording_function f = {.name = (char[]){(char)('a' + function[i]), '\0'},
		    .file = file,
		    .start = 100 * function[i]};
		struct recording_frame frame = {.function = recording_function(r, &f)};

		recording_resolve(r, at, &frame, 1);
		stack = recording_stack(r, stack, at);
	}
	return stack;
}

START_TEST(chains_count_each_sample_once)
{
	static const uint32_t plain[] = {MAIN, WORK, LEFT}, twice[] = {MAIN, WORK, WORK, LEFT};
	struct recording r = {0};
	struct callgraph g = {0};
	uint32_t event = recording_event(&r, "cpu-clock", "ns");

	recording_sample(&r, &(struct recording_sample){.event = event,
				 .task = RECORDING_NONE,
				 .stack = stack_of(&r, plain, 3),
				 .n = 1,
				 .period = 10});
	recording_sample(&r, &(struct recording_sample){.event = event,
				 .task = RECORDING_NONE,
				 .stack = stack_of(&r, twice, 4),
				 .n = 1,
				 .period = 10});
	callgraph_of_chains(&g, &r, event);
	callgraph_end(&g);
	ck_assert_double_eq_tol(node_of(&g, MAIN)->total, 20, 1e-9);
	ck_assert_double_eq_tol(node_of(&g, WORK)->total, 20, 1e-9);
	ck_assert_double_eq_tol(node_of(&g, WORK)->self, 0, 1e-9);
	ck_assert_double_eq_tol(node_of(&g, LEFT)->self, 20, 1e-9);
	ck_assert_double_eq_tol(time_of(&g, WORK, LEFT), 20, 1e-9);
	ck_assert_double_eq_tol(time_of(&g, WORK, WORK), 10, 1e-9);
	callgraph_free(&g);
	recording_free(&r);
}
END_TEST

static void add_sample(struct recording *r, uint32_t event, uint32_t stack, uint64_t period)
{
	recording_sample(r,
	    &(struct recording_sample){
		.event = event, .task = RECORDING_NONE, .stack = stack, .n = 1, .period = period});
}

/* LEAF is of another file, RIGHT has no samples with a caller. */
START_TEST(nearest_callers_lead_on)
{
	static const uint32_t left[] = {WORK, LEFT}, work[] = {MAIN, WORK}, right[] = {RIGHT},
			      self[] = {LEFT, LEFT};
	struct recording r = {.partial = true};
	struct callgraph g = {0};
	uint32_t event = recording_event(&r, "time", "ns"), libc, leaf, at, to;
	struct recording_function f = {.name = "leaf", .start = 0};
	struct recording_frame frame;

	libc = recording_file(&r, RECORDING_ELF, "/lib/libc.so", NULL, 0);
	leaf = recording_location(&r, libc, 7);
	add_sample(&r, event, stack_of(&r, work, 2), 10);
	add_sample(&r, event, stack_of(&r, left, 2), 20);
	add_sample(&r, event, stack_of(&r, self, 2), 5);
	add_sample(&r, event, stack_of(&r, right, 1), 40);
	f.file = libc;
	frame = (struct recording_frame){.function = recording_function(&r, &f)};
	recording_resolve(&r, leaf, &frame, 1);
	at = recording_stack(&r, stack_of(&r, (uint32_t[]){LEFT}, 1), leaf);
	add_sample(&r, event, at, 300);
	at = recording_stack(&r, stack_of(&r, right, 1), leaf);
	add_sample(&r, event, at, 100);
	add_sample(&r, event, recording_stack(&r, RECORDING_NONE, leaf), 1000);
	/* RIGHT itself was called from MAIN, as its callee's samples say. */
	at = stack_of(&r, work, 1);
	to = stack_of(&r, right, 1);
	vec_push(&r.waiting,
	    (struct recording_waiting){r.stack.v[at].location, r.stack.v[to].location, 100});
	callgraph_of_callers(&g, &r, event);
	callgraph_end(&g);
	ck_assert_double_eq_tol(g.sum, 1475, 1e-9);
	/* 400 of leaf's 1400 were called from here, 3 to 1; all of the others' goes on. */
	ck_assert_double_eq_tol(g.node.v[0].self, 1400, 1e-9);
	ck_assert_double_eq_tol(g.node.v[0].apart, 1000, 1e-9);
	ck_assert_uint_eq(g.node.n, 5);
	ck_assert_double_eq_tol(g.node.v[1].total, 475, 1e-9);
	ck_assert_double_eq_tol(node_of(&g, WORK)->total, 335, 1e-9);
	ck_assert_double_eq_tol(time_of(&g, WORK, LEFT), 325, 1e-9);
	ck_assert_double_eq_tol(time_of(&g, MAIN, RIGHT), 140, 1e-9);
	ck_assert(isnan(g.arc.v[0].calls));
	callgraph_free(&g);
	recording_free(&r);
}
END_TEST

UNIT_MAIN("callgraph", 0, NULL, NULL, time_is_divided_by_calls, a_cycle_has_its_time_as_one,
    a_long_chain_is_followed, chains_count_each_sample_once, nearest_callers_lead_on)
