#include "managerd/samples/remap.h"
#include "tests/unit/unit.h"

#include <stdio.h>
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

/* ---- changed functions ---- */

static struct profile before;

/* f is changed, g kept; both are in the table, gone is not. */
static void rebuild(void)
{
	sample("f", 3, 2, 50);
	sample("g", 2, 0, 20);
	sample("gone", 1, 0, 30);
	profile_copy_used(&before, &p);
	before.func.v[0].name = "h";
	table("h", 0, 4);
	table("g", 1, 2);
	map_table_end(&t, NULL);
	remap_profile(&p, &t, at(1000));
}

static void teardown_both(void)
{
	profile_free(&before);
	teardown();
}

static int carry(const char *form, struct remap_carried *r, struct err *e)
{
	char h[HASH_HEX], g[HASH_HEX], text[1000];
	struct hash128 kh = key("h"), kg = key("g");

	snprintf(text, sizeof text, form, hash_hex(&kh, h), hash_hex(&kg, g));
	return remap_carry(&p, &before, text, strlen(text), at(1000), r, e);
}

START_TEST(changed_functions_skew_what_is_left)
{
	rebuild();
	ck_assert_double_eq_tol(remap_skew(&before, &p, at(1000)), .5, 1e-9);
	before.func.v[0].name = "of no function there is";
	ck_assert_double_eq(remap_skew(&before, &p, at(1000)), 0);
}
END_TEST

START_TEST(what_was_matched_is_added)
{
	struct remap_carried r;
	struct err e;

	rebuild();
	/* What g kept is not added again, but that it called h is. */
	ck_assert_int_eq(
	    carry("h#%1$s 3 40.5\ng#%2$s 0 20\nh#%1$s 3 > 0 7\ng#%2$s 1 @ h#%1$s 4\n", &r, &e), 0);
	ck_assert_double_eq(of("h", 3), 40.5);
	ck_assert_double_eq(of("g", 0), 20);
	ck_assert_uint_eq(p.func.v[0].edge.n, 1);
	ck_assert_uint_eq(p.func.v[1].call.n, 1);
	ck_assert_uint_eq(r.changed, 1);
	ck_assert_uint_eq(r.renamed, 0);
	ck_assert_double_eq(r.samples, 40.5);
	ck_assert_double_eq_tol(r.lost, 39.5, 1e-6);
}
END_TEST

/* Every line is read before one is added. */
START_TEST(hostile_profiles_are_refused)
{
	static const char *const text[][2] = {
	    {"h#%1$s 3 40\nh#%1$s 4 1\n", "line 2: names a block that h does not have"},
	    {"h#%1$s 3 40\nh#%1$s 0 > 4 1\n", "line 2: names a block"},
	    {"h#%1$s 3 40\ng 0 1\n", "line 2: names a function"},
	    {"h#%1$s 3 40\nh#%1$.8s 0 1\n", "line 2: names a function"},
	    {"h#%1$s 3 40\nh#%1$s 0 @ x 1\n", "line 2: names a function"},
	    {"h#%1$s 3 40\nh#%1$s 0 x\n", "line 2: expected a number"},
	    {"h#%1$s 3 40\nh#%1$s 2 70\n", "more samples than there were"}};
	struct remap_carried r;
	struct err e;
	size_t i;

	rebuild();
	for (i = 0; i < sizeof text / sizeof *text; i++) {
		ck_assert_int_eq(carry(text[i][0], &r, &e), -1);
		ck_assert_msg(strstr(e.text, text[i][1]), "%s", e.text);
		ck_assert_double_eq(of("h", 3), 0);
	}
}
END_TEST

UNIT_MAIN("remap", 0, NULL, teardown, same_program_keeps_all, outcomes_go_with_their_function,
    rebuilt_program_keeps_equal_functions, equal_keys_are_one, other_shape_is_another_function,
    UNIT_CASE(0, NULL, teardown_both), changed_functions_skew_what_is_left,
    what_was_matched_is_added, hostile_profiles_are_refused)
