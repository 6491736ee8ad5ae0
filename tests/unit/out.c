#include "morphctl/report/out/out.h"
#include "morphctl/report/out/executed.h"
#include "morphctl/report/out/stacks.h"
#include "morphctl/report/out/text.h"
#include "tests/unit/tinyelf.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <zlib.h>

static struct recording r;
static struct buf out;
static struct err e;
static char module[] = "/tmp/morph-out-XXXXXX";

static void setup(void)
{
	ck_assert_int_ge(mkstemp(module), 0);
	ck_assert_int_eq(tiny_write(module, 7, false, 0), 0);
}

static void teardown(void)
{
	unlink(module);
	recording_free(&r);
	buf_free(&out);
}

/* What a format has of r; NULL where it fails. */
static const char *written_as(const char *format, const char *path)
{
	struct out_options o = {.module = path};

	out.n = 0;
	return out_write(&r, format, &o, &out, &e) ? NULL : buf_cstr(&out);
}

static const char *written(const char *format)
{
	return written_as(format, NULL);
}

static uint32_t function(const char *name, uint32_t file, uint64_t start, uint32_t line)
{
	return recording_function(&r,
	    &(struct recording_function){
		.name = name, .file = file, .start = start, .line = line, .source = "/src/a.c"});
}

/* A location at a line of a function, or in one that was inlined there. */
static uint32_t location(
    uint32_t file, uint64_t offset, struct recording_frame inlined, struct recording_frame f)
{
	uint32_t at = recording_location(&r, file, offset);
	struct recording_frame both[] = {inlined, f};
	bool one = inlined.function == RECORDING_NONE;

	recording_resolve(&r, at, both + one, 2 - one);
	return at;
}

static const struct recording_frame none = {RECORDING_NONE, 0, 0};

static void sample(uint32_t event, uint32_t stack, uint64_t n)
{
	recording_sample(&r, &(struct recording_sample){
				 .event = event, .task = RECORDING_NONE, .stack = stack, .n = n});
}

/* ---- text ---- */

START_TEST(what_is_not_text_becomes_a_question_mark)
{
	text_put(&out, "a;b\n\xff\xc3\xa9\xc2\x85;\x7f", ';', ':');
	ck_assert_str_eq(buf_cstr(&out), "a:b??\xc3\xa9??:?");
	out.n = 0;
	text_json(&out, "\"\\\x01\xed\xa0\x80z");
	ck_assert_str_eq(buf_cstr(&out), "\"\\\"\\\\????z\"");
	ck_assert(text_is_symbol("_ZN1a1bEv.cold"));
	ck_assert(!text_is_symbol("a b") && !text_is_symbol("a\nb") && !text_is_symbol(""));
}
END_TEST

START_TEST(formats_have_names)
{
	const char *summary;
	unsigned i;

	for (i = 0; out_format_name(i, &summary); i++)
		ck_assert_uint_gt(strlen(summary), 0);
	ck_assert_uint_eq(i, 12);
	ck_assert(out_needs_symbols("pprof") && !out_needs_symbols("fdata"));
	ck_assert_ptr_null(written("elf"));
	ck_assert_str_eq(e.text, "elf: no such format");
}
END_TEST

/* Formats of stacks have none; others say so and write nothing. */
START_TEST(an_empty_recording)
{
	static const char *const executable[] = {
	    "preaggregated", "fdata", "autofdo", "llvm", "symbol-order", "section-order"};
	json_t *json;
	size_t i;

	ck_assert_str_eq(written("folded"), "");
	ck_assert_ptr_nonnull(written("pprof"));
	json = json_loads(written("speedscope"), 0, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "profiles")), 0);
	json_decref(json);
	json = json_loads(written("firefox"), 0, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "threads")), 0);
	json_decref(json);
	for (i = 0; i < sizeof executable / sizeof *executable; i++) {
		ck_assert_ptr_null(written(executable[i]));
		ck_assert_str_eq(e.text, "the profile has no samples of an executable");
		ck_assert_uint_eq(out.n, 0);
	}
}
END_TEST

/* ---- stacks ---- */

START_TEST(stacks_are_folded)
{
	uint32_t elf = recording_file(&r, RECORDING_ELF, "/bin/a", NULL, 0);
	uint32_t kernel = recording_file(&r, RECORDING_KERNEL, "[kernel]", NULL, 0);
	uint32_t f = function("f;f", elf, 0, 1), g = function("", elf, 64, 1);
	uint32_t ns = recording_event(&r, "cpu-clock", "ns");
	uint32_t top = recording_stack(&r, RECORDING_NONE,
	    location(elf, 5, (struct recording_frame){g, 2, 0}, (struct recording_frame){f, 3, 0}));

	sample(ns, top, 2);
	sample(ns, recording_stack(&r, top, recording_location(&r, kernel, 9)), 1);
	sample(ns, recording_stack(&r, top, recording_location(&r, elf, 9)), 1);
	sample(
	    ns, recording_stack(&r, RECORDING_NONE, recording_location(&r, RECORDING_NONE, 9)), 1);
	sample(ns, top, 3);
	ck_assert_str_eq(written("folded"), "[unknown] 1\n"
					    "f:f;?_[i] 5\n"
					    "f:f;?_[i];[a] 1\n"
					    "f:f;?_[i];[kernel]_[k] 1\n");
}
END_TEST

static json_t *item(json_t *json, const char *key, size_t i)
{
	return json_array_get(json_object_get(json, key), i);
}

START_TEST(names_stay_within_json)
{
	uint32_t named = recording_file(&r, RECORDING_NAMED, "", NULL, 0);
	uint32_t f = function("a\"],\xff\n\\", named, 0, 0);
	uint32_t at = location(named, 0, none, (struct recording_frame){f, 0, 0});
	json_t *json, *part;

	sample(recording_event(&r, "e\"", "count"), recording_stack(&r, RECORDING_NONE, at), 1);
	json = json_loads(written("speedscope"), 0, NULL);
	part = item(json_object_get(json, "shared"), "frames", 0);
	ck_assert_str_eq(json_string_value(json_object_get(part, "name")), "a\"],??\\");
	json_decref(json);
	json = json_loads(written("firefox"), 0, NULL);
	part = item(json_object_get(json, "shared"), "stringArray", 0);
	ck_assert_str_eq(json_string_value(part), "a\"],??\\");
	json_decref(json);
}
END_TEST

/* Bytes of its gzip format: fixed header without a time, a profile that begins with the types. */
START_TEST(pprof_is_compressed)
{
	uint32_t file = recording_file(&r, RECORDING_ELF, "/bin/a", NULL, 0);
	uint8_t profile[4096];
	z_stream z = {.next_out = profile, .avail_out = sizeof profile};
	char *twice;
	size_t n;

	sample(recording_event(&r, "cycles", "cycles"),
	    recording_stack(&r, RECORDING_NONE, recording_location(&r, file, 4096)), 3);
	ck_assert_ptr_nonnull(written("pprof"));
	n = out.n;
	twice = memcpy(xmalloc(n), out.p, n);
	ck_assert_ptr_nonnull(written("pprof"));
	ck_assert_mem_eq(out.p, twice, n);
	free(twice);
	z.next_in = (Bytef *)out.p;
	z.avail_in = (uInt)out.n;
	ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	/* A sample type of strings 1 and 2; strings "", "samples", "count" (and the path); the
	 * default type, string 1. */
	ck_assert_mem_eq(profile, "\x0a\4\x08\1\x10\2", 6);
	n = z.total_out;
	ck_assert_mem_eq(profile + n - 28, "\x32\0\x32\7samples\x32\5count\x32\6/bin/a", 26);
	ck_assert_mem_eq(profile + n - 2, "\x70\1", 2);
}
END_TEST

/* ---- one executable ---- */

/* Code of the small program, at its offsets 0x1000 and so on. */
static uint32_t tiny_file(uint8_t status)
{
	struct build_id id = tiny_id(status);

	return recording_file(&r, RECORDING_ELF, module, &id, 0);
}

START_TEST(addresses_are_the_elf_files)
{
	uint32_t file = tiny_file(7), other = recording_file(&r, RECORDING_ELF, "/bin/b", NULL, 0);
	uint32_t a = recording_location(&r, file, 0x10), b = recording_location(&r, file, 0x18);
	uint32_t c = recording_location(&r, other, 0x10),
		 far = recording_location(&r, file, 1 << 30);

	recording_branch(&r, a, b, 5, 1);
	recording_branch(&r, c, a, 2, 0);
	recording_branch(&r, RECORDING_NONE, a, 1, 0);
	recording_branch(&r, far, a, 4, 0);
	recording_branch(&r, c, c, 9, 0);
	recording_range(&r, a, b, 6);
	recording_range(&r, b, a, 6);
	recording_range(&r, a, far, 6);
	ck_assert_str_eq(written_as("preaggregated", module), "B 400010 400018 5 1\n"
							      "B X:0 400010 7 0\n"
							      "F 400010 400018 6\n");
	ck_assert_ptr_null(written_as("fdata", module));
	ck_assert_ptr_nonnull(strstr(e.text, "has no symbols"));
}
END_TEST

/* They need no file: offsets are what the format has. */
START_TEST(autofdo_has_offsets)
{
	uint32_t file = recording_file(&r, RECORDING_ELF, "/gone", NULL, 0);
	uint32_t a = recording_location(&r, file, 0x1a), b = recording_location(&r, file, 0x1f);

	recording_range(&r, a, b, 6);
	recording_branch(&r, b, a, 5, 0);
	recording_branch(&r, b, RECORDING_NONE, 5, 0);
	sample(recording_event(&r, "e", "count"), recording_stack(&r, RECORDING_NONE, b), 3);
	sample(0, recording_stack(&r, recording_stack(&r, RECORDING_NONE, a), b), 1);
	ck_assert_str_eq(written("autofdo"), "1\n1a-1f:6\n1\n1f:4\n1\n1f->1a:5\n");
	ck_assert_ptr_null(written("preaggregated"));
	ck_assert_ptr_nonnull(strstr(e.text, "/gone: "));
}
END_TEST

START_TEST(autofdo_without_indirect_calls)
{
	static const uint8_t code[] = {0x41, 0xff, 0xd4, /* call *%r12 */
	    0x3e, 0xff, 0x50, 0x08,                      /* notrack call *8(%rax) */
	    0xe8, 0xff, 0xd0, 0, 0,                      /* call */
	    0xff, 0xe0};                                 /* jmp *%rax */
	uint32_t file = recording_file(&r, RECORDING_ELF, module, NULL, 0);
	uint32_t to = recording_location(&r, file, 0x10);
	int fd = open(module, O_WRONLY);
	unsigned i;

	ck_assert_int_eq(pwrite(fd, code, sizeof code, 0x2000), sizeof code);
	close(fd);
	for (i = 0; i < 4; i++)
		recording_branch(&r,
		    recording_location(&r, file, 0x2000 + (uint32_t[]){0, 3, 7, 12}[i]), to, 5, 0);
	ck_assert_str_eq(written("autofdo-direct"), "0\n0\n2\n2007->10:5\n200c->10:5\n");
	ck_assert_ptr_nonnull(strstr(written("autofdo"), "0\n0\n4\n2000->10:5\n"));
	unlink(module);
	ck_assert_ptr_null(written("autofdo-direct"));
	ck_assert_ptr_nonnull(strstr(e.text, module));
}
END_TEST

START_TEST(names_have_no_addresses)
{
	uint32_t file = recording_file(&r, RECORDING_NAMED, "[named]", NULL, 0);
	uint32_t event = recording_event(&r, "samples", "count");

	sample(event, recording_stack(&r, RECORDING_NONE, recording_location(&r, file, 2)), 9);
	ck_assert_ptr_null(written("autofdo"));
	ck_assert_ptr_nonnull(strstr(e.text, "names code, not where it lies"));
}
END_TEST

START_TEST(the_build_is_the_recorded_one)
{
	uint32_t old = tiny_file(8), file = recording_file(&r, RECORDING_ELF, "/bin/x", NULL, 0);

	recording_range(&r, recording_location(&r, file, 1), recording_location(&r, file, 1), 1);
	recording_range(&r, recording_location(&r, old, 2), recording_location(&r, old, 2), 9);
	ck_assert_ptr_null(written_as("autofdo", module));
	ck_assert_ptr_nonnull(strstr(e.text, "the profile has no samples of this build"));
	ck_assert_ptr_null(written("preaggregated"));
	ck_assert_ptr_nonnull(strstr(e.text, "another build than that of the profile"));
	/* By its build-id, wherever it lay. */
	r.file.v[file].id = tiny_id(7);
	ck_assert_str_eq(written_as("autofdo", module), "1\n1-1:1\n0\n0\n");
	ck_assert_str_eq(written_as("autofdo", NULL), "1\n2-2:9\n0\n0\n");
}
END_TEST

START_TEST(perf2bolt_takes_no_plain_samples)
{
	uint32_t at = recording_location(&r, tiny_file(7), 0x10);

	sample(recording_event(&r, "e", "count"), recording_stack(&r, RECORDING_NONE, at), 3);
	ck_assert_ptr_null(written("preaggregated"));
	ck_assert_ptr_nonnull(strstr(e.text, "fdata"));
}
END_TEST

START_TEST(code_ran_as_often_as_the_ranges_over_it)
{
	uint32_t file = recording_file(&r, RECORDING_ELF, "/bin/a", NULL, 0);
	uint32_t a = recording_location(&r, file, 10), b = recording_location(&r, file, 20);
	uint32_t c = recording_location(&r, file, 15), d = recording_location(&r, file, 21);
	uint64_t *n;
	bool ranges;

	sample(recording_event(&r, "e", "count"), recording_stack(&r, RECORDING_NONE, c), 3);
	n = executed_counts(&r, file, &ranges);
	ck_assert(!ranges && n[a] == 0 && n[c] == 3);
	free(n);
	recording_range(&r, a, b, 4);
	recording_range(&r, b, d, 2);
	recording_range(&r, c, c, 1);
	n = executed_counts(&r, file, &ranges);
	ck_assert(ranges && n[a] == 4 && n[c] == 5 && n[b] == 6 && n[d] == 2);
	free(n);
}
END_TEST

/* A function of so many bytes there, and a location in it. */
static uint32_t sized(
    const char *name, uint32_t file, uint64_t start, uint64_t size, uint64_t offset)
{
	uint32_t f = function(name, file, start, 1);

	r.function.v[f].size = size;
	return location(file, offset, none, (struct recording_frame){f, 1, 0});
}

START_TEST(each_byte_of_what_ran_has_a_location)
{
	uint32_t file = recording_file(&r, RECORDING_ELF, "/bin/a", NULL, 0), i;
	uint32_t a = sized("a", file, 10, 3, 10), b = sized("b", file, 20, 3, 22);
	uint32_t caller = sized("caller", file, 30, 3, 31);
	uint32_t far = sized("far", file, 40, 1ULL << 60, 40);
	static const uint64_t new[] = {11, 12, 20, 21};
	struct out_options o = {0};

	recording_range(&r, a, a, 4);
	recording_location(&r, file, 99); /* of no function */
	sample(recording_event(&r, "e", "count"),
	    recording_stack(&r, recording_stack(&r, RECORDING_NONE, caller), b), 3);
	out_prepare(&r, "folded", &o);
	ck_assert_uint_eq(r.location.n, 5);
	out_prepare(&r, "llvm", &o);
	ck_assert_uint_eq(r.location.n, 5 + 4);
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(r.location.v[5 + i].offset, new[i]);
	/* Whoever made up this size gets no more than there may be. */
	recording_range(&r, far, far, 1);
	executed_locations(&r, file, 50);
	ck_assert_uint_eq(r.location.n, 9 + 50);
}
END_TEST

START_TEST(not_more_locations_than_fit)
{
	uint32_t file = recording_file(&r, RECORDING_ELF, "/bin/a", NULL, 0), i, at;
	char name[2] = "a";

	for (i = 0; i < 4; i++, name[0]++) {
		at = sized(name, file, 100 * i, 22, 100 * i + 21);
		recording_range(&r, at, at, i + 1);
	}
	executed_locations(&r, file, 50);
	ck_assert_uint_eq(r.location.n, 4 + 50);
	/* All of the two hottest, a part of the next one. */
	ck_assert_uint_lt(recording_location(&r, file, 320), 54);
	ck_assert_uint_lt(recording_location(&r, file, 220), 54);
	ck_assert_uint_lt(recording_location(&r, file, 107), 54);
	ck_assert_uint_eq(recording_location(&r, file, 108), 54);
	ck_assert_uint_eq(recording_location(&r, file, 10), 55);
}
END_TEST

static uint32_t main_function, inlined,
    callee; /* of lines 10, 20, 30; of offsets 0x100, -, 0x200 */

/* A loop of main, in which something was inlined and copied, calls something. */
static uint32_t compiled(void)
{
	uint32_t file = recording_file(&r, RECORDING_ELF, "/bin/a", NULL, 0);

	main_function = function("main", file, 0x100, 10);
	inlined = function("in", RECORDING_NONE, UINT64_MAX, 20);
	callee = function("call.isra.0", file, 0x200, 30);
	location(file, 0x100, none, (struct recording_frame){main_function, 10, 0});
	/* First part 3; 2 copies, of which this one is the first. */
	location(file, 0x110, (struct recording_frame){inlined, 22, 3 << 1 | 2 << 8 | 1 << 14},
	    (struct recording_frame){main_function, 12, 0});
	location(file, 0x118, none, (struct recording_frame){main_function, 13, 0});
	location(file, 0x200, none, (struct recording_frame){callee, 31, 0});
	location(file, 0x208, none, (struct recording_frame){callee, 0, 0});
	location(file, 0x300, none,
	    (struct recording_frame){function("main.cold", file, 0x300, 10), 14, 0});
	return file;
}

START_TEST(lines_have_the_counts_of_ranges)
{
	uint32_t file = compiled();
	uint32_t begin = recording_location(&r, file, 0x100),
		 end = recording_location(&r, file, 0x118);
	uint32_t loop = recording_location(&r, file, 0x110),
		 call = recording_location(&r, file, 0x200);

	recording_range(&r, begin, end, 1);
	recording_range(&r, loop, end, 9);
	recording_range(&r, call, recording_location(&r, file, 0x208), 7);
	recording_branch(&r, end, loop, 9, 0);
	recording_branch(&r, end, call, 7, 0);
	recording_branch(&r, end, recording_location(&r, file, 0x300), 2, 0);
	recording_branch(&r, RECORDING_NONE, begin, 1, 0);
	ck_assert_str_eq(written("llvm"), "main:31:1\n"
					  " 0: 1\n"
					  " 3: 10 call:7\n"
					  " 4: 0\n"
					  " 2: in:20\n"
					  "  2.3: 20\n"
					  "call:14:7\n"
					  " 1: 7\n"
					  " 65506: 7\n");
	/* More calls than the most executed of its instructions: several make them. */
	recording_branch(&r, end, call, 4, 0);
	ck_assert_ptr_nonnull(strstr(written("llvm"), " 3: 11 call:11\n"));
}
END_TEST

/* What was included counts its lines from the function's definition, too. */
START_TEST(a_function_of_two_files_is_one)
{
	uint32_t file = recording_file(&r, RECORDING_ELF, "/bin/a", NULL, 0);
	struct recording_function part = {
	    .name = "f", .file = file, .start = 0x100, .source = "/src/in.c"};
	uint32_t a, b;

	a = location(
	    file, 0x100, none, (struct recording_frame){function("f", file, 0x100, 10), 11, 0});
	b = location(
	    file, 0x108, none, (struct recording_frame){recording_function(&r, &part), 3, 0});
	recording_range(&r, a, b, 5);
	ck_assert_str_eq(written("llvm"), "f:10:5\n"
					  " 1: 5\n"
					  " 65529: 5\n");
}
END_TEST

START_TEST(lines_have_the_samples_on_them)
{
	uint32_t file = compiled(), e0 = recording_event(&r, "e", "count");
	uint32_t at = recording_location(&r, file, 0x110),
		 far = recording_location(&r, file, 0x208);

	sample(e0, recording_stack(&r, RECORDING_NONE, at), 4);
	sample(e0, recording_stack(&r, RECORDING_NONE, far), 5);
	ck_assert_str_eq(written("llvm"), "call:5:0\n"
					  " 1: 0\n"
					  " 65506: 5\n"
					  "main:4:0\n"
					  " 0: 0\n"
					  " 3: 0\n"
					  " 4: 0\n"
					  " 2: in:4\n"
					  "  2.3: 4\n");
	r.sample.n = 0;
	at = location(
	    file, 0x400, none, (struct recording_frame){function("as", file, 0x400, 0), 1, 0});
	sample(e0, recording_stack(&r, RECORDING_NONE, at), 5);
	ck_assert_ptr_null(written("llvm"));
	ck_assert_str_eq(e.text, "/bin/a: no source lines are known of what ran in it");
}
END_TEST

START_TEST(functions_are_ordered_by_heat)
{
	uint32_t file = recording_file(&r, RECORDING_ELF, "/bin/a", NULL, 0), i;
	uint32_t other = recording_file(&r, RECORDING_ELF, "/bin/b", NULL, 0);
	static const struct {
		const char *name;
		uint64_t n;
	} hot[] = {{"b", 5}, {"a", 5}, {"c.cold", 9}, {"a\nb", 50}, {"x[0]", 1}};

	for (i = 0; i < 5; i++)
		sample(recording_event(&r, "e", "count"),
		    recording_stack(&r, RECORDING_NONE,
			location(file, i, none,
			    (struct recording_frame){function(hot[i].name, file, i, 0), 0, 0})),
		    hot[i].n);
	sample(0,
	    recording_stack(&r, RECORDING_NONE,
		location(
		    other, 0, none, (struct recording_frame){function("of_b", other, 0, 0), 0, 0})),
	    60);
	ck_assert_str_eq(written_as("symbol-order", "/bin/a"), "c.cold\na\nb\nx[0]\n");
	ck_assert_str_eq(
	    written_as("section-order", "/bin/a"), ".text.unlikely.c\n.text.a\n.text.b\n");
	ck_assert_str_eq(written_as("symbol-order", "/bin/b"), "of_b\n");
}
END_TEST

UNIT_MAIN("out", 20, setup, teardown, what_is_not_text_becomes_a_question_mark, formats_have_names,
    an_empty_recording, stacks_are_folded, names_stay_within_json, pprof_is_compressed,
    addresses_are_the_elf_files, autofdo_has_offsets, autofdo_without_indirect_calls,
    names_have_no_addresses, the_build_is_the_recorded_one, perf2bolt_takes_no_plain_samples,
    code_ran_as_often_as_the_ranges_over_it, each_byte_of_what_ran_has_a_location,
    not_more_locations_than_fit, lines_have_the_counts_of_ranges, a_function_of_two_files_is_one,
    lines_have_the_samples_on_them, functions_are_ordered_by_heat)
