/* A ring in plain memory, filled as the kernel fills it. */
#include "monitor-client/kernel/ring.h"
#include "monitor-client/kernel/cmdline.h"
#include "common/mem.h"
#include "common/le.h"
#include "tests/unit/unit.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 4096 };

struct fake {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	struct ring ring;
	uint64_t head;
};

static void fake_open(struct fake *f, uint64_t at)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	f->page = aligned_alloc(page, page + SIZE);
	memset(f->page, 0, page + SIZE);
	f->data = (uint8_t *)f->page + page;
	ring_attach(&f->ring, f->page, SIZE);
	f->page->data_head = f->page->data_tail = f->head = f->ring.tail = at;
}

static void fake_close(struct fake *f)
{
	ring_close(&f->ring);
	free(f->page);
}

static void put(struct fake *f, const void *p, size_t n)
{
	const uint8_t *b = p;

	while (n--)
		f->data[f->head++ % SIZE] = *b++;
}

static void header(struct fake *f, uint32_t type, uint16_t misc, size_t body)
{
	struct perf_event_header h = {type, misc, (uint16_t)(sizeof h + body)};

	put(f, &h, sizeof h);
}

static void put64(struct fake *f, uint64_t v)
{
	put(f, &v, sizeof v);
}

static void put32(struct fake *f, uint32_t v)
{
	put(f, &v, sizeof v);
}

static void trailer(struct fake *f, uint32_t pid, uint64_t time)
{
	put32(f, pid);
	put32(f, pid);
	put64(f, time);
	f->page->data_head = f->head;
}

static void put_sample_regs(
    struct fake *f, uint64_t abi, uint64_t cx, uint64_t ip, uint64_t flags, uint64_t r11)
{
	header(f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, abi ? 56 : 24);
	put32(f, 7);
	put32(f, 8);
	put64(f, 99);
	put64(f, abi);
	if (abi) {
		put64(f, cx);
		put64(f, ip);
		put64(f, flags);
		put64(f, r11);
	}
	f->page->data_head = f->head;
}

static enum record_kind next(struct fake *f, enum sample_shape shape, struct event *ev)
{
	uint64_t lost;

	return ring_next(&f->ring, shape, ev, &lost);
}

START_TEST(user_and_kernel_are_told_apart_by_registers)
{
	struct fake f;
	struct event ev;

	fake_open(&f, 0);
	put_sample_regs(&f, PERF_SAMPLE_REGS_ABI_64, 1, 0x401000, 0x246, 5);
	put_sample_regs(&f, PERF_SAMPLE_REGS_ABI_64, 0x401000, 0x401000, 0x246, 0x246);
	put_sample_regs(&f, PERF_SAMPLE_REGS_ABI_64, 0x401000, 0x401000, 0x246, 0x202);
	put_sample_regs(&f, PERF_SAMPLE_REGS_ABI_NONE, 0, 0, 0, 0);
	ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_EVENT);
	ck_assert_int_eq(ev.sample.mode, MODE_USER);
	ck_assert_uint_eq(ev.sample.ip, 0x401000);
	ck_assert_uint_eq(ev.pid, 7);
	ck_assert_uint_eq(ev.tid, 8);
	ck_assert_uint_eq(ev.time, 99);
	ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_EVENT);
	ck_assert_int_eq(ev.sample.mode, MODE_KERNEL);
	ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_EVENT);
	ck_assert_int_eq(ev.sample.mode, MODE_USER);
	ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_EVENT);
	ck_assert_int_eq(ev.sample.mode, MODE_KERNEL);
	ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_END);
	fake_close(&f);
}
END_TEST

static void put_sample_clock(
    struct fake *f, uint16_t misc, uint64_t cx, uint64_t ip, uint64_t flags, uint64_t r11)
{
	header(f, PERF_RECORD_SAMPLE, misc, 64);
	put64(f, ip);
	put32(f, 5);
	put32(f, 5);
	put64(f, 6);
	put64(f, PERF_SAMPLE_REGS_ABI_64);
	put64(f, cx);
	put64(f, ip);
	put64(f, flags);
	put64(f, r11);
	f->page->data_head = f->head;
}

/* A timer held back in the kernel strikes at the way out. */
START_TEST(behind_a_system_call_it_is_the_kernels_time)
{
	struct fake f;
	struct event ev;

	fake_open(&f, 0);
	put_sample_clock(&f, PERF_RECORD_MISC_USER, 0x1234, 0x1234, 0x246, 0x246);
	put_sample_clock(&f, PERF_RECORD_MISC_USER, 0x1234, 0x1237, 0x246, 0x246);
	ck_assert_int_eq(next(&f, SHAPE_CLOCK, &ev), REC_EVENT);
	ck_assert_int_eq(ev.sample.mode, MODE_KERNEL);
	ck_assert_int_eq(next(&f, SHAPE_CLOCK, &ev), REC_EVENT);
	ck_assert_int_eq(ev.sample.mode, MODE_USER);
	fake_close(&f);
}
END_TEST

START_TEST(cpu_clock_samples_say_their_mode)
{
	static const struct {
		uint16_t misc;
		enum sample_mode mode;
		uint64_t ip;
	} c[] = {{PERF_RECORD_MISC_USER, MODE_USER, 0x1234},
	    {PERF_RECORD_MISC_KERNEL, MODE_KERNEL, 0x1234},
	    {PERF_RECORD_MISC_GUEST_USER, MODE_OTHER, 0x1234},
	    {PERF_RECORD_MISC_GUEST_KERNEL, MODE_KERNEL, 0}};
	struct fake f;
	struct event ev;
	size_t i;

	fake_open(&f, 0);
	for (i = 0; i < sizeof c / sizeof *c; i++) {
		put_sample_clock(&f, c[i].misc, 1, 0x1234, 2, 3);
		ck_assert_int_eq(next(&f, SHAPE_CLOCK, &ev), REC_EVENT);
		ck_assert_int_eq(ev.sample.mode, c[i].mode);
		ck_assert_uint_eq(ev.sample.ip, c[i].ip);
		ck_assert_uint_eq(ev.time, 6);
	}
	fake_close(&f);
}
END_TEST

static void put_mmap2(struct fake *f, bool id, const char *path)
{
	size_t n = (strlen(path) + 8) & ~7ul;
	char name[256] = "";

	strcpy(name, path);
	header(f, PERF_RECORD_MMAP2, id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0, 64 + n + 16);
	put32(f, 41);
	put32(f, 42);
	put64(f, 0x400000);
	put64(f, 0x2000);
	put64(f, 0x1000);
	if (id) {
		put32(f, 20);
		put(f, "ABCDEFGHIJKLMNOPQRST", 20);
	} else {
		put32(f, 8);
		put32(f, 1);
		put64(f, 77);
		put64(f, 3);
	}
	put32(f, 5);
	put32(f, 2);
	put(f, name, n);
	trailer(f, 41, 1000);
}

START_TEST(mappings_bring_build_id_or_inode)
{
	struct fake f;
	struct event ev;

	fake_open(&f, 0);
	f.ring.build_ids = true;
	put_mmap2(&f, true, "/usr/bin/lua5.4");
	put_mmap2(&f, false, "/usr/bin/perl");
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_EVENT);
	ck_assert_int_eq(ev.kind, EV_MAP);
	ck_assert_uint_eq(ev.pid, 41);
	ck_assert_uint_eq(ev.time, 1000);
	ck_assert_uint_eq(ev.map.start, 0x400000);
	ck_assert_uint_eq(ev.map.end, 0x402000);
	ck_assert_uint_eq(ev.map.pgoff, 0x1000);
	ck_assert_uint_eq(ev.map.id.n, 20);
	ck_assert_mem_eq(ev.map.id.b, "ABCDEFGHIJKLMNOPQRST", 20);
	ck_assert_uint_eq(ev.map.ino, 0);
	ck_assert_str_eq(ev.map.path, "/usr/bin/lua5.4");
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_EVENT);
	ck_assert_uint_eq(ev.map.id.n, 0);
	ck_assert_uint_eq(ev.map.maj, 8);
	ck_assert_uint_eq(ev.map.ino, 77);
	ck_assert_str_eq(ev.map.path, "/usr/bin/perl");
	fake_close(&f);
}
END_TEST

/* The kernel's flag is of another session. */
START_TEST(build_ids_that_were_not_asked_for_are_inodes)
{
	struct fake f;
	struct event ev;

	fake_open(&f, 0);
	put_mmap2(&f, false, "/usr/bin/perl");
	((struct perf_event_header *)f.data)->misc = PERF_RECORD_MISC_MMAP_BUILD_ID;
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_EVENT);
	ck_assert_uint_eq(ev.map.id.n, 0);
	ck_assert_uint_eq(ev.map.maj, 8);
	ck_assert_uint_eq(ev.map.min, 1);
	ck_assert_uint_eq(ev.map.ino, 77);
	ck_assert_uint_eq(ev.map.gen, 3);
	fake_close(&f);
}
END_TEST

static void put_task(struct fake *f, uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid)
{
	header(f, type, 0, 24 + 16);
	put32(f, pid);
	put32(f, ppid);
	put32(f, tid);
	put32(f, ppid);
	put64(f, 50);
	trailer(f, ppid, 51);
}

START_TEST(threads_are_no_processes)
{
	struct fake f;
	struct event ev;

	fake_open(&f, 0);
	put_task(&f, PERF_RECORD_FORK, 10, 9, 10);
	put_task(&f, PERF_RECORD_FORK, 10, 10, 11);
	put_task(&f, PERF_RECORD_EXIT, 10, 9, 11);
	put_task(&f, PERF_RECORD_EXIT, 10, 9, 10);
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_EVENT);
	ck_assert_int_eq(ev.kind, EV_FORK);
	ck_assert_uint_eq(ev.pid, 10);
	ck_assert_uint_eq(ev.parent, 9);
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_THREAD);
	ck_assert_uint_eq(ev.tid, 11);
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_SKIP);
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_EVENT);
	ck_assert_int_eq(ev.kind, EV_EXIT);
	fake_close(&f);
}
END_TEST

static void put_namespaces(struct fake *f, uint64_t n, uint64_t room)
{
	uint64_t i;

	header(f, PERF_RECORD_NAMESPACES, 0, 16 + 16 * room + 16);
	put32(f, 5);
	put32(f, 6);
	put64(f, n);
	for (i = 0; i < room; i++) {
		put64(f, 4);
		put64(f, 100 + i);
	}
	trailer(f, 5, 77);
}

START_TEST(namespaces_are_those_of_files)
{
	struct fake f;
	struct event ev;

	fake_open(&f, 0);
	put_namespaces(&f, NR_NAMESPACES, NR_NAMESPACES);
	put_namespaces(&f, NR_NAMESPACES, MNT_NS_INDEX); /* cut short */
	put_namespaces(&f, MNT_NS_INDEX, NR_NAMESPACES);
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_EVENT);
	ck_assert_int_eq(ev.kind, EV_NS);
	ck_assert_uint_eq(ev.pid, 5);
	ck_assert_uint_eq(ev.tid, 6);
	ck_assert_uint_eq(ev.time, 77);
	ck_assert_uint_eq(ev.ns.mnt, 100 + MNT_NS_INDEX);
	ck_assert_uint_eq(ev.ns.user, 100 + USER_NS_INDEX);
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_SKIP);
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_SKIP);
	fake_close(&f);
}
END_TEST

START_TEST(only_the_comm_of_an_exec_counts)
{
	struct fake f;
	struct event ev;
	int i;

	fake_open(&f, 0);
	for (i = 0; i < 2; i++) {
		header(&f, PERF_RECORD_COMM, i ? PERF_RECORD_MISC_COMM_EXEC : 0, 16 + 16);
		put32(&f, 3);
		put32(&f, 3);
		put(&f, "name\0\0\0", 8);
		trailer(&f, 3, 9);
	}
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_SKIP);
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_EVENT);
	ck_assert_int_eq(ev.kind, EV_EXEC);
	ck_assert_str_eq(ev.comm, "name");
	fake_close(&f);
}
END_TEST

/* With the count of lost records behind the value, or without. */
START_TEST(what_a_thread_used)
{
	struct fake f;
	struct event ev;
	int i;

	fake_open(&f, 0);
	for (i = 0; i < 3; i++) {
		header(&f, PERF_RECORD_READ, 0, i < 2 ? 16 + 8 * i + 16 : 8 + 16);
		put32(&f, 3);
		put32(&f, 4);
		if (i < 2)
			put64(&f, 12345678901);
		if (i == 1)
			put64(&f, 7);
		trailer(&f, 3, 9);
	}
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_EVENT);
		ck_assert(ev.kind == EV_USED && ev.pid == 3 && ev.tid == 4 && ev.time == 9);
		ck_assert_uint_eq(ev.cpu_ns, 12345678901);
	}
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_SKIP);
	fake_close(&f);
}
END_TEST

START_TEST(losses_and_throttling_are_told)
{
	struct fake f;
	struct event ev;
	uint64_t lost = 0;

	fake_open(&f, 0);
	header(&f, PERF_RECORD_LOST, 0, 16 + 16);
	put64(&f, 1);
	put64(&f, 123);
	trailer(&f, 0, 1);
	header(&f, PERF_RECORD_THROTTLE, 0, 24 + 16);
	put64(&f, 1);
	put64(&f, 1);
	put64(&f, 1);
	trailer(&f, 0, 1);
	ck_assert_int_eq(ring_next(&f.ring, SHAPE_NONE, &ev, &lost), REC_LOST);
	ck_assert_uint_eq(lost, 123);
	ck_assert_int_eq(next(&f, SHAPE_NONE, &ev), REC_THROTTLE);
	fake_close(&f);
}
END_TEST

START_TEST(records_wrap_and_space_is_given_back)
{
	struct fake f;
	struct event ev;
	uint64_t i;

	fake_open(&f, UINT64_MAX - 3 * SIZE - 24 + 1);
	for (i = 0; i < 1000; i++) {
		put_sample_regs(&f, PERF_SAMPLE_REGS_ABI_64, 1, i, 2, 3);
		ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_EVENT);
		ck_assert_uint_eq(ev.sample.ip, i);
		ring_release(&f.ring);
		ck_assert_uint_eq(f.page->data_tail, f.head);
	}
	fake_close(&f);
}
END_TEST

enum { WORDS = 4 };

/* A sample with all registers and WORDS words of stack, of which `valid` bytes
 * could be copied. */
static void put_full(struct fake *f, uint64_t abi, bool at_call, uint64_t valid)
{
	uint64_t i;

	header(f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, 24 + 8 * (18 + 1 + WORDS + 1));
	put32(f, 7);
	put32(f, 8);
	put64(f, 99);
	put64(f, abi);
	for (i = 0; i < 18; i++) /* cx = ip and r11 = flags behind a system call */
		put64(f, 0x5ec0 + (at_call && (i == 8 || i == 13) ? (i == 8 ? 2 : 9) : i));
	put64(f, 8 * WORDS);
	for (i = 0; i < WORDS; i++)
		put64(f, 0x57ac0 + i);
	put64(f, valid);
	f->page->data_head = f->head;
}

START_TEST(full_samples_bring_all_registers_and_the_stack)
{
	struct fake f;
	struct event ev;
	unsigned i;

	fake_open(&f, SIZE - 100); /* wraps within the registers */
	f.ring.full = true;
	put_full(&f, PERF_SAMPLE_REGS_ABI_64, false, 8 * WORDS);
	ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_EVENT);
	ck_assert_int_eq(ev.sample.mode, MODE_USER);
	ck_assert_uint_eq(ev.sample.ip, 0x5ec8);
	ck_assert_ptr_nonnull(ev.sample.regs);
	for (i = 0; i < WIRE_GPRS; i++)
		ck_assert_uint_eq(ev.sample.regs->gpr[i], 0x5ec0 + (i < 8 ? i : i + 2));
	ck_assert_uint_eq(ev.sample.regs->ip, 0x5ec8);
	ck_assert_uint_eq(ev.sample.regs->flags, 0x5ec9);
	ck_assert_uint_eq(ev.sample.regs->nword, WORDS);
	for (i = 0; i < WORDS; i++)
		ck_assert_uint_eq(ev.sample.regs->word[i], 0x57ac0 + i);
	fake_close(&f);
}
END_TEST

/* In a system call they are those at its entry. */
START_TEST(registers_are_those_of_64_bit_programs)
{
	struct fake f;
	struct event ev;

	fake_open(&f, 0);
	f.ring.full = true;
	put_full(&f, PERF_SAMPLE_REGS_ABI_64, true, 8 * WORDS);
	put_full(&f, PERF_SAMPLE_REGS_ABI_32, false, 8 * WORDS);
	put_full(&f, PERF_SAMPLE_REGS_ABI_64, false, 20); /* the stack ends within a word */
	ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_EVENT);
	ck_assert_int_eq(ev.sample.mode, MODE_KERNEL);
	ck_assert_ptr_nonnull(ev.sample.regs);
	ck_assert_uint_eq(ev.sample.regs->ip, ev.sample.regs->gpr[2] - 1);
	ck_assert_uint_eq(ev.sample.regs->nword, WORDS);
	ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_EVENT);
	ck_assert_int_eq(ev.sample.mode, MODE_USER);
	ck_assert_ptr_null(ev.sample.regs);
	ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_EVENT);
	ck_assert_uint_eq(ev.sample.regs->nword, 2);
	fake_close(&f);
}
END_TEST

static bool holds(const void *p, size_t n, uint64_t v)
{
	return memmem(p, n, &v, sizeof v) != NULL;
}

START_TEST(registers_are_wiped_behind_the_reader)
{
	struct fake f;
	struct event ev;

	fake_open(&f, SIZE - 100);
	f.ring.full = true;
	put_full(&f, PERF_SAMPLE_REGS_ABI_64, false, 8 * WORDS);
	next(&f, SHAPE_TICK, &ev);
	ck_assert(holds(&f.ring.regs, sizeof f.ring.regs, 0x57ac1));
	ck_assert(!holds(f.ring.copy, SIZE, 0x57ac1) && !holds(f.ring.copy, SIZE, 0x5ec3));
	ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_END);
	ck_assert(!holds(&f.ring.regs, sizeof f.ring.regs, 0x57ac1));
	fake_close(&f);
}
END_TEST

/* Of a program that begins. */
static void put_exec(struct fake *f, uint64_t abi, uint64_t valid)
{
	header(f, PERF_RECORD_SAMPLE, 0, 24 + 8 + 8 + 24 + 8);
	put32(f, 7);
	put32(f, 7);
	put64(f, 99);
	put64(f, abi);
	put64(f, 0x7000); /* sp */
	put64(f, 24);
	put64(f, 1); /* argc */
	put64(f, 0x7010);
	put64(f, 0x57ac1);
	put64(f, valid);
	f->page->data_head = f->head;
}

START_TEST(an_exec_brings_the_shape_of_its_command_line)
{
	struct fake f;
	struct event ev;

	fake_open(&f, SIZE - 40); /* it wraps */
	put_exec(&f, PERF_SAMPLE_REGS_ABI_32, 24);
	put_exec(&f, PERF_SAMPLE_REGS_ABI_64, 24);
	put_exec(&f, PERF_SAMPLE_REGS_ABI_64, 16);
	ck_assert_int_eq(next(&f, SHAPE_EXEC, &ev), REC_SKIP);
	ck_assert_int_eq(next(&f, SHAPE_EXEC, &ev), REC_EVENT);
	ck_assert(ev.kind == EV_ARGS && ev.pid == 7 && ev.time == 99 && ev.args > CMDLINE_CUT);
	ck_assert(!holds(f.ring.copy, SIZE, 0x57ac1));
	ck_assert_int_eq(next(&f, SHAPE_EXEC, &ev), REC_EVENT);
	ck_assert(ev.args == CMDLINE_CUT);
	fake_close(&f);
}
END_TEST

START_TEST(nonsense_empties_the_ring)
{
	static const uint16_t size[] = {0, 4, 7, 4000};
	struct fake f;
	struct event ev;
	size_t i;

	fake_open(&f, 0);
	for (i = 0; i < sizeof size / sizeof *size; i++) {
		struct perf_event_header h = {PERF_RECORD_SAMPLE, 0, size[i]};
		put(&f, &h, sizeof h);
		put64(&f, 0);
		f.page->data_head = f.head;
		ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_BROKEN);
		ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), REC_END);
	}
	fake_close(&f);
}
END_TEST

/* Every type, cut at every length: nothing is read beyond the record. */
START_TEST(short_records_are_skipped)
{
	static const enum sample_shape shape[] = {SHAPE_CLOCK, SHAPE_TICK, SHAPE_EXEC};
	struct callchain learned = {0};
	struct fake f;
	struct event ev;
	uint32_t type;
	size_t n;
	uint64_t lost;

	fake_open(&f, 0);
	for (type = 0; type < 48; type++)
		for (n = 0; n <= 280; n += 8) {
			f.ring.full = type >= 24;
			f.ring.chain = n & 8 ? &learned : NULL;
			header(&f, type % 24, 0xffff, n);
			for (size_t i = 0; i < n; i++)
				put(&f, "\xff", 1);
			f.page->data_head = f.head;
			enum record_kind k = ring_next(&f.ring, shape[n / 8 % 3], &ev, &lost);
			ck_assert_int_ne(k, REC_BROKEN);
			ck_assert_int_ne(k, REC_END);
			ck_assert(k != REC_EVENT || ev.kind != EV_MAP);
		}
	fake_close(&f);
}
END_TEST

enum { TICK = 0x81328052, WAY = 0x821f251c, OTHER_WAY = 0x821f2550, ENTRY = 0x81000e06 };
#define KERNEL(a) (UINT64_C(0xffffffff00000000) | (a))

static void put_sample_chain(struct fake *f, bool user, const uint64_t *chain, uint64_t n)
{
	uint64_t i;

	header(f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, 64 + 8 * n);
	put32(f, 7);
	put32(f, 8);
	put64(f, 99);
	put64(f, n);
	for (i = 0; i < n; i++)
		put64(f, chain[i]);
	put64(f, PERF_SAMPLE_REGS_ABI_64);
	put64(f, user ? 1 : 0x1234);
	put64(f, 0x1234);
	put64(f, 2);
	put64(f, 2);
	f->page->data_head = f->head;
}

/* Of a tick in user mode, or that found the kernel at the address; what the samples say. */
static uint64_t tick_at(struct fake *f, uint64_t address, enum sample_mode mode)
{
	const uint64_t chain[] = {PERF_CONTEXT_KERNEL, KERNEL(TICK),
	    KERNEL(mode == MODE_USER ? WAY : OTHER_WAY), KERNEL(ENTRY), address,
	    KERNEL(0x81000c82)};
	struct event ev;

	put_sample_chain(f, mode == MODE_USER, chain, address ? 6 : 4);
	ck_assert_int_eq(next(f, SHAPE_TICK, &ev), REC_EVENT);
	ring_release(&f->ring);
	ck_assert_int_eq(ev.sample.mode, mode);
	ck_assert_uint_eq(ev.time, 99);
	return ev.sample.ip;
}

START_TEST(call_chains_say_where_the_kernel_was)
{
	struct callchain learned = {0};
	struct fake f;
	int i;

	fake_open(&f, 0);
	f.ring.chain = &learned;
	for (i = 0; i < 8; i++) {
		ck_assert_uint_eq(tick_at(&f, KERNEL(0x5000), MODE_KERNEL), 0);
		ck_assert_uint_eq(tick_at(&f, 0, MODE_USER), 0x1234);
	}
	tick_at(&f, 0, MODE_USER);
	ck_assert_uint_eq(learned.entry, KERNEL(ENTRY));
	ck_assert_uint_eq(tick_at(&f, KERNEL(0x5000), MODE_KERNEL), KERNEL(0x5000));
	/* A page fault looks like user mode. */
	ck_assert_uint_eq(tick_at(&f, KERNEL(0x6000), MODE_USER), 0x1234);
	ck_assert_uint_eq(tick_at(&f, KERNEL(0x7000), MODE_KERNEL), KERNEL(0x7000));
	/* One that ends at the entry, and one that goes on with no address. */
	ck_assert_uint_eq(tick_at(&f, 0, MODE_KERNEL), 0);
	ck_assert_uint_eq(tick_at(&f, PERF_CONTEXT_USER, MODE_KERNEL), 0);
	fake_close(&f);
}
END_TEST

/* Others end there as well, and it is learned again when nothing else does. */
START_TEST(what_call_chains_end_with_is_a_majority)
{
	const uint64_t cut[CALLCHAIN_MAX] = {[0 ... CALLCHAIN_MAX - 1] = KERNEL(9)};
	const uint64_t a = KERNEL(1), b = KERNEL(2), found[] = {a, KERNEL(3)};
	struct callchain c = {0};
	int i;

	for (i = 0; i < 30; i++) {
		callchain_user(&c, &a, 1);
		callchain_user(&c, &b, i % 3 ? 0 : 1);
	}
	ck_assert_uint_eq(callchain_kernel(&c, found, 2), KERNEL(3));
	ck_assert_uint_eq(callchain_kernel(&c, found, 1), 0);
	for (i = 0; i < 2000; i++)
		callchain_user(&c, cut, CALLCHAIN_MAX);
	ck_assert_uint_eq(c.entry, a);
	for (i = 0; i < 2000; i++)
		callchain_user(&c, &b, 1);
	ck_assert_uint_eq(c.entry, b);
	ck_assert_uint_eq(callchain_kernel(&c, found, 2), 0);
}
END_TEST

START_TEST(damaged_call_chains_are_passed_over)
{
	static const uint64_t n[] = {3, 4, 5, 6, 1000, UINT64_MAX / 8, UINT64_MAX};
	const uint64_t none[2] = {0};
	struct callchain learned = {0};
	struct fake f;
	struct event ev;
	size_t i;

	fake_open(&f, 0);
	f.ring.chain = &learned;
	for (i = 0; i < sizeof n / sizeof *n; i++) {
		put_sample_chain(&f, true, none, 2);
		put_le64(f.data + (f.head - 64) % SIZE, n[i]);
		ck_assert_int_eq(next(&f, SHAPE_TICK, &ev), n[i] > 6 ? REC_SKIP : REC_EVENT);
		ring_release(&f.ring);
	}
	fake_close(&f);
}
END_TEST

UNIT_MAIN("ring", 0, NULL, NULL, user_and_kernel_are_told_apart_by_registers,
    cpu_clock_samples_say_their_mode, behind_a_system_call_it_is_the_kernels_time,
    mappings_bring_build_id_or_inode, build_ids_that_were_not_asked_for_are_inodes,
    threads_are_no_processes, namespaces_are_those_of_files, only_the_comm_of_an_exec_counts,
    what_a_thread_used, losses_and_throttling_are_told, records_wrap_and_space_is_given_back,
    full_samples_bring_all_registers_and_the_stack, registers_are_those_of_64_bit_programs,
    registers_are_wiped_behind_the_reader, an_exec_brings_the_shape_of_its_command_line,
    nonsense_empties_the_ring, short_records_are_skipped, call_chains_say_where_the_kernel_was,
    what_call_chains_end_with_is_a_majority, damaged_call_chains_are_passed_over)
