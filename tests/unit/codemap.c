#include "managerd/samples/codemap.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static const struct decay now = {1000, 1e9};
static struct map_table t;
static struct map m;
static struct profile p;
static struct code_input in;
static struct code c;
static struct err e;

static void add_func(const char *name, const char *key, uint32_t ord, uint32_t nblock)
{
	map_table_add(&t, &(struct map_func){.key = hash_bytes(key, strlen(key)),
			      .tu = 1,
			      .ord = ord,
			      .nblock = nblock,
			      .name = name,
			      .tu_name = "a.c"});
}

static void add_range(uint32_t start, uint32_t size, uint32_t slot)
{
	vec_push(&m.range, (struct map_range){start, start + size, slot});
}

/* f (3 blocks; a copy of 2 lies with its cold part), g and h of one text, cold (not sampled). */
static void setup(void)
{
	t = (struct map_table){0};
	m = (struct map){0};
	p = (struct profile){0};
	in = (struct code_input){0};
	add_func("f", "f", 0, 3);
	add_func("g", "same", 1, 1);
	add_func("h", "same", 2, 1);
	add_func("cold", "cold", 3, 2);
	ck_assert_int_eq(map_table_end(&t, &e), 0);
	add_range(0x1010, 0x20, 0);
	add_range(0x1030, 0x20, 2); /* over a line's end */
	add_range(0x1050, 0x10, 3);
	add_range(0x1080, 0x10, 4);
	add_range(0x1200, 0x40, 1);
	add_range(0x1240, 0x20, 2);
	add_range(0x1300, 0x20, 5);
}

static void teardown(void)
{
	map_free(&m);
	map_table_free(&t);
	profile_free(&p);
	code_input_free(&in);
	code_free(&c);
}

static struct profile_func *func(const char *key, uint32_t nblock)
{
	struct hash128 k = hash_bytes(key, strlen(key));

	return profile_put(&p, &k, key, "a.c", NULL, nblock);
}

static void profile_all(void)
{
	profile_add(func("f", 3), 0, 32, now);
	profile_add(func("f", 3), 1, 64, now);
	profile_add(func("f", 3), 2, 128, now);
	profile_add(func("same", 1), 0, 10, now);
	profile_add_edge(func("f", 3), 0, 2, 30, now);
	profile_add_edge(func("f", 3), 0, 1, 10, now);
	profile_add_edge(func("f", 3), 2, 0, 5, now);
}

static void make(struct code_query q)
{
	uint32_t heat[2] = {0}, none = 0;
	struct profile_func *f;
	size_t i;

	code_input_map(&in, &m, t.nslot);
	for (i = 0; i < t.func.n; i++) {
		f = profile_get(&p, &t.func.v[i].key);
		code_input_add(&in, &t.func.v[i], f, now, f ? &heat[f - p.func.v] : &none);
		if (q.find && hash_equal(&t.func.v[i].key, &q.key))
			vec_push(
			    &in.find, (struct code_func){t.func.v[i].slot, t.func.v[i].nblock, 0});
	}
	code_make(&in, &q, &c);
	code_name(&c, &t);
}

static const char *name_of(uint32_t i)
{
	ck_assert_uint_lt(i, c.function.n);
	return t.func.v[c.function.v[i]].name;
}

static void expect_cell(size_t i, uint32_t bytes, double samples, const char *function)
{
	const struct code_cell *k = &c.cell_at.v[i];

	ck_assert_uint_lt(i, c.cell_at.n);
	ck_assert_uint_eq(k->bytes, bytes);
	ck_assert_double_eq_tol(k->samples, samples, 1e-9);
	if (function)
		ck_assert_str_eq(name_of(k->function), function);
	else
		ck_assert_uint_eq(k->function, CODE_NONE);
}

START_TEST(lines_have_the_samples_of_their_bytes)
{
	profile_all();
	make((struct code_query){.cells = 4096});
	ck_assert_uint_eq(c.begin, 0x1000);
	ck_assert_uint_eq(c.end, 0x1340);
	ck_assert_uint_eq(c.cell, 64);
	ck_assert_uint_eq(c.cell_at.n, 13);
	ck_assert_double_eq_tol(c.samples, 234, 1e-9);
	ck_assert_double_eq_tol(c.within, 234, 1e-9);
	/* Each of the two places of block 2 has half its samples, half of them in the first line.
	 */
	expect_cell(0, 0x30, 32 + 32, "f");
	expect_cell(1, 0x20, 32 + 5, "f");
	expect_cell(2, 0x10, 5, "h");
	expect_cell(3, 0, 0, NULL);
	expect_cell(8, 0x40, 64, "f");
	expect_cell(9, 0x20, 64, "f");
	expect_cell(12, 0x20, 0, NULL);
}
END_TEST

START_TEST(cells_are_whole_lines)
{
	profile_all();
	make((struct code_query){.cells = 5});
	ck_assert_uint_eq(c.cell, 3 * 64);
	ck_assert_uint_eq(c.cell_at.n, 5);
	expect_cell(0, 0x60, 32 + 64 + 10, "f");
	expect_cell(1, 0, 0, NULL);
	expect_cell(2, 0x40, 64, "f");
	expect_cell(3, 0x20, 64, "f");
	expect_cell(4, 0x20, 0, NULL);
}
END_TEST

START_TEST(a_window_has_its_blocks_and_edges)
{
	profile_all();
	make((struct code_query){.from = 0x1045, .to = 0x1055, .cells = 100});
	ck_assert_uint_eq(c.from, 0x1040);
	ck_assert_uint_eq(c.to, 0x1080);
	ck_assert_double_eq_tol(c.within, 37, 1e-9);
	ck_assert_double_eq_tol(c.samples, 234, 1e-9);
	ck_assert_uint_eq(c.nblock, 2);
	ck_assert_uint_eq(c.block.n, 2);
	ck_assert_uint_eq(c.block.v[0].offset, 0x1030);
	ck_assert_uint_eq(c.block.v[0].size, 0x20);
	ck_assert_uint_eq(c.block.v[0].block, 2);
	ck_assert_double_eq_tol(c.block.v[0].samples, 64, 1e-9);
	ck_assert_str_eq(name_of(c.block.v[0].function), "f");
	ck_assert_str_eq(name_of(c.block.v[1].function), "g");
	code_add_edges(&c, c.block.v[0].function, func("f", 3), now);
	ck_assert_uint_eq(c.edge.n, 1); /* those of block 0 are elsewhere */
	ck_assert_uint_eq(c.edge.v[0].block, 2);
	ck_assert_uint_eq(c.edge.v[0].to, 0);
	ck_assert_double_eq_tol(c.edge.v[0].n, 5, 1e-9);
}
END_TEST

START_TEST(copies_say_their_edges_once)
{
	profile_all();
	make((struct code_query){.cells = 100});
	code_add_edges(&c, c.block.v[0].function, func("f", 3), now);
	ck_assert_uint_eq(c.edge.n, 3);
}
END_TEST

START_TEST(functions_are_found)
{
	profile_all();
	make((struct code_query){.cells = 1, .find = true, .key = hash_bytes("f", 1)});
	ck_assert_uint_eq(c.part.n, 2);
	ck_assert_uint_eq(c.part.v[0].from, 0x1010);
	ck_assert_uint_eq(c.part.v[0].to, 0x1050);
	ck_assert_uint_eq(c.part.v[1].from, 0x1200);
	ck_assert_uint_eq(c.part.v[1].to, 0x1260);
}
END_TEST

START_TEST(windows_beyond_the_code_are_empty)
{
	profile_all();
	make((struct code_query){.from = 0x5000, .to = UINT32_MAX, .cells = 10});
	ck_assert_uint_eq(c.cell_at.n, 0);
	ck_assert_uint_eq(c.nblock, 0);
	ck_assert_double_eq(c.within, 0);
}
END_TEST

START_TEST(without_code_and_samples_there_is_nothing)
{
	m.range.n = 0;
	make((struct code_query){.cells = 10});
	ck_assert_uint_eq(c.cell_at.n, 0);
	ck_assert_double_eq(c.samples, 0);
}
END_TEST

/* The end of the first 4 GiB, and more blocks than are listed. */
START_TEST(bounds_hold)
{
	uint32_t i;

	m.range.n = 0;
	for (i = 0; i < 10000; i++)
		add_range(UINT32_MAX - 200000 + 20 * i, 20, i % 5);
	profile_all();
	make((struct code_query){.cells = CODE_CELLS_MAX});
	ck_assert_uint_le(c.cell_at.n, CODE_CELLS_MAX);
	ck_assert_uint_eq(c.nblock, 10000);
	ck_assert_uint_eq(c.block.n, 0);
	ck_assert_double_eq_tol(c.samples, 234, 1e-6);
}
END_TEST

UNIT_MAIN("codemap", 30, setup, teardown, lines_have_the_samples_of_their_bytes,
    cells_are_whole_lines, a_window_has_its_blocks_and_edges, copies_say_their_edges_once,
    functions_are_found, windows_beyond_the_code_are_empty,
    without_code_and_samples_there_is_nothing, bounds_hold)
