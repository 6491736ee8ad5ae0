#include "morphctl/report/show/breakdown.h"
#include "common/sort.h"
#include "tests/unit/unit.h"

static struct recording r;
static uint32_t event, prog, libc, main_at, main_inner, copy_at, unnamed;

static uint32_t at(uint32_t file, uint64_t offset, const char *name, uint32_t line)
{
	struct recording_function f = {
	    .name = name, .source = "a.c", .file = file, .start = offset & ~0xfful};
	struct recording_frame frame = {recording_function(&r, &f), line, 0};
	uint32_t i = recording_location(&r, file, offset);

	recording_resolve(&r, i, &frame, 1);
	return i;
}

static void sample(uint32_t stack, uint64_t n)
{
	recording_sample(&r, &(struct recording_sample){.event = event,
				 .task = recording_task(&r, 7, 7, "prog"),
				 .stack = stack,
				 .n = n,
				 .period = 100 * n});
}

static void setup(void)
{
	event = recording_event(&r, "cpu-clock", "ns");
	prog = recording_file(&r, RECORDING_ELF, "/opt/prog", NULL, 0);
	libc = recording_file(&r, RECORDING_ELF, "/lib/libc.so.6", NULL, 0);
	main_at = at(prog, 0x1010, "main", 3);
	main_inner = at(prog, 0x1020, "main", 4);
	copy_at = at(libc, 0x2010, "memcpy", 9);
	unnamed = recording_location(&r, prog, 0x9000);
	sample(recording_stack(&r, RECORDING_NONE, main_at), 2);
	sample(recording_stack(&r, RECORDING_NONE, main_inner), 1);
	sample(recording_stack(&r, recording_stack(&r, RECORDING_NONE, main_at), copy_at), 4);
	sample(recording_stack(&r, RECORDING_NONE, unnamed), 1);
	sample(RECORDING_NONE, 2);
}

static void teardown(void)
{
	recording_free(&r);
}

static struct breakdown of(enum breakdown_level level, const char *module, const char *function)
{
	struct breakdown_query q = {level, event, module, function};
	struct breakdown t;

	breakdown_make(&t, &r, &q);
	return t;
}

START_TEST(modules_have_their_own_and_what_they_called)
{
	struct breakdown t = of(BREAKDOWN_MODULE, NULL, NULL);

	ck_assert_uint_eq(t.row.n, 3);
	ck_assert_uint_eq(t.n, 10);
	ck_assert(t.chains);
	/* prog and libc have 4 samples each; prog called libc. */
	ck_assert_uint_eq(t.row.v[0].file, prog);
	ck_assert_uint_eq(t.row.v[0].n, 4);
	ck_assert_double_eq_tol(t.row.v[0].total, 800, 1e-9);
	ck_assert_uint_eq(t.row.v[1].file, libc);
	ck_assert_double_eq_tol(t.row.v[1].total, 400, 1e-9);
	ck_assert_uint_eq(t.row.v[2].file, RECORDING_NONE);
	breakdown_free(&t);
}
END_TEST

START_TEST(a_module_is_meant_by_its_name_or_path)
{
	struct breakdown t = of(BREAKDOWN_FUNCTION, "prog", NULL),
			 u = of(BREAKDOWN_FUNCTION, "/opt/prog", NULL),
			 none = of(BREAKDOWN_FUNCTION, "rog", NULL);

	ck_assert_uint_eq(t.row.n, 2);
	ck_assert_uint_eq(u.row.n, 2);
	ck_assert_uint_eq(none.row.n, 0);
	ck_assert_uint_eq(t.row.v[0].n, 3);
	ck_assert_str_eq(r.function.v[t.row.v[0].function].name, "main");
	ck_assert_uint_eq(t.row.v[1].function, RECORDING_NONE);
	ck_assert_uint_eq(t.n, 10);
	breakdown_free(&t);
	breakdown_free(&u);
	breakdown_free(&none);
}
END_TEST

START_TEST(lines_and_addresses_of_a_function)
{
	struct breakdown lines = of(BREAKDOWN_LINE, "prog", "main"),
			 places = of(BREAKDOWN_ADDRESS, "prog", "main");

	ck_assert_uint_eq(lines.row.n, 2);
	ck_assert_uint_eq(lines.row.v[0].line, 3);
	ck_assert_str_eq(lines.row.v[0].source, "a.c");
	ck_assert_uint_eq(places.row.v[1].offset, 0x1020);
	breakdown_free(&lines);
	breakdown_free(&places);
}
END_TEST

START_TEST(a_modules_functions_are_charged_with_others)
{
	struct breakdown_query q = {BREAKDOWN_FUNCTION, event, "prog", NULL, true};
	uint32_t stack = recording_stack(&r, RECORDING_NONE, main_at);
	struct breakdown t;

	/* Code of prog that libc called is its own; what libc called is for it. */
	stack = recording_stack(&r, recording_stack(&r, stack, copy_at), unnamed);
	sample(recording_stack(&r, recording_stack(&r, stack, copy_at), copy_at), 20);
	sample(recording_stack(&r, RECORDING_NONE, copy_at), 50);
	breakdown_make(&t, &r, &q);
	ck_assert_uint_eq(t.row.n, 2);
	/* The one with 1 + 20 comes before that with 3 + 4. */
	ck_assert_uint_eq(t.row.v[0].function, RECORDING_NONE);
	ck_assert_uint_eq(t.row.v[0].n, 1);
	ck_assert_double_eq_tol(t.row.v[0].charged, 2000, 1e-9);
	ck_assert_double_eq_tol(t.row.v[1].self, 300, 1e-9);
	ck_assert_double_eq_tol(t.row.v[1].charged, 400, 1e-9);
	breakdown_free(&t);
}
END_TEST

/* Of chains that end at the nearest caller nothing is said in total. */
START_TEST(partial_chains_are_none)
{
	struct breakdown t;

	r.partial = true;
	t = of(BREAKDOWN_MODULE, NULL, NULL);
	ck_assert(!t.chains);
	ck_assert_double_eq_tol(t.row.v[0].total, t.row.v[0].self, 1e-9);
	breakdown_free(&t);
}
END_TEST

START_TEST(processes_have_all_their_samples)
{
	struct breakdown t = of(BREAKDOWN_PROCESS, NULL, NULL);

	ck_assert_uint_eq(t.row.n, 1);
	ck_assert_uint_eq(t.row.v[0].n, 10);
	breakdown_free(&t);
}
END_TEST

START_TEST(sums_of_samples_stay)
{
	size_t n = r.sample.n;

	sample(recording_stack(&r, RECORDING_NONE, main_at), 5);
	recording_sum(&r);
	ck_assert_uint_eq(r.sample.n, n);
	struct breakdown t = of(BREAKDOWN_FUNCTION, "prog", "main");
	ck_assert_uint_eq(t.row.v[0].n, 8);
	breakdown_free(&t);
}
END_TEST

/* Of prog, with six samples of main. */
static uint32_t another_build(void)
{
	struct build_id id = {.n = 1, .b = {1}};
	uint32_t next = recording_file(&r, RECORDING_ELF, "/opt/prog", &id, 0);

	sample(recording_stack(&r, RECORDING_NONE, at(next, 0x5010, "main", 3)), 6);
	return next;
}

START_TEST(builds_of_a_path_are_one_module)
{
	uint32_t next = another_build();

	sample(recording_stack(&r, RECORDING_NONE, at(next, 0x1010, "fresh", 8)), 3);
	struct breakdown modules = of(BREAKDOWN_MODULE, NULL, NULL),
			 functions = of(BREAKDOWN_FUNCTION, "prog", NULL),
			 lines = of(BREAKDOWN_LINE, "prog", "main"),
			 places = of(BREAKDOWN_ADDRESS, "prog", "main");

	ck_assert_uint_eq(modules.row.n, 3);
	ck_assert_uint_eq(modules.row.v[0].file, prog);
	ck_assert_uint_eq(modules.row.v[0].n, 13);
	ck_assert_uint_eq(functions.row.n, 3);
	ck_assert_uint_eq(functions.row.v[0].n, 9);
	ck_assert_str_eq(r.function.v[functions.row.v[1].function].name, "fresh");
	ck_assert_uint_eq(lines.row.n, 2);
	ck_assert_uint_eq(lines.row.v[0].n, 8);
	ck_assert_uint_eq(places.row.n, 3);
	ck_assert_uint_eq(places.row.v[0].file, next);
	breakdown_free(&modules);
	breakdown_free(&functions);
	breakdown_free(&lines);
	breakdown_free(&places);
}
END_TEST

/* Of two functions of a name, as units have static ones. */
START_TEST(functions_of_the_first_build_stay_apart)
{
	another_build();
	sample(recording_stack(&r, RECORDING_NONE, at(prog, 0x7010, "main", 90)), 1);
	struct breakdown functions = of(BREAKDOWN_FUNCTION, "prog", "main");

	ck_assert_uint_eq(functions.row.n, 2);
	ck_assert_uint_eq(functions.row.v[0].n, 9);
	ck_assert_uint_eq(functions.row.v[1].n, 1);
	breakdown_free(&functions);
}
END_TEST

UNIT_MAIN("breakdown", 0, setup, teardown, modules_have_their_own_and_what_they_called,
    a_module_is_meant_by_its_name_or_path, lines_and_addresses_of_a_function,
    processes_have_all_their_samples, a_modules_functions_are_charged_with_others,
    partial_chains_are_none, sums_of_samples_stay, builds_of_a_path_are_one_module,
    functions_of_the_first_build_stay_apart)
