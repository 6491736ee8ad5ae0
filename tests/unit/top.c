#include "morphctl/report/top/top.h"
#include "tests/unit/unit.h"

static struct recording r;
static struct top t;
static struct arena mem;

static uint32_t code(const char *file, const char *function, uint64_t offset)
{
	uint32_t f = recording_file(&r, RECORDING_ELF, file, NULL, 0);
	struct recording_function fn = {
	    .name = function, .source = "s.c", .file = f, .start = offset & ~0xfful};
	struct recording_frame frame = {recording_function(&r, &fn), (uint32_t)offset & 0xff, 0};
	uint32_t at = recording_location(&r, f, offset);

	recording_resolve(&r, at, &frame, 1);
	return at;
}

static void sample(uint32_t caller, uint32_t at, uint64_t n, uint32_t pid)
{
	recording_sample(&r, &(struct recording_sample){.event = recording_event(&r, "tick", "ns"),
				 .task = recording_task(&r, pid, pid, "cc1"),
				 .stack = recording_stack(&r, caller, at),
				 .n = n,
				 .period = n * 1000});
}

static void setup(void)
{
	uint32_t main_at = code("/bin/b", "main", 0x101), hot = code("/bin/a", "hot", 0x1105);

	sample(recording_stack(&r, RECORDING_NONE, main_at), hot, 10, 1);
	sample(RECORDING_NONE, code("/bin/a", "hot", 0x1107), 3, 1);
	sample(RECORDING_NONE, code("/bin/a", "cold", 0x2201), 1, 2);
	sample(RECORDING_NONE, main_at, 6, 2);
	top_update(&t, &r);
}

static void teardown(void)
{
	top_free(&t);
	recording_free(&r);
	arena_free(&mem);
}

static const char *name(size_t i)
{
	return top_name(&t, &t.rows.row.v[i], &mem);
}

START_TEST(keys_descend_and_come_back)
{
	ck_assert_str_eq(name(0), "/bin/a");
	top_key(&t, TOP_ENTER);
	ck_assert_str_eq(name(0), "hot");
	ck_assert_str_eq(name(1), "cold");
	top_key(&t, TOP_ENTER);
	ck_assert_uint_eq(t.rows.row.n, 2);
	ck_assert_str_eq(name(0), "s.c:5");
	top_key(&t, TOP_ENTER);
	ck_assert_str_eq(name(0), "1105");
	top_key(&t, TOP_ENTER);
	ck_assert_str_eq(name(0), "1105");
	top_key(&t, TOP_LEAVE);
	top_key(&t, TOP_LEAVE);
	ck_assert_str_eq(name(0), "hot");
	top_key(&t, TOP_LEAVE);
	top_key(&t, TOP_LEAVE);
	ck_assert_str_eq(name(1), "/bin/b");
}
END_TEST

START_TEST(rows_are_sorted_by_turns)
{
	top_key(&t, TOP_SORT);
	ck_assert_str_eq(name(0), "/bin/b"); /* 6 and, called from it, 10 */
	top_key(&t, TOP_SORT);
	ck_assert_str_eq(name(0), "/bin/a");
	top_key(&t, TOP_SORT);
	ck_assert_uint_eq(t.sort, TOP_SELF);
}
END_TEST

START_TEST(the_selection_stays_within_the_rows)
{
	top_key(&t, TOP_UP);
	ck_assert_uint_eq(t.selected, 0);
	top_key(&t, TOP_LAST);
	top_key(&t, TOP_DOWN);
	ck_assert_uint_eq(t.selected, 1);
	r.sample.n = 1;
	top_update(&t, &r);
	ck_assert_uint_lt(t.selected, t.rows.row.n);
	r.sample.n = 0;
	top_update(&t, &r);
	ck_assert_uint_eq(t.rows.row.n, 0);
	top_key(&t, TOP_ENTER);
	top_key(&t, TOP_LAST);
	ck_assert_uint_eq(t.selected, 0);
}
END_TEST

START_TEST(processes_are_a_view_of_their_own)
{
	top_key(&t, TOP_ENTER);
	top_key(&t, TOP_PROCESSES);
	ck_assert_str_eq(name(0), "1 cc1");
	ck_assert_uint_eq(t.rows.row.v[0].n, 13);
	top_key(&t, TOP_PROCESSES);
	ck_assert_str_eq(name(0), "/bin/a");
}
END_TEST

START_TEST(windows_and_pauses_say_when_to_fetch)
{
	unsigned i;

	for (i = 0; top_window(i); i++)
		ck_assert(top_key(&t, TOP_WINDOW));
	ck_assert_uint_eq(t.window, 0);
	ck_assert(!top_key(&t, TOP_PAUSE));
	ck_assert(top_key(&t, TOP_PAUSE));
	ck_assert(!top_key(&t, TOP_QUIT));
	ck_assert(t.quit);
}
END_TEST

UNIT_MAIN("top", 0, setup, teardown, keys_descend_and_come_back, rows_are_sorted_by_turns,
    the_selection_stays_within_the_rows, processes_are_a_view_of_their_own,
    windows_and_pauses_say_when_to_fetch)
