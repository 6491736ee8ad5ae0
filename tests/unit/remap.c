#include "managerd/samples/remap.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static const double hl = 1000;

static struct decay at(int64_t now_ms)
{
	return (struct decay){now_ms, hl};
}
static struct profile p;
static struct map_table t;

static struct hash128 key(const char *s)
{
	return hash_bytes(s, strlen(s));
}

static void sample(const char *k, uint32_t nblock, uint32_t block, double n)
{
	struct hash128 h = key(k);

	profile_add(profile_put(&p, &h, k, "a.c", NULL, nblock), block, n, at(1000));
}

static void table(const char *k, uint32_t ord, uint32_t nblock)
{
	map_table_add(&t,
	    &(struct map_func){
		.key = key(k), .tu = 1, .ord = ord, .nblock = nblock, .name = k, .tu_name = "b.c"});
}

static void teardown(void)
{
	profile_free(&p);
	map_table_free(&t);
	t = (struct map_table){0};
}

static double of(const char *k, uint32_t block)
{
	struct hash128 h = key(k);

	return profile_blocks(profile_get(&p, &h))[block];
}

START_TEST(same_program_keeps_all)
{
	struct remap_result r;

	sample("f", 3, 2, 50);
	sample("g", 1, 0, 7);
	table("f", 0, 3);
	table("g", 1, 1);
	map_table_end(&t, NULL);
	r = remap_profile(&p, &t, at(1000));
	ck_assert_uint_eq(r.kept, 2);
	ck_assert_uint_eq(r.discarded, 0);
	ck_assert_uint_eq(r.fresh, 0);
	ck_assert_double_eq(of("f", 2), 50);
	ck_assert_double_eq(of("g", 0), 7);
	ck_assert_double_eq(r.samples_kept, 57);
}
END_TEST

START_TEST(outcomes_go_with_their_function)
{
	struct hash128 f = key("f"), g = key("g");

	sample("f", 3, 2, 50);
	sample("g", 1, 0, 7);
	profile_add_edge(profile_get(&p, &f), 0, 2, 6, at(1000));
	profile_add_call(profile_get(&p, &f), 1, &g, 4, at(1000));
	table("f", 0, 3);
	map_table_end(&t, NULL);
	remap_profile(&p, &t, at(1000));
	ck_assert_uint_eq(profile_get(&p, &f)->edge.n, 1);
	ck_assert_double_eq(profile_get(&p, &f)->edge.v[0].n, 6);
	ck_assert_uint_eq(profile_get(&p, &f)->call.n, 1);
}
END_TEST

START_TEST(rebuilt_program_keeps_equal_functions)
{
	struct remap_result r;
	struct hash128 gone = key("f-old");

	sample("f-old", 3, 2, 50);
	sample("g", 1, 0, 7);
	table("f-new", 0, 3);
	table("g", 1, 1);
	map_table_end(&t, NULL);
	r = remap_profile(&p, &t, at(1000));
	ck_assert_uint_eq(r.kept, 1);
	ck_assert_uint_eq(r.discarded, 1);
	ck_assert_uint_eq(r.fresh, 1);
	ck_assert_double_eq(r.samples_kept, 7);
	ck_assert_double_eq(r.samples_discarded, 50);
	ck_assert_double_eq(of("g", 0), 7);
	ck_assert_double_eq(of("f-new", 2), 0);
	ck_assert_ptr_null(profile_get(&p, &gone));
	ck_assert_uint_eq(p.func.n, 2);
}
END_TEST

/* The same static function in two units is one function to the profile. */
START_TEST(equal_keys_are_one)
{
	table("inline", 0, 2);
	table("inline", 1, 2);
	map_table_end(&t, NULL);
	sample("inline", 2, 1, 5);
	ck_assert_uint_eq(remap_profile(&p, &t, at(1000)).kept, 1);
	ck_assert_uint_eq(p.func.n, 1);
	ck_assert_double_eq(of("inline", 1), 5);
}
END_TEST

START_TEST(other_shape_is_another_function)
{
	sample("f", 3, 2, 50);
	table("f", 0, 4);
	map_table_end(&t, NULL);
	ck_assert_uint_eq(remap_profile(&p, &t, at(1000)).discarded, 1);
	ck_assert_double_eq(of("f", 2), 0);
}
END_TEST

UNIT_MAIN("remap", 0, NULL, teardown, same_program_keeps_all, outcomes_go_with_their_function,
    rebuilt_program_keeps_equal_functions, equal_keys_are_one, other_shape_is_another_function)
