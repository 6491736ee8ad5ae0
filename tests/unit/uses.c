/* CPU time of processes, by their builds: those that run, begin, end. */
#include "monitor-client/uses.h"
#include "tests/unit/unit.h"

#include <string.h>

#define SECOND 1000000000ULL

static const struct build_id a = {1, {1}}, b = {1, {2}}, both[] = {{1, {1}}, {1, {2}}};
static struct wire_use use[WIRE_RUN_BUILDS_MAX];
static struct uses u;
static uint64_t now;
static uint32_t n;

static void setup(void)
{
	now = 1000 * SECOND;
}

static void teardown(void)
{
	uses_free(&u);
}

/* A round of 10 s; -1: it does not run. */
static void round_of(double first_s, double second_s)
{
	uses_begin(&u, now += 10 * SECOND);
	if (second_s >= 0)
		uses_process(&u, 20, (uint64_t)(second_s * 1e9), NULL, both, 2);
	if (first_s >= 0)
		uses_process(&u, 10, (uint64_t)(first_s * 1e9), NULL, &a, 1);
	n = uses_end(&u, use);
}

static void is(const struct build_id *id, uint32_t processes, double cpu_s)
{
	uint32_t i;

	for (i = 0; i < n && !build_id_equal(&use[i].id, id);)
		i++;
	ck_assert_uint_lt(i, n);
	ck_assert_uint_eq(use[i].processes, processes);
	ck_assert_double_eq_tol((double)use[i].cpu_ns / 1e9, cpu_s, 1e-6);
}

/* What there was before the first round does not count; what begins later does, from its begin. */
START_TEST(what_runs_is_added_up)
{
	round_of(3600, -1);
	ck_assert_uint_eq(n, 1);
	is(&a, 1, 0);
	round_of(3605, -1);
	is(&a, 1, 5);
	round_of(3606, 2);
	is(&a, 2, 8);
	is(&b, 1, 2);
	round_of(-1, 4);
	is(&a, 1, 10);
	round_of(-1, -1);
	is(&a, 0, 10);
	is(&b, 0, 4);
}
END_TEST

/* A process that maps a build late brings no past of more than the round's time. */
START_TEST(a_past_is_no_use)
{
	round_of(1, -1);
	round_of(1, 1e6);
	is(&b, 1, 0);
	round_of(1, 1e6 + 3);
	is(&b, 1, 3);
	/* Another one with the id. */
	round_of(0.5, 1);
	is(&b, 1, 4);
	is(&a, 2, 4.5);
}
END_TEST

START_TEST(ends_count_once)
{
	round_of(100, -1);
	round_of(101, -1);
	uses_ended(&u, 10, 103 * SECOND, &a);
	round_of(-1, -1);
	is(&a, 0, 3);
	/* Its record came before the round that still saw it. */
	round_of(-1, 1);
	uses_ended(&u, 20, SECOND, &a);
	uses_ended(&u, 20, SECOND, &b);
	round_of(-1, -1);
	is(&a, 0, 4);
	is(&b, 0, 1);
	/* Between two rounds. */
	uses_ended(&u, 30, 2 * SECOND, &a);
	round_of(-1, -1);
	is(&a, 0, 6);
	/* Long after it was seen. */
	round_of(-1, -1);
	round_of(-1, -1);
	ck_assert_uint_eq(u.process.n, 0);
}
END_TEST

/* What the CPU counted comes as gains, and adds up beside the clock. */
START_TEST(counts_are_added_up)
{
	static const struct cycles_gain gain = {300, 200};

	round_of(3, 5);
	ck_assert_uint_eq(use[0].cycles + use[1].cycles, 0);
	uses_begin(&u, now += 10 * SECOND);
	uses_process(&u, 20, 6 * SECOND, &gain, both, 2);
	uses_process(&u, 10, 4 * SECOND, &gain, &a, 1);
	n = uses_end(&u, use);
	is(&a, 2, 2);
	ck_assert_uint_eq(use[0].cycles, 400);
	ck_assert_uint_eq(use[0].instructions, 600);
	ck_assert_uint_eq(use[1].cycles, 200);
	round_of(-1, -1);
	ck_assert_uint_eq(use[0].cycles, 400);
}
END_TEST

START_TEST(builds_are_bounded)
{
	struct build_id id = {2, {0}};
	unsigned i;

	uses_begin(&u, now);
	for (i = 0; i < WIRE_RUN_BUILDS_MAX + 10; i++) {
		id.b[1] = (uint8_t)i;
		uses_process(&u, i + 1, 0, NULL, &id, 1);
		uses_ended(&u, i + 1, 5, &id);
	}
	ck_assert_uint_eq(uses_end(&u, use), WIRE_RUN_BUILDS_MAX);
}
END_TEST

UNIT_MAIN("uses", 0, setup, teardown, what_runs_is_added_up, a_past_is_no_use, ends_count_once,
    counts_are_added_up, builds_are_bounded)
