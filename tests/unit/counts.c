#include "editor-driver/profile/counts.h"
#include "editor/cfg.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t insns[] = {2, 3, 5, 7};
static struct art_func func[5];
static struct counts c;
static struct err e;

static struct hash128 key(const char *hex)
{
	struct hash128 h;
	int i;

	for (i = 0; i < 16; i++)
		ck_assert_int_eq(sscanf(hex + 2 * i, "%2hhx", &h.b[i]), 1);
	return h;
}

/* main; two static functions "twin" that differ; one "inl" in two units. */
static void setup(void)
{
	static const char *const names[] = {"main", "twin", "twin", "inl", "inl"};
	static const char *const keys[] = {"00000000000000000000000000000001",
	    "aaaaaaaa000000000000000000000001", "aaaaaaaa100000000000000000000001",
	    "cccccccc000000000000000000000001", "cccccccc000000000000000000000001"};
	size_t i;

	for (i = 0; i < 5; i++)
		func[i] = (struct art_func){.tu = i > 1,
		    .ord = (uint32_t)i,
		    .name = names[i],
		    .key = key(keys[i]),
		    .nblock = 4,
		    .insns = insns,
		    .opaque = ""};
	e.text[0] = '\0';
}

static void teardown(void)
{
	counts_free(&c);
}

static int parse(const char *text, enum counts_form form)
{
	return counts_parse(text, strlen(text), "prof", form, func, 5, &c, &e);
}

START_TEST(executions_add_up)
{
	ck_assert_int_eq(
	    parse("# a comment\n\nmain 0 5\nmain\t3  7\n  main 0 1", COUNTS_EXECUTIONS), 0);
	ck_assert_uint_eq(c.block[0][0], 6);
	ck_assert_uint_eq(c.block[0][1], 0);
	ck_assert_uint_eq(c.block[0][3], 7);
	ck_assert_ptr_null(c.block[1]);
	ck_assert_uint_eq(c.lines, 3);
	ck_assert_uint_eq(c.total, 13);
	ck_assert_uint_eq(c.used, 13);
	ck_assert_uint_eq(counts_weight(&c, func, 0), 6 * 2 + 7 * 7);
	ck_assert_uint_eq(counts_weight(&c, func, 1), 0);
}
END_TEST

START_TEST(samples_are_fixed_point)
{
	ck_assert_int_eq(
	    parse("main 0 1\nmain 1 0.5\nmain 2 2.125\nmain 3 0.001\n", COUNTS_SAMPLES), 0);
	ck_assert_uint_eq(c.block[0][0], SAMPLE_ONE);
	ck_assert_uint_eq(c.block[0][1], SAMPLE_ONE / 2);
	ck_assert_uint_eq(c.block[0][2], 2 * SAMPLE_ONE + SAMPLE_ONE / 8);
	ck_assert_uint_eq(c.block[0][3], 0);
	ck_assert_uint_eq(
	    counts_weight(&c, func, 0), SAMPLE_ONE * 3 + SAMPLE_ONE / 2 + SAMPLE_ONE / 8);
}
END_TEST

START_TEST(key_tells_twins_apart)
{
	ck_assert_int_eq(parse("twin#aaaaaaaa1 1 9\ntwin#AAAAAAAA000000000000000000000001 1 4\n",
			     COUNTS_EXECUTIONS),
	    0);
	ck_assert_uint_eq(c.block[2][1], 9);
	ck_assert_uint_eq(c.block[1][1], 4);
}
END_TEST

START_TEST(ambiguous_names_are_counted)
{
	ck_assert_int_eq(parse("twin 1 9\ntwin#aaaaaaaa 1 9\n", COUNTS_EXECUTIONS), 0);
	ck_assert_uint_eq(c.ambiguous, 2);
	ck_assert_uint_eq(c.used, 0);
	ck_assert_uint_eq(c.total, 18);
	ck_assert_ptr_null(c.block[1]);
}
END_TEST

START_TEST(equal_keys_share)
{
	ck_assert_int_eq(parse("inl 2 8\ninl#cccccccc 2 1\n", COUNTS_EXECUTIONS), 0);
	ck_assert_uint_eq(c.block[3][2], 9);
	ck_assert_uint_eq(c.block[4][2], 9);
	ck_assert_uint_eq(c.used, 9);
}
END_TEST

START_TEST(strangers_are_counted)
{
	ck_assert_int_eq(parse("nobody 0 1\nmain#00000000ff 0 1\nmain 4 1\nmain 1 1\n"
			       "odd#name 0 1\n",
			     COUNTS_EXECUTIONS),
	    0);
	ck_assert_uint_eq(c.unknown, 3);
	ck_assert_uint_eq(c.no_block, 1);
	ck_assert_uint_eq(c.used, 1);
}
END_TEST

START_TEST(edges_and_calls_by_function)
{
	const struct counts_flow *v;

	ck_assert_int_eq(parse("inl 1 > 3 2\ninl 0 > 1 1.5\ninl 1 > 3 1\nmain 0 > 1 1\n"
			       "inl 3 < 1 5\ninl 2 @ main 4\ninl#cccccccc 2 @ twin#aaaaaaaa1 0.5\n",
			     COUNTS_SAMPLES),
	    0);
	ck_assert_uint_eq(counts_flows(&c, 4, COUNTS_EDGES, &v), 2);
	ck_assert_uint_eq(v[0].block, 0);
	ck_assert_uint_eq(v[0].to, 1);
	ck_assert_uint_eq(v[0].value, SAMPLE_ONE + SAMPLE_ONE / 2);
	ck_assert_uint_eq(v[1].value, 3 * SAMPLE_ONE);
	ck_assert_uint_eq(counts_flows(&c, 4, COUNTS_PRED, &v), 1);
	ck_assert_uint_eq(v[0].block, 1);
	ck_assert_uint_eq(v[0].to, 3);
	ck_assert_uint_eq(v[0].value, 5 * SAMPLE_ONE);
	ck_assert_uint_eq(counts_flows(&c, 3, COUNTS_CALLS, &v), 2);
	ck_assert_uint_eq(v[0].to, 0);
	ck_assert_uint_eq(v[1].to, 2);
	ck_assert_uint_eq(v[1].value, SAMPLE_ONE / 2);
	ck_assert_uint_eq(counts_flows(&c, 0, COUNTS_EDGES, &v), 1);
	ck_assert_uint_eq(counts_flows(&c, 0, COUNTS_CALLS, &v), 0);
	ck_assert_uint_eq(counts_flows(&c, 1, COUNTS_EDGES, &v), 0);
	/* They weigh nothing, and are no samples. */
	ck_assert_uint_eq(c.total + c.used + counts_weight(&c, func, 3), 0);
}
END_TEST

START_TEST(blocks_are_executed_as_their_edges)
{
	ck_assert_int_eq(
	    parse("main 0 > 1 5\nmain 0 > 2 2\nmain 1 > 2 5\nmain 1 4\n", COUNTS_EXECUTIONS), 0);
	ck_assert_uint_eq(c.block[0][0], 7);
	ck_assert_uint_eq(c.block[0][1], 4);
	ck_assert_uint_eq(c.block[0][2], 7);
	ck_assert_uint_eq(c.block[0][3], 0);
}
END_TEST

START_TEST(strange_edges_are_counted)
{
	ck_assert_int_eq(parse("main 0 > 4 1\nmain 4 > 0 1\nnobody 0 > 1 1\nmain 0 @ nobody 1\n"
			       "twin 0 > 1 1\nmain 0 @ twin 1\nmain 4 @ main 1\n",
			     COUNTS_EXECUTIONS),
	    0);
	ck_assert_uint_eq(c.no_block, 3);
	ck_assert_uint_eq(c.unknown, 2);
	ck_assert_uint_eq(c.ambiguous, 2);
	ck_assert_uint_eq(c.lines, 7);
	ck_assert_uint_eq(c.flow[COUNTS_EDGES].n + c.flow[COUNTS_CALLS].n, 0);
}
END_TEST

START_TEST(huge_sums_stay_sane)
{
	char line[] = "main 3 17592186044416\n", text[40 * sizeof line] = "";
	int i;

	for (i = 0; i < 40; i++)
		strcat(text, line);
	ck_assert_int_eq(parse(text, COUNTS_SAMPLES), 0);
	ck_assert_uint_le(counts_weight(&c, func, 0), (uint64_t)1 << 60);
	ck_assert_uint_gt(counts_weight(&c, func, 0), (uint64_t)1 << 50);
}
END_TEST

static const struct {
	const char *text;
	enum counts_form form;
	const char *where;
} bad[] = {
    {"main 0\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0 1\nmain\n", COUNTS_EXECUTIONS, "prof:2: "},
    {"main x 1\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main -1 1\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0x1 1\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 4294967296 1\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0 1.5\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0 -1\n", COUNTS_SAMPLES, "prof:1: "},
    {"main 0 1.\n", COUNTS_SAMPLES, "prof:1: "},
    {"main 0 .5\n", COUNTS_SAMPLES, "prof:1: "},
    {"main 0 1.2345\n", COUNTS_SAMPLES, "prof:1: "},
    {"main 0 nan\n", COUNTS_SAMPLES, "prof:1: "},
    {"main 0 1e3\n", COUNTS_SAMPLES, "prof:1: "},
    {"\n# x\nmain 0 1 more\n", COUNTS_SAMPLES, "prof:3: "},
    {"main 0 99999999999999999999999999\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0 > 1\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0 >1 1\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0 > main 1\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0 > 4294967296 1\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0 > 1 1.5\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0 @ 1\n", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0 @", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0 >", COUNTS_EXECUTIONS, "prof:1: "},
    {"main 0 @ main 1 1\n", COUNTS_EXECUTIONS, "prof:1: "},
};

START_TEST(bad_lines_are_refused)
{
	ck_assert_int_eq(parse(bad[_i].text, bad[_i].form), -1);
	ck_assert_msg(!strncmp(e.text, bad[_i].where, strlen(bad[_i].where)), "%s", e.text);
}
END_TEST

START_TEST(a_nul_is_no_end)
{
	static const char text[] = "main 0 1\0\nmain 0 1\n";

	ck_assert_int_eq(
	    counts_parse(text, sizeof text - 1, "prof", COUNTS_EXECUTIONS, func, 5, &c, &e), -1);
}
END_TEST

START_TEST(no_functions_no_lines)
{
	ck_assert_int_eq(counts_parse("", 0, "prof", COUNTS_SAMPLES, NULL, 0, &c, &e), 0);
	ck_assert_uint_eq(c.lines, 0);
	counts_free(&c);
	ck_assert_int_eq(counts_parse("f 0 1", 5, "prof", COUNTS_SAMPLES, NULL, 0, &c, &e), 0);
	ck_assert_uint_eq(c.unknown, 1);
}
END_TEST

/* A report of a program asks for weights, and there may be no profile. */
START_TEST(without_counts_nothing_weighs)
{
	ck_assert_uint_eq(counts_weight(&c, func, 0), 0);
}
END_TEST

UNIT_MAIN("counts", 0, setup, teardown, executions_add_up, samples_are_fixed_point,
    key_tells_twins_apart, ambiguous_names_are_counted, equal_keys_share, strangers_are_counted,
    edges_and_calls_by_function, blocks_are_executed_as_their_edges, strange_edges_are_counted,
    huge_sums_stay_sane, UNIT_LOOP(bad_lines_are_refused, sizeof bad / sizeof *bad),
    a_nul_is_no_end, no_functions_no_lines, without_counts_nothing_weighs)
