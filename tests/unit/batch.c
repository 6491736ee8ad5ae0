/* Summing, bounds, and frames that add up. */
#include "monitor-client/batch.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct batch b;
static struct arena mem;
static struct wire_batch w;

static void setup(void)
{
	b = (struct batch){.start_ns = 100};
}

static void teardown(void)
{
	batch_free(&b);
	arena_free(&mem);
}

static void place(char id, uint32_t uid, uint64_t offset, const char *path)
{
	struct build_id bid = {.n = 20};

	memset(bid.b, id, 20);
	batch_place(&b, &(struct place){.id = &bid, .path = path, .offset = offset, .uid = uid});
}

/* Flushes and reads back; the decoder refuses what does not add up. */
static uint64_t flush(uint64_t seq)
{
	struct buf out = {0};
	struct err e;
	enum wire_type type;
	uint64_t n = batch_flush(&b, 9, seq, 200, &out, NULL);

	if (out.n) {
		ck_assert_int_eq(wire_frame(out.p, out.n, &type, &e), (long)out.n);
		ck_assert_int_eq(type, WIRE_BATCH);
		ck_assert_msg(wire_get_batch(out.p, out.n, &mem, &w, &e) == 0, "%s", e.text);
	} else {
		ck_assert_uint_eq(n, 0);
		w = (struct wire_batch){0};
	}
	buf_free(&out);
	return n;
}

START_TEST(equal_places_are_summed)
{
	int i;

	for (i = 0; i < 100; i++) {
		place('a', 1, (uint64_t)(i % 3) * 16, "/a");
		place('b', 1, 7, "/b");
	}
	ck_assert_uint_eq(flush(3), 200);
	ck_assert_uint_eq(w.session, 9);
	ck_assert_uint_eq(w.seq, 3);
	ck_assert_uint_eq(w.start_ns, 100);
	ck_assert_uint_eq(w.end_ns, 200);
	ck_assert_uint_eq(w.nmodule, 2);
	ck_assert_str_eq(w.module[0].path, "/a");
	ck_assert_uint_eq(w.module[0].nsample, 3);
	ck_assert_uint_eq(w.module[0].sample[0].count, 34);
	ck_assert_uint_eq(w.module[0].sample[1].count, 33);
	ck_assert_uint_eq(w.module[0].sample[2].offset, 32);
	ck_assert_uint_eq(w.module[1].sample[0].count, 100);
}
END_TEST

START_TEST(users_and_paths_are_kept_apart)
{
	place('a', 1, 5, "/a");
	place('a', 2, 5, "/a");
	place('a', 1, 5, "/copy/of/a");
	place('a', 1, 5, "/a");
	ck_assert_uint_eq(flush(1), 4);
	ck_assert_uint_eq(w.nmodule, 3);
	ck_assert_uint_eq(w.module[0].uid, 1);
	ck_assert_uint_eq(w.module[0].sample[0].count, 2);
	ck_assert_uint_eq(w.module[1].uid, 2);
	ck_assert_str_eq(w.module[2].path, "/copy/of/a");
	ck_assert_uint_eq(w.module[2].sample[0].count, 1);
}
END_TEST

START_TEST(what_has_no_place_is_counted)
{
	batch_kernel(&b);
	batch_kernel(&b);
	batch_outside(&b);
	batch_dropped(&b, 1000);
	place('a', 1, 5, "/a");
	ck_assert_uint_eq(flush(1), 1004);
	ck_assert_uint_eq(w.kernel, 2);
	ck_assert_uint_eq(w.outside, 1);
	ck_assert_uint_eq(w.dropped, 1000);
	ck_assert_uint_eq(w.taken, 1004);
}
END_TEST

START_TEST(a_flush_begins_anew)
{
	place('a', 1, 5, "/a");
	batch_kernel(&b);
	ck_assert_uint_eq(flush(1), 2);
	ck_assert_uint_eq(flush(2), 0);
	place('b', 1, 6, "/b");
	ck_assert_uint_eq(flush(2), 1);
	ck_assert_uint_eq(w.start_ns, 200);
	ck_assert_uint_eq(w.nmodule, 1);
	ck_assert_str_eq(w.module[0].path, "/b");
}
END_TEST

START_TEST(too_many_places_are_dropped_and_counted)
{
	uint64_t i;

	for (i = 0; i < BATCH_ENTRIES + 500; i++)
		place('a', 1, i, "/a");
	ck_assert_uint_eq(flush(1), BATCH_ENTRIES + 500);
	ck_assert_uint_eq(w.dropped, 500);
	ck_assert_uint_eq(w.module[0].nsample, BATCH_ENTRIES);
}
END_TEST

/* The same place over and over takes no room. */
START_TEST(many_samples_of_few_places_fit)
{
	uint64_t i;

	for (i = 0; i < 3 * BATCH_ENTRIES; i++)
		place('a', 1, i % 1000, "/a");
	ck_assert_uint_le(b.entry.cap, BATCH_ENTRIES);
	ck_assert_uint_eq(flush(1), 3 * BATCH_ENTRIES);
	ck_assert_uint_eq(w.dropped, 0);
	ck_assert_uint_eq(w.module[0].nsample, 1000);
}
END_TEST

START_TEST(paths_are_bounded)
{
	char path[4096];
	uint32_t uid, fit = BATCH_PATHS / sizeof path;

	memset(path, 'x', sizeof path);
	path[0] = '/';
	path[sizeof path - 1] = '\0';
	for (uid = 0; uid < fit + 10; uid++)
		place('a', uid, 1, path);
	ck_assert_uint_eq(flush(1), fit + 10);
	ck_assert_uint_eq(w.nmodule, fit);
	ck_assert_uint_eq(w.dropped, 10);
}
END_TEST

START_TEST(one_users_paths_leave_room_for_others)
{
	char path[4096];
	unsigned i, fit = BATCH_PATHS / 2 / sizeof path;

	memset(path, 'x', sizeof path);
	path[0] = '/';
	path[sizeof path - 1] = '\0';
	for (i = 0; i < 4 * fit; i++) {
		path[i % 4000 + 1] = 'y';
		place('a', 1, 1, path);
	}
	place('a', 2, 1, "/a");
	flush(1);
	ck_assert_uint_le(w.nmodule, fit + 2);
	ck_assert_uint_ge(w.nmodule, fit);
	ck_assert_uint_eq(w.module[w.nmodule - 1].uid, 2);
}
END_TEST

/* The module's place is known, but no room for its sample: it is left out. */
START_TEST(a_module_without_samples_is_left_out)
{
	uint64_t i;

	for (i = 0; i < BATCH_ENTRIES; i++)
		place('a', 1, i, "/a");
	place('b', 1, 1, "/b");
	ck_assert_uint_eq(flush(1), BATCH_ENTRIES + 1);
	ck_assert_uint_eq(w.nmodule, 1);
	ck_assert_uint_eq(w.dropped, 1);
}
END_TEST

static void run(char id, uint64_t cpu)
{
	struct build_id bid = {1, {(uint8_t)id}};

	batch_run(&b, &bid, &(struct wire_run){.build = 77, .cpu_ns = cpu});
}

START_TEST(runs_go_without_samples)
{
	run('a', 1);
	run('b', 2);
	run('a', 3);
	ck_assert_uint_eq(flush(1), 0);
	ck_assert_uint_eq(w.nrun, 3);
	ck_assert_uint_eq(w.nrun_build, 2);
	ck_assert_uint_eq(w.run[2].build, 0);
	ck_assert_uint_eq(w.run[2].cpu_ns, 3);
	ck_assert_int_eq(w.run_build[w.run[1].build].b[0], 'b');
	ck_assert_uint_eq(flush(2), 0);
	ck_assert_uint_eq(w.seq, 0);
	b.runs_unsent = 4;
	flush(2);
	ck_assert_uint_eq(w.runs_unsent, 4);
	flush(3);
	ck_assert_uint_eq(w.seq, 0);
}
END_TEST

START_TEST(runs_are_bounded)
{
	int i;

	for (i = 0; i <= WIRE_RUN_BUILDS_MAX; i++)
		run((char)i, 1);
	for (i = 0; i < WIRE_RUNS_MAX; i++)
		run(0, 1);
	flush(1);
	ck_assert_uint_eq(w.nrun, WIRE_RUNS_MAX);
	ck_assert_uint_eq(w.nrun_build, WIRE_RUN_BUILDS_MAX);
	ck_assert_uint_eq(w.runs_unsent, 1 + WIRE_RUN_BUILDS_MAX);
}
END_TEST

static int64_t extra(char id, uint64_t offset)
{
	struct build_id bid = {.n = 20};

	memset(bid.b, id, 20);
	return batch_extra(
	    &b, &(struct place){.id = &bid, .path = "/x", .offset = offset, .uid = 1});
}

static void boosted(void)
{
	size_t i;

	for (i = 0; i < b.module.n; i++)
		b.module.v[i].boosted = b.module.v[i].id.b[0] == 'x';
}

START_TEST(extra_samples_do_not_add_up)
{
	int i;

	place('a', 1, 5, "/a");
	for (i = 0; i < 6; i++)
		ck_assert_int_eq(extra('x', (uint64_t)(8 * (i % 3))), 1);
	place('x', 1, 8, "/x");
	b.plain = 2;
	b.extra = 9;
	boosted();
	ck_assert_uint_eq(flush(1), 2);
	ck_assert_uint_eq(w.taken, 2);
	ck_assert_uint_eq(w.plain, 2);
	ck_assert_uint_eq(w.extra, 9);
	ck_assert(!w.module[0].boosted && w.module[1].boosted);
	ck_assert_uint_eq(w.module[1].nsample, 1);
	ck_assert_uint_eq(w.module[1].sample[0].offset, 8);
	ck_assert_uint_eq(w.module[1].nextra, 3);
	ck_assert_uint_eq(w.module[1].extra[2].offset, 16);
	ck_assert_uint_eq(w.module[1].extra[2].count, 2);
	/* And without any other. */
	extra('x', 4);
	b.extra = 1;
	boosted();
	ck_assert_uint_eq(flush(2), 0);
	ck_assert_uint_eq(w.seq, 2);
	ck_assert_uint_eq(w.nmodule, 1);
	ck_assert_uint_eq(w.module[0].extra[0].count, 1);
}
END_TEST

START_TEST(extra_samples_leave_room_for_others)
{
	uint64_t i, kept = 0;

	for (i = 0; i < BATCH_ENTRIES; i++)
		kept += extra('x', 2 * i) >= 0;
	ck_assert_uint_eq(kept, BATCH_ENTRIES / 2);
	for (i = 0; i < BATCH_ENTRIES / 2; i++)
		place('x', 1, 2 * i + 1, "/x");
	b.extra = kept;
	boosted();
	ck_assert_uint_eq(flush(1), BATCH_ENTRIES / 2);
	ck_assert_uint_eq(w.dropped, 0);
	ck_assert_uint_eq(w.module[0].nextra, kept);
}
END_TEST

static void elsewhere(
    enum wire_elsewhere_kind kind, uint32_t uid, const char *name, uint64_t address)
{
	if (kind == WIRE_KERNEL)
		batch_kernel(&b);
	else
		batch_outside(&b);
	elsewheres_add(&b.elsewhere,
	    &(struct elsewhere){.kind = kind, .uid = uid, .name = name, .address = address});
}

START_TEST(places_elsewhere_are_summed)
{
	elsewhere(WIRE_KERNEL, 0, "[kernel]", 9);
	elsewhere(WIRE_ANONYMOUS, 1, "node", 5);
	elsewhere(WIRE_ANONYMOUS, 2, "node", 5);
	elsewhere(WIRE_KERNEL, 0, "[kernel]", 7);
	elsewhere(WIRE_KERNEL, 0, "[kernel]", 9);
	ck_assert_uint_eq(flush(1), 5);
	ck_assert_uint_eq(w.kernel, 3);
	ck_assert_uint_eq(w.outside, 2);
	ck_assert_uint_eq(w.nelsewhere, 3);
	ck_assert_uint_eq(w.elsewhere[0].nsample, 2);
	ck_assert_uint_eq(w.elsewhere[0].sample[0].offset, 7);
	ck_assert_uint_eq(w.elsewhere[0].sample[0].count, 1);
	ck_assert_uint_eq(w.elsewhere[0].sample[1].count, 2);
	ck_assert_uint_eq(w.elsewhere[2].uid, 2);
	/* The next batch begins without them. */
	elsewhere(WIRE_FILE, 1, "/x", 1);
	ck_assert_uint_eq(flush(2), 1);
	ck_assert_uint_eq(w.nelsewhere, 1);
	ck_assert_uint_eq(w.elsewhere[0].kind, WIRE_FILE);
}
END_TEST

/* They are counted all the same. */
START_TEST(places_elsewhere_are_bounded_and_shared)
{
	uint64_t i;

	for (i = 0; i < 2 * ELSEWHERE_SAMPLES; i++)
		elsewhere(WIRE_ANONYMOUS, 1, "jit", i);
	for (i = 0; i < 1000; i++)
		elsewhere(WIRE_ANONYMOUS, 2, "jit", i);
	ck_assert_uint_eq(flush(1), 2 * ELSEWHERE_SAMPLES + 1000);
	ck_assert_uint_eq(w.outside, 2 * ELSEWHERE_SAMPLES + 1000);
	ck_assert_uint_eq(w.nelsewhere, 2);
	ck_assert_uint_eq(w.elsewhere[0].nsample, ELSEWHERE_SAMPLES / 2);
	ck_assert_uint_eq(w.elsewhere[1].nsample, 1000);
}
END_TEST

START_TEST(names_elsewhere_are_bounded_and_shared)
{
	char name[32];
	uint32_t i;

	for (i = 0; i < ELSEWHERE_NAMES / 64; i++) {
		snprintf(name, sizeof name, "/x/%u", i);
		elsewhere(WIRE_FILE, 1, name, 1);
	}
	elsewhere(WIRE_FILE, 2, "/y", 1);
	ck_assert_uint_eq(flush(1), ELSEWHERE_NAMES / 64 + 1);
	ck_assert_uint_lt(w.nelsewhere, ELSEWHERE_NAMES / 64 / 2);
	ck_assert_uint_gt(w.nelsewhere, ELSEWHERE_NAMES / 64 / 4);
	ck_assert_uint_eq(w.elsewhere[w.nelsewhere - 1].uid, 2);
}
END_TEST

UNIT_MAIN("batch", 60, setup, teardown, equal_places_are_summed, users_and_paths_are_kept_apart,
    what_has_no_place_is_counted, a_flush_begins_anew, too_many_places_are_dropped_and_counted,
    many_samples_of_few_places_fit, paths_are_bounded, one_users_paths_leave_room_for_others,
    extra_samples_do_not_add_up, extra_samples_leave_room_for_others,
    a_module_without_samples_is_left_out, runs_go_without_samples, runs_are_bounded,
    places_elsewhere_are_summed, places_elsewhere_are_bounded_and_shared,
    names_elsewhere_are_bounded_and_shared)
