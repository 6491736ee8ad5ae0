/* What leaves the monitor of samples in code that is in no wanted build. */
#include "monitor-client/batch.h"
#include "monitor-client/maps/lookup.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct maps *m;
static struct batch b;
static struct arena mem;
static struct wire_batch w;
static struct buf out;
static struct lookup no_reader = {.fd = -1};

static void map(uint64_t start, uint64_t end, uint64_t off, char id, const char *path)
{
	struct event ev = {.kind = EV_MAP, .time = 1, .pid = 5, .tid = 5};

	ev.map = (struct event_map){
	    .start = start, .end = end, .pgoff = off, .path = (char *)path, .id.n = 20};
	memset(ev.map.id.b, id, 20);
	maps_event(m, &ev);
}

/* Builds a and b are wanted, c is not. */
static void setup(void)
{
	b = (struct batch){.start_ns = 1};
	m = maps_new("/nonexistent", &no_reader, 7, false);
	map(0x401000, 0x409000, 0x1000, 'a', "/a");
	map(0x501000, 0x509000, 0x1000, 'b', "/b");
	map(0x700000, 0x800000, 0, 'c', "/c");
}

static void teardown(void)
{
	maps_free(m);
	batch_free(&b);
	buf_free(&out);
	arena_free(&mem);
}

static bool wanted(const struct build_id *id, void *arg)
{
	ck_assert_ptr_null(arg);
	return id->b[0] != 'c';
}

/* As the monitor does with one in c, or with ip 0 in the kernel. */
static struct callers_sites sample(struct event_regs *regs, uint64_t ip)
{
	struct event ev = {.kind = EV_SAMPLE,
	    .time = 9,
	    .pid = 5,
	    .tid = 5,
	    .sample = {.ip = ip, .mode = ip ? MODE_USER : MODE_KERNEL, .regs = regs}};
	uint32_t callee = CALLEE_KERNEL;
	struct callers_sites from;
	struct place at = {0};

	if (ip) {
		ck_assert(maps_find(m, &ev, &at));
		callee = (uint32_t)batch_place(&b, &at);
	} else {
		batch_kernel(&b);
	}
	callers_sites(&from, m, &ev, wanted, NULL);
	batch_caller(&b, callee, at.offset, &from);
	return from;
}

static void flush(void)
{
	struct err e;

	out.n = 0;
	ck_assert_uint_gt(batch_flush(&b, 1, 1, 2, &out, NULL), 0);
	ck_assert_msg(!wire_get_batch(out.p, out.n, &mem, &w, &e), "%s", e.text);
}

START_TEST(words_that_point_into_wanted_builds_are_sites)
{
	struct event_regs regs = {.gpr = {0x5ec2e7},
	    .nword = 7,
	    .word = {0x5ec2e75ec2e7, 0x700010, 0x502345, 0x402345, 0x502345, 0x409000, 0x7fffff}};

	sample(&regs, 0x700100);
	sample(&regs, 0x700100);
	flush();
	ck_assert_uint_eq(w.ncaller, 1);
	ck_assert_uint_eq(w.caller->count, 2);
	ck_assert_uint_eq(w.caller->address, 0x100);
	ck_assert(!w.caller->direct);
	ck_assert_str_eq(w.module[w.caller->callee].path, "/c");
	/* Of modules that have no samples; and after the first one what is other code. */
	ck_assert_uint_eq(w.caller->looked, 7);
	ck_assert_uint_eq(w.caller->nsite, 4);
	ck_assert_str_eq(w.module[w.caller->site[0].module].path, "/b");
	ck_assert_uint_eq(w.caller->site[0].offset, 0x2345);
	ck_assert_uint_eq(w.caller->site[0].word, 2);
	ck_assert_uint_eq(w.caller->site[1].word, 3);
	ck_assert_str_eq(w.module[w.caller->site[1].module].path, "/a");
	ck_assert_uint_eq(w.module[w.caller->site[1].module].nsample, 0);
	ck_assert_uint_eq(w.caller->site[2].word, 4);
	ck_assert_uint_eq(w.caller->site[2].offset, 0x2345);
	ck_assert_uint_eq(w.caller->site[3].word, 6);
	ck_assert_uint_eq(w.caller->site[3].module, WIRE_OTHER_CODE);
	ck_assert_ptr_null(memmem(out.p, out.n, &regs.word[0], 6));
	ck_assert_ptr_null(memmem(out.p, out.n, &regs.gpr[0], 3));
	/* The next batch begins without them. */
	regs.nword = 2;
	sample(&regs, 0x700100);
	flush();
	ck_assert_uint_eq(w.ncaller, 0);
	ck_assert_uint_eq(w.nmodule, 1);
}
END_TEST

START_TEST(the_kernel_worked_for_the_interrupted_code)
{
	struct event_regs regs = {.ip = 0x403000, .nword = 1, .word = {0x502345}};

	sample(&regs, 0);
	regs.ip = 0x700200; /* a system call of c, for b */
	sample(&regs, 0);
	flush();
	ck_assert_uint_eq(w.kernel, 2);
	ck_assert_uint_eq(w.ncaller, 2);
	ck_assert_uint_eq(w.caller[0].callee, w.nmodule);
	ck_assert(!w.caller[0].direct && w.caller[1].direct);
	ck_assert_uint_eq(w.caller[0].site[0].offset, 0x2345);
	ck_assert_str_eq(w.module[w.caller[1].site[0].module].path, "/a");
	ck_assert_uint_eq(w.caller[1].site[0].offset, 0x3000);
}
END_TEST

/* In user mode the instruction is in no wanted build, whatever the registers say. */
START_TEST(only_the_kernel_works_for_the_instruction)
{
	struct event_regs regs = {.ip = 0x403000};

	ck_assert_uint_eq(sample(&regs, 0x700100).n, 0);
}
END_TEST

START_TEST(sites_are_bounded)
{
	struct event_regs regs = {.nword = EVENT_WORDS};
	uint32_t i;

	for (i = 0; i < EVENT_WORDS; i++)
		regs.word[i] = 0x402000 + i;
	sample(&regs, 0x700100);
	flush();
	ck_assert_uint_eq(w.caller->looked, WIRE_SITES);
	ck_assert_uint_eq(w.caller->nsite, WIRE_SITES);
	ck_assert_uint_eq(w.caller->site[WIRE_SITES - 1].offset, 0x2000 + WIRE_SITES - 1);
	/* The last word is looked at, too. */
	memset(regs.word, 0, sizeof regs.word);
	regs.word[EVENT_WORDS - 1] = 0x402000;
	sample(&regs, 0x700100);
	flush();
	ck_assert_uint_eq(w.caller->looked, EVENT_WORDS);
	ck_assert_uint_eq(w.caller->site[0].word, EVENT_WORDS - 1);
}
END_TEST

/* One user takes half of the room; the samples count all the same. */
START_TEST(callers_are_bounded)
{
	const uint32_t room = CALLERS_BYTES / (WIRE_CALLER_MAX + WIRE_SITE_MAX);
	struct event_regs regs = {.nword = 1, .word = {0x402000}};
	uint32_t i;

	for (i = 0; i < room; i++)
		sample(&regs, 0x700000 + i);
	flush();
	ck_assert_uint_eq(w.taken, room);
	ck_assert_uint_eq(w.ncaller, room / 2);
	sample(&regs, 0x700000);
	flush();
	ck_assert_uint_eq(w.ncaller, 1);
}
END_TEST

/* Of a process whose mappings may have changed unseen nothing is said. */
START_TEST(suspect_mappings_name_nobody)
{
	struct event ev = {.kind = EV_SAMPLE, .time = 9, .pid = 5, .tid = 5};
	struct maps_code code[3];

	ck_assert_uint_eq(maps_code(m, &ev, wanted, NULL, code, 2), 0);
	ck_assert_uint_eq(maps_code(m, &ev, wanted, NULL, code, 3), 3);
	ck_assert(code[0].chosen && code[1].chosen && !code[2].chosen);
	ck_assert_uint_eq(code[1].start, 0x501000);
	ck_assert_uint_eq(code[1].begin.offset, 0x1000);
	ck_assert_str_eq(code[1].begin.path, "/b");
	ev.pid = 6;
	ck_assert_uint_eq(maps_code(m, &ev, wanted, NULL, code, 3), 0);
	ev.pid = 5;
	maps_suspect(m);
	ck_assert_uint_eq(maps_code(m, &ev, wanted, NULL, code, 3), 0);
}
END_TEST

UNIT_MAIN("callers", 20, setup, teardown, words_that_point_into_wanted_builds_are_sites,
    the_kernel_worked_for_the_interrupted_code, only_the_kernel_works_for_the_instruction,
    sites_are_bounded, callers_are_bounded, suspect_mappings_name_nobody)
