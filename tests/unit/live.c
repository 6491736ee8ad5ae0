#include "morphctl/report/top/live.h"
#include "tests/unit/unit.h"

static struct recording r;
static struct live l;

static void fetched(uint64_t a, uint64_t b)
{
	uint32_t file = recording_file(&r, RECORDING_ELF, "/bin/x", NULL, 0), i;
	uint64_t n[2] = {a, b};

	r.sample.n = 0;
	for (i = 0; i < 2; i++)
		if (n[i])
			recording_sample(&r,
			    &(struct recording_sample){.event = recording_event(&r, "time", "ns"),
				.task = RECORDING_NONE,
				.stack = recording_stack(
				    &r, RECORDING_NONE, recording_location(&r, file, i)),
				.n = n[i],
				.period = 4 * n[i]});
	live_take(&l, &r);
}

static uint64_t count(uint64_t offset)
{
	size_t i;

	for (i = 0; i < r.sample.n; i++)
		if (r.location.v[r.stack.v[r.sample.v[i].stack].location].offset == offset)
			return r.sample.v[i].n;
	return 0;
}

START_TEST(what_was_there_before_does_not_count)
{
	fetched(100, 0);
	ck_assert_uint_eq(r.sample.n, 0);
	fetched(103, 2);
	ck_assert_uint_eq(count(0), 3);
	ck_assert_uint_eq(count(1), 2);
	/* A period went. */
	fetched(10, 5);
	ck_assert_uint_eq(count(0), 3);
	ck_assert_uint_eq(count(1), 5);
	fetched(11, 0);
	ck_assert_uint_eq(count(0), 4);
	ck_assert_uint_eq(count(1), 5);
	ck_assert_uint_eq(r.sample.v[0].period, 16);
	live_free(&l);
	recording_free(&r);
}
END_TEST

UNIT_MAIN("live", 0, NULL, NULL, what_was_there_before_does_not_count)
