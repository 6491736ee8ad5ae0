#include "editor/layout/funcorder.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct arena mem;

static void setup(void)
{
	mem = (struct arena){0};
}

static void teardown(void)
{
	arena_free(&mem);
}

static void check_order(const struct fo_func *f, uint32_t n, const struct fo_call *call,
    uint32_t ncall, const uint32_t *want)
{
	uint32_t order[64], k;

	ck_assert_uint_le(n, 64);
	funcorder(f, n, call, ncall, order, &mem);
	for (k = 0; k < n; k++)
		ck_assert_msg(
		    order[k] == want[k], "place %u: %u instead of %u", k, order[k], want[k]);
}

START_TEST(nothing_to_order)
{
	uint32_t order[1] = {9};

	funcorder(NULL, 0, NULL, 0, order, &mem);
	ck_assert_uint_eq(order[0], 9);
}
END_TEST

START_TEST(unused_functions_stay_in_order_at_the_end)
{
	static const struct fo_func f[] = {{10, 0}, {10, 5}, {10, 0}, {10, 0}, {10, 9}};
	static const struct fo_call call[] = {{0, 2, 0, 50}, {1, 0, 0, 50}};
	static const uint32_t want[] = {4, 1, 0, 2, 3};

	check_order(f, 5, call, 2, want);
}
END_TEST

START_TEST(without_calls_by_density)
{
	static const struct fo_func f[] = {{100, 100}, {10, 90}, {1000, 500}, {10, 95}};
	static const uint32_t want[] = {3, 1, 0, 2};

	check_order(f, 4, NULL, 0, want);
}
END_TEST

START_TEST(equal_density_by_number)
{
	static const struct fo_func f[] = {{10, 10}, {20, 20}, {30, 30}};
	static const uint32_t want[] = {0, 1, 2};

	check_order(f, 3, NULL, 0, want);
}
END_TEST

/* The callee comes behind a call at the caller's end, before one at its
 * beginning. */
START_TEST(call_sites_decide_the_side)
{
	static const struct fo_func f[] = {{400, 100}, {400, 100}};
	static const struct fo_call late[] = {{0, 1, 390, 100}};
	static const struct fo_call early[] = {{1, 0, 390, 100}};
	static const uint32_t behind[] = {0, 1}, before[] = {1, 0};

	check_order(f, 2, late, 1, behind);
	check_order(f, 2, early, 1, before);
}
END_TEST

/* As C3 has it: the heavier caller gets its callee next to it, and the pairs
 * go by density. 0 calls 2 a thousand times, 1 calls 2 ten times, 3 calls 4. */
START_TEST(callees_go_to_their_heaviest_caller)
{
	static const struct fo_func f[] = {
	    {100, 1000}, {100, 900}, {100, 1000}, {100, 5000}, {100, 5000}};
	static const struct fo_call call[] = {
	    {0, 2, 90, 1000}, {1, 2, 90, 10}, {3, 4, 90, 5000}, {2, 2, 0, 1000000}};
	uint32_t order[5], at[5], k;

	funcorder(f, 5, call, 4, order, &mem);
	for (k = 0; k < 5; k++)
		at[order[k]] = k;
	ck_assert_uint_eq(at[3], 0);
	ck_assert_uint_eq(at[4], 1);
	ck_assert_uint_eq(at[2], at[0] + 1);
}
END_TEST

static uint64_t next(uint64_t *s)
{
	*s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
	return *s >> 33;
}

/* Sum over calls of count by distance of call site and callee. */
static double distance(const struct fo_func *f, uint32_t n, const struct fo_call *c, uint32_t ncall,
    const uint32_t *order)
{
	uint64_t *addr = arena_array(&mem, n, sizeof *addr), at = 0, from, to;
	double sum = 0;
	uint32_t k;

	for (k = 0; k < n; k++) {
		addr[order[k]] = at;
		at += f[order[k]].bytes;
	}
	for (k = 0; k < ncall; k++) {
		from = addr[c[k].caller] + c[k].offset;
		to = addr[c[k].callee];
		sum += (double)c[k].count * (double)(from < to ? to - from : from - to);
	}
	return sum;
}

START_TEST(large_graphs)
{
	enum { N = 1500, CALLS = 6000 };
	struct fo_func *f = arena_array(&mem, N, sizeof *f);
	struct fo_call *c = arena_array(&mem, CALLS, sizeof *c);
	uint32_t *order = arena_array(&mem, N, sizeof *order), k;
	uint32_t *again = arena_array(&mem, N, sizeof *again);
	uint8_t *seen = arena_array(&mem, N, 1);
	uint64_t s = 1;
	double before;

	for (k = 0; k < N; k++) {
		f[k] = (struct fo_func){1 + next(&s) % 2000, next(&s) % 10 ? next(&s) % 100000 : 0};
		order[k] = k;
	}
	for (k = 0; k < CALLS; k++) {
		c[k].caller = (uint32_t)(next(&s) % N);
		c[k].callee = next(&s) % 2 ? (uint32_t)(next(&s) % N) : (c[k].caller * 7 + 1) % N;
		c[k].offset = next(&s) % f[c[k].caller].bytes;
		c[k].count = 1 + next(&s) % 1000;
	}
	before = distance(f, N, c, CALLS, order);
	funcorder(f, N, c, CALLS, order, &mem);
	funcorder(f, N, c, CALLS, again, &mem);
	for (k = 0; k < N; k++) {
		ck_assert_uint_lt(order[k], N);
		ck_assert_uint_eq(seen[order[k]]++, 0);
		ck_assert_uint_eq(order[k], again[k]);
	}
	ck_assert_double_lt(distance(f, N, c, CALLS, order), 0.9 * before);
}
END_TEST

START_TEST(extreme_numbers)
{
	static const struct fo_func f[] = {
	    {1, UINT64_MAX}, {UINT64_MAX / 4, 1}, {1, 1}, {UINT64_MAX / 4, UINT64_MAX}};
	static const struct fo_call call[] = {{0, 1, UINT64_MAX, UINT64_MAX}, {1, 2, 0, 1},
	    {2, 3, UINT64_MAX, 1}, {3, 0, 5, UINT64_MAX}};
	uint32_t order[4], k, sum = 0;

	funcorder(f, 4, call, 4, order, &mem);
	for (k = 0; k < 4; k++)
		sum |= 1U << order[k];
	ck_assert_uint_eq(sum, 15);
}
END_TEST

UNIT_MAIN("funcorder", 60, setup, teardown, nothing_to_order,
    unused_functions_stay_in_order_at_the_end, without_calls_by_density, equal_density_by_number,
    call_sites_decide_the_side, callees_go_to_their_heaviest_caller, large_graphs, extreme_numbers)
