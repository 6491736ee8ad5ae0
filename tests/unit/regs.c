/* What leaves the monitor of a program's registers and stack, and how much. */
#include "monitor-client/batch.h"
#include "monitor-client/maps/lookup.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct maps *m;
static struct batch b;
static struct buf plain, secret;
static struct arena mem;
static struct wire_batch w;

static void map(uint32_t pid, uint64_t start, uint64_t end, uint64_t off, char id)
{
	struct event ev = {.kind = EV_MAP, .time = 1, .pid = pid, .tid = pid};

	ev.map = (struct event_map){.start = start, .end = end, .pgoff = off, .path = "/some/file"};
	ev.map.id.n = 20;
	memset(ev.map.id.b, id, 20);
	maps_event(m, &ev);
}

static struct lookup no_reader = {.fd = -1};

static void setup(void)
{
	b = (struct batch){.start_ns = 1};
	m = maps_new("/nonexistent", &no_reader, 7, false);
	map(5, 0x401000, 0x409000, 0x1000, 'a'); /* two parts of one file */
	map(5, 0x509000, 0x50a000, 0x8000, 'a');
	map(5, 0x700000, 0x800000, 0, 'b');
}

static void teardown(void)
{
	maps_free(m);
	batch_free(&b);
	buf_free(&plain);
	buf_free(&secret);
	arena_free(&mem);
}

static void sample(struct event_regs *regs, uint64_t ip)
{
	struct event ev = {.kind = EV_SAMPLE,
	    .time = 9,
	    .pid = 5,
	    .tid = 5,
	    .sample = {.ip = ip, .mode = MODE_USER, .regs = regs}};
	struct wire_regs r;
	struct place at;

	ck_assert(maps_find(m, &ev, &at));
	regs_of_sample(&r, m, &ev, &at);
	r.module = (uint32_t)batch_place(&b, &at);
	regs_add(&b.regs, &r);
}

static void flush(bool with)
{
	struct err e;

	plain.n = secret.n = 0;
	ck_assert_uint_gt(batch_flush(&b, 1, 1, 2, &plain, with ? &secret : NULL), 0);
	if (secret.n)
		ck_assert_msg(!wire_get_batch(secret.p, secret.n, &mem, &w, &e), "%s", e.text);
}

/* Of the stack the first words go along. Of those behind only words that point
 * into the sample's own build are told, and not their values but places in the
 * file. */
START_TEST(of_the_stack_the_top_and_pointers_into_the_same_code_leave)
{
	struct event_regs regs = {.gpr = {1, [15] = 16},
	    .flags = 0x246,
	    .nword = WIRE_STACK + 5,
	    .word = {0x1a571a571a571a57, 0x402345, 0x700010,
		[WIRE_STACK - 1] = 0x7091a57, [WIRE_STACK] = 0x5ec2e75ec2e75ec2, 0x401000, 0x409000,
		0, 0x509fff}};

	sample(&regs, 0x404000);
	flush(true);
	ck_assert_uint_eq(w.nregs, 1);
	ck_assert_uint_eq(w.regs->offset, 0x4000);
	ck_assert_uint_eq(w.regs->base, 0x400000);
	ck_assert_uint_eq(w.regs->flags, 0x246);
	ck_assert(!memcmp(w.regs->gpr, regs.gpr, sizeof regs.gpr));
	ck_assert_uint_eq(w.regs->ncode, 3);
	ck_assert_uint_eq(w.regs->code[0].word, 1);
	ck_assert_uint_eq(w.regs->code[0].offset, 0x2345);
	ck_assert_uint_eq(w.regs->code[1].word, WIRE_STACK + 1);
	ck_assert_uint_eq(w.regs->code[1].offset, 0x1000);
	ck_assert_uint_eq(w.regs->code[2].word, WIRE_STACK + 4);
	ck_assert_uint_eq(w.regs->code[2].offset, 0x8fff);
	ck_assert_uint_eq(w.regs->nstack, WIRE_STACK);
	ck_assert(!memcmp(w.regs->stack, regs.word, sizeof w.regs->stack));
	ck_assert_ptr_null(memmem(secret.p, secret.n, &regs.word[WIRE_STACK], 8));
	ck_assert_ptr_null(memmem(secret.p, secret.n, &regs.word[WIRE_STACK + 1], 8));
	ck_assert_ptr_null(memmem(plain.p, plain.n, &regs.gpr[15], 8));
	ck_assert_ptr_null(memmem(plain.p, plain.n, &regs.word[0], 8));
}
END_TEST

START_TEST(a_short_stack_has_fewer_words)
{
	struct event_regs regs = {.nword = 1, .word = {7, 8}};

	sample(&regs, 0x404000);
	flush(true);
	ck_assert_uint_eq(w.regs->nstack, 1);
	ck_assert_uint_eq(w.regs->stack[0], 7);
	ck_assert_uint_eq(w.regs->stack[1], 0);
}
END_TEST

START_TEST(code_pointers_are_bounded)
{
	struct event_regs regs = {.nword = WIRE_WORDS};
	uint32_t i;

	for (i = 0; i < WIRE_WORDS; i++)
		regs.word[i] = 0x402000 + i;
	sample(&regs, 0x404000);
	flush(true);
	ck_assert_uint_eq(w.regs->ncode, WIRE_CODES);
	ck_assert_uint_eq(w.regs->code[WIRE_CODES - 1].word, WIRE_CODES - 1);
}
END_TEST

/* The frame that may be written to a file is the same with registers or not. */
START_TEST(the_plain_frame_does_not_know_of_registers)
{
	struct event_regs regs = {.gpr = {1}};
	struct buf first = {0};

	sample(&regs, 0x404000);
	flush(true);
	ck_assert_uint_gt(secret.n, plain.n);
	buf_add(&first, plain.p, plain.n);
	b.start_ns = 1;
	sample(&regs, 0x404000);
	flush(false);
	ck_assert_uint_eq(secret.n, 0);
	ck_assert(first.n == plain.n && !memcmp(first.p, plain.p, plain.n));
	buf_free(&first);
}
END_TEST

static bool all_zero(const void *p, size_t n)
{
	const char *c = p;

	return !n || (!*c && !memcmp(c, c + 1, n - 1));
}

START_TEST(a_random_subset_is_kept_and_the_rest_counted)
{
	struct event_regs regs = {.nword = 2, .word = {1, 2}};
	uint64_t i, late = 0;

	for (i = 0; i < 2 * REGS_MAX; i++) {
		regs.gpr[0] = i + 1;
		sample(&regs, 0x404000 + i % 64);
	}
	flush(true);
	ck_assert_uint_eq(w.taken, 2 * REGS_MAX);
	ck_assert_uint_eq(w.nregs, REGS_MAX);
	ck_assert_uint_eq(w.regs_unsent, REGS_MAX);
	for (i = 0; i < w.nregs; i++)
		late += w.regs[i].gpr[0] > REGS_MAX;
	ck_assert(late > REGS_MAX * 2 / 5 && late < REGS_MAX * 3 / 5);
	ck_assert(all_zero(b.regs.v, REGS_MAX * sizeof *b.regs.v));
	sample(&regs, 0x404000);
	flush(true);
	ck_assert_uint_eq(w.nregs, 1);
	ck_assert_uint_eq(w.regs_unsent, 0);
}
END_TEST

/* Modules without samples are left out of a frame; indices follow. */
START_TEST(modules_keep_their_registers_when_others_go)
{
	struct event_regs regs = {.gpr = {0xb}};

	sample(&(struct event_regs){.gpr = {0xa}}, 0x404000);
	b.entry.n = 0; /* as if the sample had been dropped */
	b.taken--;
	sample(&regs, 0x700100);
	flush(true);
	ck_assert_uint_eq(w.nmodule, 1);
	ck_assert_uint_eq(w.nregs, 1);
	ck_assert_uint_eq(w.regs->module, 0);
	ck_assert_uint_eq(w.regs->gpr[0], 0xb);
	ck_assert_uint_eq(w.regs_unsent, 1);
}
END_TEST

UNIT_MAIN("regs", 60, setup, teardown, of_the_stack_the_top_and_pointers_into_the_same_code_leave,
    a_short_stack_has_fewer_words, code_pointers_are_bounded,
    the_plain_frame_does_not_know_of_registers, a_random_subset_is_kept_and_the_rest_counted,
    modules_keep_their_registers_when_others_go)
