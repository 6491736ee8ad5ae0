#include "managerd/samples/profile.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double hl = 10; /* seconds */
static struct profile p;

static struct hash128 key(const char *s)
{
	return hash_bytes(s, strlen(s));
}

static struct profile_func *put(struct profile *to, const char *name, uint32_t nblock)
{
	struct hash128 k = key(name);

	return profile_put(to, &k, name, "a.c", NULL, nblock);
}

static void teardown(void)
{
	profile_free(&p);
}

static struct decay at(int64_t now_ms)
{
	return (struct decay){now_ms, hl};
}

START_TEST(half_life)
{
	ck_assert_double_eq(decay_since(at(0), 0), 1);
	ck_assert_double_eq(decay_since(at(0), 5000), 1);
	ck_assert_double_eq(decay_since(at(10000), 0), 0.5);
	ck_assert_double_eq(decay_since(at(30000), 0), 0.125);
}
END_TEST

START_TEST(sums_age)
{
	struct profile_func *f = put(&p, "f", 3);

	profile_add(f, 1, 100, at(1000));
	profile_add(f, 1, 10, at(1000));
	ck_assert_double_eq(f->block[1], 110);
	profile_add(f, 2, 8, at(11000));
	ck_assert_double_eq_tol(f->block[1], 55, 1e-9);
	ck_assert_double_eq(f->block[2], 8);
	ck_assert(f->dirty);
	ck_assert_double_eq_tol(profile_total(&p, at(21000)).samples, 31.5, 1e-9);
	ck_assert_double_eq(f->block[2], 8); /* reading changes nothing */
}
END_TEST

START_TEST(outcomes_and_calls_age_with_the_samples)
{
	struct profile_func *f = put(&p, "f", 3), *g = put(&p, "g", 1);
	struct buf out = {0};
	struct hash128 gone = key("gone");
	char hex[HASH_HEX], gex[HASH_HEX], want[400];

	profile_add_edge(f, 1, 2, 6, at(1000));
	profile_add_edge(f, 0, 2, 1, at(1000));
	profile_add_edge(f, 0, 1, 2, at(1000));
	profile_add_edge(f, 1, 2, 2, at(1000));
	profile_add_call(f, 2, &g->key, 4, at(1000));
	profile_add_call(f, 2, &gone, 4, at(1000));
	profile_add_call(f, 0, &g->key, 3, at(1000));
	profile_add_call(f, 2, &g->key, 4, at(1000));
	profile_add(f, 0, 5, at(1000));
	ck_assert_uint_eq(f->edge.n, 3);
	ck_assert_uint_eq(f->call.n, 3);
	profile_add_edge(f, 0, 1, 1, at(11000));
	ck_assert_double_eq_tol(f->edge.v[0].n, 2, 1e-9);
	ck_assert_double_eq_tol(f->edge.v[2].n, 4, 1e-9);
	ck_assert_double_eq_tol(f->block[0], 2.5, 1e-9);
	profile_print(&p, 1, at(21000), &out);
	hash_hex(&f->key, hex);
	hash_hex(&g->key, gex);
	snprintf(want, sizeof want,
	    "f#%s 0 1.250\nf#%s 0 > 1 1.000\nf#%s 0 > 2 0.250\nf#%s 1 > 2 2.000\n"
	    "f#%s 0 @ g#%s 0.750\nf#%s 2 @ g#%s 2.000\n",
	    hex, hex, hex, hex, hex, gex, hex, gex);
	ck_assert_str_eq(buf_cstr(&out), want);
	buf_free(&out);
	/* Sampled more densely: as many samples more for the editor. */
	profile_print(&p, 4, at(21000), &out);
	snprintf(want, sizeof want,
	    "f#%s 0 5.000\nf#%s 0 > 1 4.000\nf#%s 0 > 2 1.000\nf#%s 1 > 2 8.000\n"
	    "f#%s 0 @ g#%s 3.000\nf#%s 2 @ g#%s 8.000\n",
	    hex, hex, hex, hex, hex, gex, hex, gex);
	ck_assert_str_eq(buf_cstr(&out), want);
	buf_free(&out);
	profile_age(f, at(1000000));
	ck_assert_uint_eq(f->edge.n + f->call.n, 0);
}
END_TEST

START_TEST(copies_have_their_outcomes)
{
	struct profile_func *f = put(&p, "f", 2), *g;
	struct profile q;

	profile_add_edge(f, 0, 1, 6, at(1000));
	profile_add_call(f, 1, &f->key, 3, at(1000));
	profile_copy_used(&q, &p);
	profile_add_edge(f, 0, 1, 6, at(1000));
	g = profile_get(&q, &f->key);
	ck_assert_uint_eq(g->edge.n, 1);
	ck_assert_double_eq(g->edge.v[0].n, 6);
	ck_assert_uint_eq(g->call.n, 1);
	ck_assert(hash_equal(&g->call.v[0].callee, &f->key));
	profile_free(&q);
}
END_TEST

/* Of many callers or destinations the first ones stay, until they are forgotten. */
START_TEST(pairs_of_a_function_are_bounded)
{
	enum { BLOCKS = 1000, MANY = 2 * PROFILE_EDGES_MAX };
	struct profile_func *f = put(&p, "f", BLOCKS);
	struct hash128 callee = key("g");
	uint32_t i;

	for (i = 0; i < MANY; i++) {
		profile_add_edge(f, i / BLOCKS, i % BLOCKS, 1, at(1000));
		profile_add_predecessor(f, i / BLOCKS, i % BLOCKS, 1, at(1000));
		callee.b[0] = (uint8_t)(i / BLOCKS);
		profile_add_call(f, i % BLOCKS, &callee, 1, at(1000));
	}
	ck_assert_uint_eq(f->edge.n, PROFILE_EDGES_MAX);
	ck_assert_uint_eq(f->predecessors.n, PROFILE_EDGES_MAX);
	ck_assert_uint_eq(f->call.n, PROFILE_CALLS_MAX);
	for (i = 1; i < f->call.n; i++)
		ck_assert(
		    f->call.v[i - 1].block < f->call.v[i].block ||
		    (f->call.v[i - 1].block == f->call.v[i].block &&
			memcmp(&f->call.v[i - 1].callee, &f->call.v[i].callee, sizeof callee) < 0));
	profile_add_edge(f, 0, 0, 1, at(1000));
	ck_assert_double_eq(f->edge.v[0].n, 2);
	profile_age(f, at(1000000));
	profile_add_edge(f, 0, 0, 1, at(1000000));
	profile_add_call(f, 0, &callee, 1, at(1000000));
	ck_assert_uint_eq(f->edge.n, 1);
	ck_assert_uint_eq(f->call.n, 1);
}
END_TEST

START_TEST(predecessors_are_printed_where_nearly_all_resolve)
{
	struct profile_func *f = put(&p, "f", 4);
	struct buf out = {0};

	profile_add_predecessor(f, 3, 1, 6, at(1000));
	profile_add_predecessor(f, 3, 2, 4, at(1000));
	profile_add_predecessor(f, 3, PROFILE_UNRESOLVED, 1, at(1000));
	profile_add_predecessor(f, 2, 1, 8, at(1000));
	profile_add_predecessor(f, 2, PROFILE_UNRESOLVED, 1, at(1000));
	profile_print(&p, 1, at(1000), &out);
	ck_assert_ptr_nonnull(strstr(buf_cstr(&out), " 3 < 1 6.000\n"));
	ck_assert_ptr_nonnull(strstr(buf_cstr(&out), " 3 < 2 4.000\n"));
	ck_assert_ptr_null(strstr(buf_cstr(&out), " 2 < "));
	profile_add_predecessor(f, 2, 1, 3, at(1000));
	out.n = 0;
	profile_print(&p, 1, at(1000), &out);
	ck_assert_ptr_nonnull(strstr(buf_cstr(&out), " 2 < 1 11.000\n"));
	profile_age(f, at(11000));
	ck_assert_double_eq_tol(f->predecessors.v[0].n, 5.5, 1e-9);
	buf_free(&out);
}
END_TEST

START_TEST(clock_back_changes_nothing)
{
	struct profile_func *f = put(&p, "f", 1);

	profile_add(f, 0, 100, at(50000));
	profile_add(f, 0, 1, at(20000));
	ck_assert_double_eq(f->block[0], 101);
	ck_assert_int_eq(f->as_of_ms, 50000);
}
END_TEST

START_TEST(old_samples_vanish)
{
	struct profile_func *f = put(&p, "f", 1);

	profile_add(f, 0, 100, at(1000));
	profile_age(f, at(1000000));
	ck_assert_double_eq(f->block[0], 0);
	ck_assert_uint_eq(profile_total(&p, at(1000000)).functions, 0);
}
END_TEST

/* Merging in two steps or in one is the same. */
START_TEST(ageing_composes)
{
	struct profile q = {0};
	struct profile_func *f = put(&p, "f", 1), *g = put(&q, "f", 1);

	profile_add(f, 0, 1000, at(1000));
	profile_age(f, at(4000));
	profile_age(f, at(9000));
	profile_add(g, 0, 1000, at(1000));
	profile_age(g, at(9000));
	ck_assert_double_eq_tol(f->block[0], g->block[0], 1e-9);
	profile_free(&q);
}
END_TEST

START_TEST(a_key_is_one_function)
{
	struct profile_func *f = put(&p, "f", 3);
	struct hash128 k = key("f");

	ck_assert_ptr_eq(put(&p, "f", 3), f);
	ck_assert_ptr_null(put(&p, "f", 4));
	ck_assert_ptr_eq(profile_get(&p, &k), f);
	k = key("g");
	ck_assert_ptr_null(profile_get(&p, &k));
}
END_TEST

START_TEST(understood_apart)
{
	struct hash128 k = key("asm");
	struct profile_func *f = put(&p, "f", 1);

	profile_add(f, 0, 30, at(1000));
	f = profile_put(&p, &k, "asm", "a.c", "inline asm with labels", 1);
	profile_add(f, 0, 12, at(1000));
	ck_assert_double_eq(profile_total(&p, at(1000)).samples, 42);
	ck_assert_double_eq(profile_total(&p, at(1000)).understood, 30);
	ck_assert_uint_eq(profile_total(&p, at(1000)).functions, 2);
}
END_TEST

START_TEST(distance)
{
	struct profile q = {0}, none = {0};
	double noise;

	profile_add(put(&p, "f", 2), 0, 60, at(1000));
	profile_add(put(&p, "f", 2), 1, 40, at(1000));
	profile_add(put(&q, "f", 2), 0, 400, at(1000));
	profile_add(put(&q, "f", 2), 1, 600, at(1000));
	ck_assert_double_eq_tol(profile_distance(&p, &q, at(1000), &noise), 0.2, 1e-9);
	ck_assert_double_gt(noise, 0.02);
	ck_assert_double_lt(noise, 0.1);
	/* Ageing as a whole is no change of usage, however long ago q was. */
	ck_assert_double_eq_tol(profile_distance(&p, &q, at(91000), NULL), 0.2, 1e-9);
	ck_assert_double_eq_tol(profile_distance(&p, &p, at(1000), NULL), 0, 1e-9);
	profile_add(put(&q, "g", 1), 0, 1e9, at(1000));
	ck_assert_double_gt(profile_distance(&p, &q, at(1000), NULL), 0.999);
	ck_assert_double_eq(profile_distance(&p, &none, at(1000), NULL), 1);
	profile_free(&q);
}
END_TEST

static uint32_t draw_state = 12345;
static double draw(void)
{
	draw_state = draw_state * 1664525 + 1013904223;
	return (draw_state >> 8) / 16777216.0;
}

/* Two draws of one usage differ by about the noise that is foretold; of two
 * usages by much more. */
START_TEST(noise_foretells_chance)
{
	struct profile q = {0};
	struct profile_func *f = put(&p, "f", 500), *g = put(&q, "f", 500);
	double noise, d;
	int i;

	for (i = 0; i < 3000; i++) {
		profile_add(f, (uint32_t)(500 * draw() * draw()), 1, at(1000));
		profile_add(g, (uint32_t)(500 * draw() * draw()), 1, at(1000));
	}
	d = profile_distance(&p, &q, at(1000), &noise);
	ck_assert_double_gt(d, 0.1);
	ck_assert_double_lt(fabs(d - noise), 0.04);
	for (i = 0; i < 3000; i++)
		profile_add(g, (uint32_t)(250 + 250 * draw()), 1, at(1000));
	d = profile_distance(&p, &q, at(1000), &noise);
	ck_assert_double_gt(d - noise, 0.2);
	profile_free(&q);
}
END_TEST

START_TEST(hottest_first)
{
	size_t n, *order;

	profile_add(put(&p, "cool", 1), 0, 1, at(1000));
	put(&p, "never", 1);
	profile_add(put(&p, "hot", 2), 1, 100, at(1000));
	order = profile_hottest(&p, at(1000), &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(p.func.v[order[0]].name, "hot");
	ck_assert_str_eq(p.func.v[order[1]].name, "cool");
	free(order);
}
END_TEST

/* A small function with few samples is worth more of the room than a large one with more. */
START_TEST(densest_first)
{
	size_t n, *order;

	profile_add(put(&p, "large", 90), 0, 90, at(1000));
	profile_add(put(&p, "small", 2), 1, 30, at(1000));
	profile_add(put(&p, "next", 3), 1, 30, at(1000));
	put(&p, "never", 1);
	order = profile_densest(&p, at(1000), 94, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(p.func.v[order[0]].name, "small");
	ck_assert_str_eq(p.func.v[order[1]].name, "next");
	free(order);
	order = profile_densest(&p, at(1000), 95, &n);
	ck_assert_uint_eq(n, 3);
	free(order);
}
END_TEST

START_TEST(samples_file)
{
	struct buf a = {0}, b = {0};
	struct profile q = {0};
	char want[256], hex1[HASH_HEX], hex2[HASH_HEX];
	struct hash128 k1 = key("main"), k2 = key("work.part.0");

	profile_add(put(&p, "work.part.0", 3), 2, 7.25, at(1000));
	profile_add(put(&p, "work.part.0", 3), 0, 1, at(1000));
	profile_add(put(&p, "main", 1), 0, 3, at(1000));
	profile_add(put(&q, "main", 1), 0, 3, at(1000));
	profile_add(put(&q, "work.part.0", 3), 0, 1, at(1000));
	profile_add(put(&q, "work.part.0", 3), 2, 7.25, at(1000));
	profile_print(&p, 1, at(1000), &a);
	profile_print(&q, 1, at(1000), &b);
	snprintf(want, sizeof want,
	    "main#%s 0 3.000\nwork.part.0#%s 0 1.000\nwork.part.0#%s 2 7.250\n",
	    hash_hex(&k1, hex1), hash_hex(&k2, hex2), hex2);
	ck_assert_str_eq(buf_cstr(&a), want);
	ck_assert_str_eq(buf_cstr(&b), want);
	profile_free(&q);
	buf_free(&a);
	buf_free(&b);
}
END_TEST

UNIT_MAIN("merge", 0, NULL, teardown, half_life, sums_age, outcomes_and_calls_age_with_the_samples,
    pairs_of_a_function_are_bounded, predecessors_are_printed_where_nearly_all_resolve,
    copies_have_their_outcomes, clock_back_changes_nothing, old_samples_vanish, ageing_composes,
    a_key_is_one_function, understood_apart, distance, noise_foretells_chance, hottest_first,
    densest_first, samples_file)
