#include "editor/infer/sparse.h"
#include "tests/cfggen.h"
#include "tests/unit/unit.h"

static struct arena mem;

static void setup(void)
{
	mem = (struct arena){0};
}

static void teardown(void)
{
	arena_free(&mem);
}

/* A matrix like a graph's: each pair pulls its ends together, each unknown is
 * held a little. Sets its entries, and right = the matrix times x. */
static void fill(struct sparse *s, const uint32_t *pair, size_t npair, const double *x,
    double *right, struct rng *r)
{
	uint32_t a, b, i;
	double w;
	size_t p;

	sparse_clear(s);
	for (i = 0; i < s->n; i++) {
		*sparse_entry(s, i, i) += 0.01;
		right[i] = 0.01 * x[i];
	}
	for (p = 0; p < npair; p++) {
		a = pair[2 * p];
		b = pair[2 * p + 1];
		w = exp(4 * rng_normal(r));
		if (a == b)
			continue;
		*sparse_entry(s, a, a) += w;
		*sparse_entry(s, b, b) += w;
		*sparse_entry(s, a, b) -= w;
		right[a] += w * (x[a] - x[b]);
		right[b] += w * (x[b] - x[a]);
	}
}

static uint32_t *pairs(uint32_t n, size_t npair, struct rng *r)
{
	uint32_t *pair = arena_array(&mem, 2 * npair, sizeof *pair);
	size_t p;

	for (p = 0; p < npair; p++) {
		pair[2 * p] = (uint32_t)(rng_next(r) % n);
		pair[2 * p + 1] = p % 3 ? (pair[2 * p] + 1 + (uint32_t)(rng_next(r) % 4)) % n
					: (uint32_t)(rng_next(r) % n);
	}
	return pair;
}

START_TEST(solves_what_it_was_asked)
{
	struct rng r = {(uint64_t)_i + 1};
	uint32_t n = 1 + (uint32_t)(rng_next(&r) % 120), i, round;
	size_t npair = 3 * (size_t)n;
	uint32_t *pair = pairs(n, npair, &r);
	double *x = arena_array(&mem, n, sizeof *x), *right = arena_array(&mem, n, sizeof *x);
	struct sparse s;

	ck_assert(sparse_analyse(&s, n, pair, npair, UINT64_MAX, &mem));
	for (round = 0; round < 2; round++) { /* one analysis, several matrices */
		for (i = 0; i < n; i++)
			x[i] = rng_normal(&r);
		fill(&s, pair, npair, x, right, &r);
		sparse_factor(&s);
		sparse_solve(&s, right);
		for (i = 0; i < n; i++)
			ck_assert_double_lt(fabs(right[i] - x[i]), 1e-6);
	}
}
END_TEST

START_TEST(a_chain_fills_nothing)
{
	enum { N = 1000 };
	uint32_t pair[2 * N], i;
	struct sparse s;

	for (i = 0; i < N; i++) {
		pair[2 * i] = i;
		pair[2 * i + 1] = i + 1 < N ? i + 1 : i;
	}
	ck_assert(sparse_analyse(&s, N, pair, N, 2 * N, &mem));
	ck_assert_uint_eq(s.first[N], N - 1);
}
END_TEST

START_TEST(too_much_work_is_refused)
{
	struct rng r = {1};

	ck_assert(
	    !sparse_analyse(&(struct sparse){0}, 300, pairs(300, 9000, &r), 9000, 100000, &mem));
}
END_TEST

START_TEST(what_nothing_holds_is_zero)
{
	const uint32_t pair[] = {0, 1};
	double x[] = {3, 5, 7};
	struct sparse s;

	ck_assert(sparse_analyse(&s, 3, pair, 1, 100, &mem));
	sparse_clear(&s);
	*sparse_entry(&s, 0, 0) = 2;
	*sparse_entry(&s, 1, 1) = 1;
	sparse_factor(&s);
	sparse_solve(&s, x);
	ck_assert_double_eq(x[0], 1.5);
	ck_assert_double_eq(x[1], 5);
	ck_assert_double_lt(fabs(x[2]), 1e-100);
}
END_TEST

UNIT_MAIN("sparse", 0, setup, teardown, UNIT_LOOP(solves_what_it_was_asked, 40),
    a_chain_fills_nothing, too_much_work_is_refused, what_nothing_holds_is_zero)
