#include "morphctl/report/in/format.h"
#include "morphctl/report/in/perf/perf.h"
#include "common/le.h"
#include "common/wire/wire.h"
#include "tests/unit/unit.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

static struct recording r;
static struct err e;
static struct in_options o;

static void setup(void)
{
	r = (struct recording){0};
	o = (struct in_options){0};
	e.text[0] = '\0';
}

static void teardown(void)
{
	recording_free(&r);
}

static void reads(const void *p, size_t n)
{
	ck_assert_msg(!in_read_bytes(&r, "f", p, n, &o, &e), "%s", e.text);
}

static void reads_text(const char *s)
{
	reads(s, strlen(s));
}

static void refuses(const void *p, size_t n, const char *part)
{
	ck_assert_int_eq(in_read_bytes(&r, "f", p, n, &o, &e), -1);
	ck_assert_msg(strstr(e.text, part) != NULL, "'%s' has no '%s'", e.text, part);
}

static void refuses_text(const char *s, const char *part)
{
	refuses(s, strlen(s), part);
}

/* "PATH+HEX" of a location, "-" for none. */
static const char *place(uint32_t i)
{
	static char text[4][128];
	static unsigned turn;
	char *s = text[turn++ % 4];

	if (i == RECORDING_NONE)
		return "-";
	snprintf(s, sizeof text[0], "%s+%llx", r.file.v[r.location.v[i].file].path,
	    (unsigned long long)r.location.v[i].offset);
	return s;
}

/* Places of a sample's stack, innermost first, by ';'. */
static const char *stack(size_t sample)
{
	static char text[512];
	uint32_t i;

	text[0] = '\0';
	for (i = r.sample.v[sample].stack; i != RECORDING_NONE; i = r.stack.v[i].caller)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
		    text[0] ? ";" : "", place(r.stack.v[i].location));
	return text;
}

/* ---- perf.data ---- */

enum { TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME };
enum { REGS = 1 << PERF_REG_X86_BP | 1 << PERF_REG_X86_SP | 1 << PERF_REG_X86_IP };

struct data {
	struct buf b;
	size_t record; /* where the one at hand begins */
	uint64_t type; /* of its samples */
};

static void words(struct data *d, size_t n, const uint64_t *v)
{
	while (n--)
		buf_le64(&d->b, *v++);
}
#define WORDS(d, ...) words(d, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})
#define TWO(low, high) ((uint64_t)(low) | (uint64_t)(high) << 32)

static void begin(struct data *d, uint32_t type, uint16_t misc)
{
	d->record = d->b.n;
	WORDS(d, TWO(type, misc));
}

static void end(struct data *d)
{
	while (d->b.n % 8)
		buf_char(&d->b, 0);
	put_le16(d->b.p + d->record + 6, (uint16_t)(d->b.n - d->record));
}

static void string(struct data *d, const char *s)
{
	buf_add(&d->b, s, strlen(s) + 1);
	while (d->b.n % 8)
		buf_char(&d->b, 0);
}

/* struct sample_id of TYPE. */
static void trailer(struct data *d, uint32_t pid, uint64_t time, uint64_t id)
{
	WORDS(d, TWO(pid, pid), time, id);
	end(d);
}

/* An event's struct perf_event_attr of 128 bytes. */
static void attr(struct data *d, uint32_t type, uint64_t config, uint64_t branches)
{
	uint64_t v[16] = {TWO(type, 128), config, 1000, d->type, 0, 1 << 18 /* sample_id_all */};

	v[9] = branches;
	v[10] = REGS;
	words(d, 16, v);
}

/* A pipe's file with two events of ids 7 and 9. */
static struct data pipe_of(uint64_t type, uint64_t branches)
{
	struct data d = {.type = type};

	buf_str(&d.b, "PERFILE2");
	WORDS(&d, 16);
	begin(&d, 64, 0);
	attr(&d, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, branches);
	WORDS(&d, 7);
	end(&d);
	begin(&d, 64, 0);
	attr(&d, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, branches);
	WORDS(&d, 9);
	end(&d);
	return d;
}

static void map(struct data *d, uint32_t pid, uint64_t time, uint64_t start, uint64_t size,
    uint64_t offset, const char *path)
{
	begin(d, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	WORDS(d, TWO(pid, pid), start, size, offset);
	string(d, path);
	trailer(d, pid, time, 7);
}

static void comm(struct data *d, uint32_t pid, uint64_t time, const char *name, uint16_t misc)
{
	begin(d, PERF_RECORD_COMM, misc);
	WORDS(d, TWO(pid, pid));
	string(d, name);
	trailer(d, pid, time, 7);
}

static void forks(struct data *d, uint32_t pid, uint32_t ppid, uint64_t time)
{
	begin(d, PERF_RECORD_FORK, 0);
	WORDS(d, TWO(pid, ppid), TWO(pid, ppid), time);
	trailer(d, ppid, time, 7);
}

static void sample(struct data *d, uint64_t id, uint32_t pid, uint64_t time, uint64_t ip)
{
	begin(d, PERF_RECORD_SAMPLE, ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
	WORDS(d, id, ip, TWO(pid, pid), time);
	end(d);
}

static void reads_data(struct data *d)
{
	reads(d->b.p, d->b.n);
	buf_free(&d->b);
}

static void refuses_data(struct data *d, const char *part)
{
	refuses(d->b.p, d->b.n, part);
	buf_free(&d->b);
}

/* Each sample is looked up at its own time, wherever it stands in the file. */
START_TEST(perf_looks_up_at_the_time)
{
	struct data d = pipe_of(TYPE, 0);

	sample(&d, 7, 1, 5, 0x1010); /* before anything */
	sample(&d, 9, 1, 25, 0x1010);
	map(&d, 1, 20, 0x1000, 0x1000, 0x400, "/new");
	map(&d, 1, 10, 0x800, 0x1000, 0, "/old");
	sample(&d, 7, 1, 15, 0x1010);
	sample(&d, 7, 1, 25, 0x810); /* the older one, beside the newer */
	map(&d, 1, 30, 0x1000, 0x20, 0, "//anon");
	sample(&d, 7, 1, 35, 0x1010);
	sample(&d, 7, 1, 35, 0x1020);
	reads_data(&d);
	ck_assert_uint_eq(r.sample.n, 6);
	ck_assert_str_eq(stack(0), "[unknown]+1010");
	ck_assert_str_eq(stack(1), "/new+410");
	ck_assert_str_eq(stack(2), "/old+810");
	ck_assert_str_eq(stack(3), "/old+10");
	ck_assert_str_eq(stack(4), "//anon+1010");
	ck_assert_str_eq(stack(5), "/new+420");
	ck_assert_str_eq(r.event.v[r.sample.v[0].event].name, "cpu-clock");
	ck_assert_str_eq(r.event.v[r.sample.v[0].event].unit, "ns");
	ck_assert_str_eq(r.event.v[r.sample.v[1].event].name, "cycles");
	ck_assert_uint_eq(r.sample.v[1].time_ns, 25);
	ck_assert_uint_eq(r.sample.v[1].period, 1000);
}
END_TEST

START_TEST(perf_follows_forks_and_execs)
{
	struct data d = pipe_of(TYPE, 0);
	static const char *const names[] = {"sh", "sh", "prog", "", "sh"};
	size_t i;

	comm(&d, 1, 1, "sh", 0);
	map(&d, 1, 2, 0x1000, 0x1000, 0, "/sh");
	forks(&d, 2, 1, 10);
	forks(&d, 3, 2, 11); /* its parent mapped nothing itself */
	map(&d, 1, 12, 0x1000, 0x1000, 0, "/later");
	sample(&d, 7, 2, 13, 0x1010);
	sample(&d, 7, 3, 13, 0x1010);
	comm(&d, 2, 20, "prog", PERF_RECORD_MISC_COMM_EXEC);
	map(&d, 2, 21, 0x5000, 0x1000, 0, "/prog");
	sample(&d, 7, 2, 22, 0x1010); /* gone */
	sample(&d, 7, 4, 22, 0x1010); /* nothing is known of it */
	sample(&d, 7, 1, 13, 0x1010);
	reads_data(&d);
	ck_assert_str_eq(stack(0), "/sh+10");
	ck_assert_str_eq(stack(1), "/sh+10");
	ck_assert_str_eq(stack(2), "[unknown]+1010");
	ck_assert_str_eq(stack(3), "[unknown]+1010");
	ck_assert_str_eq(stack(4), "/later+10");
	for (i = 0; i < 5; i++)
		ck_assert_str_eq(r.task.v[r.sample.v[i].task].comm, names[i]);
	ck_assert_uint_eq(
	    r.file.v[r.location.v[r.stack.v[r.sample.v[2].stack].location].file].pid, 2);
}
END_TEST

START_TEST(perf_kernel_and_modules)
{
	struct data d = pipe_of(TYPE, 0);
	const uint64_t base = 0xffffffff81000000, module = 0xffffffffc0000000;

	begin(&d, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	WORDS(&d, TWO(-1, 0), base, 0x1000000, base);
	string(&d, "[kernel.kallsyms]_text");
	trailer(&d, 0, 0, 0);
	begin(&d, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	WORDS(&d, TWO(-1, 0), module, 0x1000, 0);
	string(&d, "/lib/modules/6/kernel/drivers/virtio-net.ko.xz");
	trailer(&d, 0, 0, 0);
	begin(&d, 67, PERF_RECORD_MISC_KERNEL | 1 << 15); /* build-id */
	WORDS(&d, TWO(-1, 0x04030201));
	buf_add(&d.b, (char[20]){5, 6, 7, 8, [16] = 8}, 20);
	string(&d, "[kernel.kallsyms]");
	end(&d);
	sample(&d, 7, 1, 1, base + 0x10);
	sample(&d, 7, 1, 1, module + 0x10);
	sample(&d, 7, 1, 1, module - 0x10);
	reads_data(&d);
	ck_assert_str_eq(stack(0), "[kernel]+ffffffff81000010");
	ck_assert_str_eq(stack(1), "[virtio_net]+ffffffffc0000010");
	ck_assert_str_eq(stack(2), "[kernel]+ffffffffbffffff0");
	ck_assert_uint_eq(r.file.v[0].id.n, 8);
	ck_assert_uint_eq(r.file.v[0].id.b[7], 8);
	ck_assert_uint_eq(r.file.n, 2);
}
END_TEST

/* A device's number 8 where a build-id's length would be, by a flag that the kernel left; and a
 * build-id. */
START_TEST(perf_build_ids_of_mappings)
{
	struct data d = pipe_of(TYPE, 0);
	size_t i;

	for (i = 0; i < 2; i++) {
		begin(
		    &d, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
		WORDS(&d, TWO(1, 1), 0x1000 * (i + 1), 0x1000, 0, TWO(i ? 20 : 8, 77), 0x1234, 0,
		    TWO(5, 2));
		string(&d, i ? "/b" : "/a");
		trailer(&d, 1, 1, 7);
		sample(&d, 7, 1, 2, 0x1000 * (i + 1));
	}
	reads_data(&d);
	ck_assert_uint_eq(r.file.v[0].id.n, 0);
	ck_assert_uint_eq(r.file.v[1].id.n, 20);
	ck_assert_uint_eq(r.file.v[1].id.b[0], 77);
	ck_assert_uint_eq(r.file.v[1].id.b[5], 0x12);
}
END_TEST

static void chain_sample(struct data *d, uint64_t ip, size_t n, const uint64_t *chain)
{
	begin(d, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	WORDS(d, 7, ip, TWO(1, 1), 5, n);
	words(d, n, chain);
	end(d);
}

START_TEST(perf_chains)
{
	struct data d = pipe_of(TYPE | PERF_SAMPLE_CALLCHAIN, 0);
	const uint64_t kernel = 0xffffffff81000000, mark = PERF_CONTEXT_KERNEL,
		       user = PERF_CONTEXT_USER;

	map(&d, 1, 1, 0x1000, 0x1000, 0, "/p");
	chain_sample(
	    &d, kernel, 7, (uint64_t[]){mark, kernel, kernel + 9, user, 0x1010, 0x1020, 0x9999});
	chain_sample(&d, kernel, 0, NULL);
	chain_sample(&d, kernel, 3, (uint64_t[]){mark, kernel, (uint64_t)-7}); /* rubbish */
	reads_data(&d);
	ck_assert_str_eq(stack(0), "[kernel]+ffffffff81000000;[kernel]+ffffffff81000008;/p+10;"
				   "/p+1f;[unknown]+9998");
	ck_assert_str_eq(stack(1), "[kernel]+ffffffff81000000");
	ck_assert_str_eq(stack(2), "[kernel]+ffffffff81000000");
	d = pipe_of(TYPE | PERF_SAMPLE_CALLCHAIN, 0);
	chain_sample(&d, kernel, 1, (uint64_t[]){kernel});
	put_le64(d.b.p + d.b.n - 16, UINT64_MAX / 8 + 2); /* their number */
	refuses_data(&d, "a sample is cut off");
}
END_TEST

static void branch_sample(struct data *d, size_t n, const uint64_t *v)
{
	begin(d, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	WORDS(d, 7, 0x1000, TWO(1, 1), 5, n, 42 /* hw_idx */);
	words(d, 3 * n, v);
	end(d);
}

START_TEST(perf_branches)
{
	uint64_t kinds = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX;
	struct data d = pipe_of(TYPE | PERF_SAMPLE_BRANCH_STACK, kinds);
	/* newest first */
	static const uint64_t v[] = {0x1050, 0x1000, 1, /* mispredicted */
	    0x1200, 0x1040, 2, 0x1300, 0x1500, 1 << 24 /* not executed */, 0, 0x1100, 2, 0, 0, 0};

	map(&d, 1, 1, 0x1000, 0x1000, 0, "/p");
	branch_sample(&d, 5, v);
	branch_sample(&d, 2, v);
	reads_data(&d);
	ck_assert_uint_eq(r.branch.n, 3);
	ck_assert_str_eq(place(r.branch.v[0].from), "/p+50");
	ck_assert_str_eq(place(r.branch.v[0].to), "/p+0");
	ck_assert_uint_eq(r.branch.v[0].n, 2);
	ck_assert_uint_eq(r.branch.v[0].mispredicted, 2);
	ck_assert_uint_eq(r.branch.v[1].mispredicted, 0);
	ck_assert_str_eq(place(r.branch.v[2].from), "-");
	ck_assert_uint_eq(r.range.n, 2);
	ck_assert_str_eq(place(r.range.v[0].from), "/p+40");
	ck_assert_str_eq(place(r.range.v[0].to), "/p+50");
	ck_assert_uint_eq(r.range.v[0].n, 2);
	ck_assert_str_eq(place(r.range.v[1].from), "/p+100");
	ck_assert_str_eq(place(r.range.v[1].to), "/p+200");
}
END_TEST

/* Only calls were recorded: nothing is known of what lies between. */
START_TEST(perf_branches_of_calls)
{
	uint64_t kinds = PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_HW_INDEX;
	struct data d = pipe_of(TYPE | PERF_SAMPLE_BRANCH_STACK, kinds);

	map(&d, 1, 1, 0x1000, 0x1000, 0, "/p");
	branch_sample(&d, 2, (uint64_t[]){0x1050, 0x1000, 0, 0x1200, 0x1040, 0});
	reads_data(&d);
	ck_assert_uint_eq(r.branch.n, 2);
	ck_assert_uint_eq(r.range.n, 0);
}
END_TEST

/* The processor kept the callers: they are no branches of the moment, and better than the chain. */
START_TEST(perf_callers_of_the_processor)
{
	struct data d = pipe_of(TYPE | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK,
	    PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK);

	map(&d, 1, 1, 0x1000, 0x1000, 0, "/p");
	begin(&d, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	WORDS(&d, 7, 0xffffffff81000000, TWO(1, 1), 5, 5, PERF_CONTEXT_KERNEL, 0xffffffff81000000,
	    PERF_CONTEXT_USER, 0x1010, 0x7777, 2, 0x1200, 0x1000, 0, 0x1300, 0x1180, 0);
	end(&d);
	begin(&d, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	WORDS(&d, 7, 0xffffffff81000000, TWO(1, 1), 5, 2, PERF_CONTEXT_KERNEL, 0xffffffff81000000,
	    1, 0x1200, 0x1000, 0);
	end(&d);
	reads_data(&d);
	ck_assert_str_eq(stack(0), "[kernel]+ffffffff81000000;/p+10;/p+200;/p+300");
	ck_assert_str_eq(stack(1), "[kernel]+ffffffff81000000");
	ck_assert_uint_eq(r.branch.n, 0);
}
END_TEST

enum { COPIED = TYPE | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER };
enum { FRAME = 0x7000 }; /* where the stack begins that is copied */

/* A function with a frame pointer, called from one at 0x1021, that from one at 0x1031. Of size
 * bytes so many are meant. */
static void copied_sample(
    struct data *d, uint64_t ip, uint64_t abi, uint64_t size, uint64_t meant, size_t n)
{
	const uint64_t stack[] = {77, 88, FRAME + 40, 0x1021, 99, 0, 0x1031, 0, 0, 0};

	begin(d, PERF_RECORD_SAMPLE, ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
	WORDS(d, 7, ip, TWO(1, 1), 5);
	if (ip >> 63)
		WORDS(d, 2, PERF_CONTEXT_KERNEL, ip);
	else
		WORDS(d, 0);
	WORDS(d, abi);
	if (abi)
		WORDS(d, FRAME + 16, FRAME, 0x1010);
	WORDS(d, size);
	words(d, n, stack);
	if (size)
		WORDS(d, meant);
	end(d);
}

/* Without a file to read, by frame pointers. */
START_TEST(perf_copied_stacks)
{
	struct data d = pipe_of(COPIED, 0);
	const uint64_t kernel = 0xffffffff81000000;

	map(&d, 1, 1, 0x1000, 0x1000, 0, "//anon");
	copied_sample(&d, 0x1010, PERF_SAMPLE_REGS_ABI_64, 80, 80, 10);
	copied_sample(&d, kernel, PERF_SAMPLE_REGS_ABI_64, 80, 80, 10);
	copied_sample(&d, 0x1010, PERF_SAMPLE_REGS_ABI_64, 80, 48, 10); /* all but two words */
	copied_sample(&d, 0x1010, PERF_SAMPLE_REGS_ABI_32, 80, 80, 10);
	copied_sample(&d, kernel, PERF_SAMPLE_REGS_ABI_NONE, 0, 0, 0);
	copied_sample(&d, 0x1010, PERF_SAMPLE_REGS_ABI_64, 0, 0, 0);
	reads_data(&d);
	ck_assert_str_eq(stack(0), "//anon+1010;//anon+1020;//anon+1030");
	ck_assert_str_eq(stack(1), "[kernel]+ffffffff81000000;//anon+1010;//anon+1020;//anon+1030");
	ck_assert_str_eq(stack(2), "//anon+1010;//anon+1020");
	ck_assert_str_eq(stack(3), "//anon+1010");
	ck_assert_str_eq(stack(4), "[kernel]+ffffffff81000000");
	ck_assert_str_eq(stack(5), "//anon+1010");
}
END_TEST

START_TEST(perf_copied_stacks_end_where_nothing_is_mapped)
{
	struct data d = pipe_of(COPIED, 0);

	map(&d, 1, 1, 0x1000, 0x30, 0, "//anon");
	copied_sample(&d, 0x1010, PERF_SAMPLE_REGS_ABI_64, 80, 80, 10);
	reads_data(&d);
	ck_assert_str_eq(stack(0), "//anon+1010;//anon+1020");
}
END_TEST

/* What a captured child may answer: frames of caller and address, then each sample's innermost one;
 * all numbers are below 128. */
static const struct {
	uint8_t n, b[8];
} answers[] = {{5, {1, 0, 0x42, 1, 1}}, {6, {1, 0, 0x42, 1, 1, 0}}, {4, {1, 0, 0x42, 1}}, {0},
    {5, {1, 1, 0x42, 1, 1}} /* its own caller */, {5, {1, 0, 0x42, 1, 2}} /* no such frame */,
    {5, {9, 0, 0x42, 1, 1}}, {2, {0, 0}} /* of no sample */};
static size_t answered;

static int captured(int (*run)(void *, struct buf *, struct err *), void *arg, size_t bytes,
    struct buf *answer, struct err *why)
{
	buf_add(answer, answers[answered].b, answers[answered].n);
	return 0;
}

START_TEST(perf_stacks_by_a_captured_child)
{
	struct data d = pipe_of(COPIED, 0);

	map(&d, 1, 1, 0, 0x2000, 0, "//anon");
	copied_sample(&d, 0x1010, PERF_SAMPLE_REGS_ABI_64, 80, 80, 10);
	answered = (size_t)_i;
	ck_assert(!perf_read(&r, "f", (uint8_t *)d.b.p, d.b.n, captured, &e));
	ck_assert_str_eq(stack(0), _i == 0 ? "//anon+42" : "//anon+1010");
	buf_free(&d.b);
}
END_TEST

START_TEST(perf_damaged_stacks)
{
	static const struct {
		uint64_t size, meant;
	} bad[] = {{80, 81}, {88, 80}, {96, 80}, {UINT64_MAX, 80}, {UINT64_MAX / 2, UINT64_MAX}};
	struct data d = pipe_of(COPIED, 0);
	char offset[32];

	map(&d, 1, 1, 0x1000, 0x1000, 0, "//anon");
	copied_sample(&d, 0x1010, PERF_SAMPLE_REGS_ABI_64, 80, 80, 10);
	snprintf(offset, sizeof offset, "f: offset %zu: a sample", d.b.n);
	copied_sample(&d, 0x1010, PERF_SAMPLE_REGS_ABI_64, bad[_i].size, bad[_i].meant, 10);
	refuses_data(&d, offset);
}
END_TEST

START_TEST(perf_losses_and_unknown_events)
{
	struct data d = pipe_of(TYPE, 0);

	begin(&d, PERF_RECORD_LOST, 0);
	WORDS(&d, 7, 40);
	trailer(&d, 0, 1, 7);
	begin(&d, PERF_RECORD_LOST_SAMPLES, 0);
	WORDS(&d, 5);
	trailer(&d, 0, 1, 7);
	begin(&d, 200, 0); /* of a newer perf */
	end(&d);
	begin(&d, 71, 0); /* a trace of the processor: 24 bytes follow */
	WORDS(&d, 24, 0, 0, 0, 0);
	end(&d);
	WORDS(&d, 1, 2, 3);
	begin(&d, 66, 0); /* formats of tracepoints: 5 bytes, filled up to 8 */
	buf_le32(&d.b, 5);
	end(&d);
	WORDS(&d, 1);
	sample(&d, 8, 1, 1, 0x10);
	reads_data(&d);
	ck_assert_uint_eq(r.lost, 46);
	ck_assert_uint_eq(r.sample.n, 0);
	d = pipe_of(TYPE, 0);
	begin(&d, 71, 0);
	WORDS(&d, UINT64_MAX, 0, 0, 0, 0);
	end(&d);
	refuses_data(&d, "the data of a record are cut off");
}
END_TEST

/* Of a group, each member has counted so much since it was read last; nothing: no sample. */
START_TEST(perf_groups_that_are_read)
{
	struct data d = pipe_of(TYPE | PERF_SAMPLE_READ, 0);
	size_t i, k, n;

	for (n = 0; n < 2; n++) /* both attrs say so */
		put_le64(
		    d.b.p + 16 + n * (8 + 128 + 8) + 8 + 32, PERF_FORMAT_GROUP | PERF_FORMAT_ID);
	for (i = 1; i <= 2; i++) {
		begin(&d, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		WORDS(&d, 7, 0x1000, TWO(1, 1), 5, 2, 100 * i, 7, 30, 9);
		end(&d);
	}
	reads_data(&d);
	ck_assert_uint_eq(r.sample.n, 3);
	for (k = 0; k < 3; k++)
		ck_assert_uint_eq(r.sample.v[k].period, k == 1 ? 30 : 100);
}
END_TEST

static struct data compressed(bool newer, size_t cut)
{
	struct data d = pipe_of(TYPE, 0), inner = {0};
	ZSTD_CCtx *z = ZSTD_createCCtx();
	char out[4096];
	size_t n, i;

	map(&inner, 1, 1, 0x1000, 0x1000, 0, "/p");
	for (i = 0; i < 30; i++)
		sample(&inner, 7, 1, 5, 0x1000 + i);
	n = ZSTD_compressCCtx(z, out, sizeof out, inner.b.p, inner.b.n - cut, 3);
	ZSTD_freeCCtx(z);
	buf_free(&inner.b);
	/* in two records, which meet anywhere */
	for (i = 0; i < 2; i++) {
		size_t from = i ? n / 2 : 0, size = i ? n - n / 2 : n / 2;

		begin(&d, newer ? 83 : 81, 0);
		if (newer)
			WORDS(&d, size);
		buf_add(&d.b, out + from, size);
		if (newer)
			end(&d);
		else
			put_le16(d.b.p + d.record + 6, (uint16_t)(d.b.n - d.record));
	}
	return d;
}

START_TEST(perf_compressed)
{
	struct data d = compressed(_i, 0);

	reads_data(&d);
	ck_assert_uint_eq(r.sample.n, 30);
	ck_assert_str_eq(stack(29), "/p+1d");
	d = compressed(_i, 8);
	refuses_data(&d, "a compressed record is cut off");
	d = compressed(_i, 0);
	memset(d.b.p + d.record + 16, 0xee, 16);
	refuses_data(&d, "compressed data are damaged");
}
END_TEST

START_TEST(perf_what_is_wrong)
{
	struct data d = pipe_of(TYPE, 0);
	size_t at = d.b.n;

	refuses("PERFILE2", 8, "f: offset 8: the header is cut off");
	refuses("PERFFILE01234567", 16, "version 1");
	refuses("2ELIFREP01234567", 16, "another byte order");
	refuses(d.b.p, at - 1, "a record is cut off");
	map(&d, 1, 1, 0x1000, 0x1000, 0, "/p");
	memset(d.b.p + at + 40, 'x', 8); /* no end of the path */
	refuses(d.b.p, d.b.n, "a mapping is cut off");
	put_le16(d.b.p + at + 6, 4);
	refuses(d.b.p, d.b.n, "a record is too short");
	buf_free(&d.b);
	d = (struct data){.type = TYPE};
	buf_str(&d.b, "PERFILE2");
	WORDS(&d, 16);
	sample(&d, 7, 1, 1, 1);
	refuses(d.b.p, d.b.n, "before the attributes");
	buf_free(&d.b);
	/* A file: the sections of its header are anywhere. */
	buf_str(&d.b, "PERFILE2");
	WORDS(&d, 104, 144, 104, 144, 1 << 20, 8, 0, 0, 0, 0, 0, 0);
	attr(&d, PERF_TYPE_SOFTWARE, 0, 0);
	WORDS(&d, 0, 0);
	refuses(d.b.p, d.b.n, "offset 40: a section exceeds the file");
	put_le64(d.b.p + 16, 0);
	refuses(d.b.p, d.b.n, "the attributes have no such size");
	buf_free(&d.b);
}
END_TEST

/* A section (offset, size) at a place of the header, or of the features. */
static void section(struct data *d, size_t at, size_t begin, size_t end)
{
	put_le64(d->b.p + at, begin);
	put_le64(d->b.p + at + 8, end - begin);
}

static void event_name(struct data *d, uint64_t id, const char *name)
{
	attr(d, 0, 0, 0);
	WORDS(d, TWO(1, 16));
	buf_add(&d->b, (char[16]){0}, 16);
	strcpy(d->b.p + d->b.n - 16, name);
	WORDS(d, id);
}

/* What its header has of files. */
static struct data file_with_features(void)
{
	enum { ATTRS = 104, ATTR = 128 + 16, IDS = ATTRS + 2 * ATTR, DATA = IDS + 3 * 8 };
	struct data d = {.type = TYPE};
	size_t features, builds, names;

	buf_str(&d.b, "PERFILE2");
	WORDS(&d, 104, ATTR, 0, 0, 0, 0, 0, 0, 1 << 2 | 1 << 12, 0, 0, 0);
	section(&d, 24, ATTRS, IDS);
	attr(&d, PERF_TYPE_SOFTWARE, 0, 0);
	WORDS(&d, IDS, 16); /* on two processors */
	attr(&d, PERF_TYPE_RAW, 0x1c2, 0);
	WORDS(&d, IDS + 16, 8, 7, 8, 9);
	map(&d, 1, 0, 0x1000, 0x1000, 0, "/p");
	sample(&d, 8, 1, 5, 0x1010);
	sample(&d, 9, 1, 5, 0x1020);
	section(&d, 40, DATA, d.b.n);
	features = d.b.n;
	WORDS(&d, 0, 0, 0, 0);
	builds = d.b.n;
	begin(&d, 67, PERF_RECORD_MISC_USER);
	WORDS(&d, TWO(1, 0x04030201), 5, 0, 0); /* 16 bytes, filled up */
	d.b.n -= 4;
	string(&d, "/p");
	end(&d);
	names = d.b.n;
	WORDS(&d, TWO(2, 128));
	event_name(&d, 7, "cpu-clock:u");
	event_name(&d, 9, "uops.retired");
	section(&d, features, builds, names);
	section(&d, features + 16, names, d.b.n);
	return d;
}

START_TEST(perf_features_of_files)
{
	struct data d = file_with_features();
	size_t i;

	reads(d.b.p, d.b.n);
	ck_assert_uint_eq(r.sample.n, 2);
	ck_assert_str_eq(stack(1), "/p+20");
	ck_assert_str_eq(r.event.v[r.sample.v[0].event].name, "cpu-clock:u");
	ck_assert_str_eq(r.event.v[r.sample.v[0].event].unit, "ns");
	ck_assert_str_eq(r.event.v[r.sample.v[1].event].name, "uops.retired");
	ck_assert_str_eq(r.event.v[r.sample.v[1].event].unit, "count");
	ck_assert_uint_eq(r.file.v[0].id.n, 8);
	ck_assert_uint_eq(r.file.v[0].id.b[4], 5);
	/* Cut off anywhere it is refused, by what is missing. */
	for (i = 8; i < d.b.n; i++)
		refuses(d.b.p, i, "f: offset ");
	/* perf was killed before it wrote the size, and the features. */
	i = get_le64(d.b.p + 40) + get_le64(d.b.p + 48);
	put_le64(d.b.p + 48, 0);
	refuses(d.b.p, d.b.n, "f: offset ");
	recording_free(&r);
	reads(d.b.p, i);
	ck_assert_uint_eq(r.sample.n, 2);
	ck_assert_str_eq(r.event.v[r.sample.v[1].event].name, "event 4/0x1c2");
	buf_free(&d.b);
}
END_TEST

START_TEST(perf_names_in_pipes)
{
	struct data d = pipe_of(TYPE, 0);

	begin(&d, 80, 0); /* a feature: descriptions of events */
	WORDS(&d, 12, TWO(2, 128));
	event_name(&d, 7, "first");
	event_name(&d, 9, "second");
	end(&d);
	begin(&d, 78, 0); /* an update: a name */
	WORDS(&d, 2, 9);
	string(&d, "renamed");
	end(&d);
	sample(&d, 7, 1, 5, 0x1010);
	sample(&d, 9, 1, 5, 0x1010);
	reads(d.b.p, d.b.n);
	ck_assert_str_eq(r.event.v[r.sample.v[0].event].name, "first");
	ck_assert_str_eq(r.event.v[r.sample.v[1].event].name, "renamed");
	ck_assert_str_eq(r.event.v[r.sample.v[1].event].unit, "cycles");
	buf_free(&d.b);
}
END_TEST

/* ---- pprof ---- */

static void number_field(struct buf *b, unsigned field, uint64_t v)
{
	buf_uleb(b, field << 3);
	buf_uleb(b, v);
}

static void bytes_field(struct buf *b, unsigned field, const void *p, size_t n)
{
	buf_uleb(b, field << 3 | 2);
	buf_uleb(b, n);
	buf_add(b, p, n);
}

/* A message of numbers in fields 1, 2, …; zeros are left out. */
static void message_field(struct buf *b, unsigned field, size_t n, const uint64_t *v)
{
	struct buf m = {0};
	size_t i;

	for (i = 0; i < n; i++)
		if (v[i])
			number_field(&m, (unsigned)i + 1, v[i]);
	bytes_field(b, field, m.p, m.n);
	buf_free(&m);
}
#define MESSAGE(b, field, ...) \
	message_field(b, field, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

static void location(struct buf *b, uint64_t id, uint64_t mapping, uint64_t addr, size_t n,
    const uint64_t (*line)[2])
{
	struct buf m = {0};

	number_field(&m, 1, id);
	number_field(&m, 2, mapping);
	number_field(&m, 3, addr);
	while (n--)
		message_field(&m, 4, 2, *line++);
	bytes_field(b, 4, m.p, m.n);
	buf_free(&m);
}

static void pprof_sample(struct buf *b, size_t n, const uint8_t *of, uint64_t count, uint64_t ns)
{
	struct buf m = {0};

	bytes_field(&m, 1, of, n); /* packed: each below 128 */
	number_field(&m, 2, count);
	number_field(&m, 2, ns);
	MESSAGE(&m, 3, 10, 0, 77); /* pid */
	bytes_field(b, 2, m.p, m.n);
	buf_free(&m);
}

static struct buf pprof(void)
{
	static const char *const strings[] = {"", "samples", "count", "cpu", "nanoseconds", "/p",
	    "0102AB", "inner", "_Zouter", "p.c", "pid"};
	struct buf b = {0};
	size_t i;

	MESSAGE(&b, 1, 1, 2);
	MESSAGE(&b, 1, 3, 4);
	pprof_sample(&b, 2, (const uint8_t[]){2, 1}, 3, 3000);
	pprof_sample(&b, 1, (const uint8_t[]){3}, 0, 5);
	MESSAGE(&b, 3, 1, 0x1000, 0x2000, 0x400, 5, 6);
	location(&b, 1, 1, 0x1010, 0, NULL);
	location(&b, 2, 1, 0x1020, 2, (const uint64_t[][2]){{1, 11}, {2, 22}});
	location(&b, 3, 0, 0, 1, (const uint64_t[][2]){{2, 0}});
	MESSAGE(&b, 5, 1, 7, 0, 9, 3);
	MESSAGE(&b, 5, 2, 0, 8);
	for (i = 0; i < sizeof strings / sizeof *strings; i++)
		bytes_field(&b, 6, strings[i], strlen(strings[i]));
	number_field(&b, 12, 1000);
	return b;
}

static void check_pprof(void)
{
	const struct recording_location *l;
	const struct recording_function *f;

	ck_assert_uint_eq(r.sample.n, 2);
	ck_assert_str_eq(stack(0), "/p+420;/p+410");
	ck_assert_str_eq(stack(1), "[pprof]+3");
	ck_assert_uint_eq(r.sample.v[0].n, 3);
	ck_assert_uint_eq(r.sample.v[0].period, 3000);
	ck_assert_uint_eq(r.sample.v[1].n, 1);
	ck_assert_uint_eq(r.event.n, 1);
	ck_assert_str_eq(r.event.v[r.sample.v[0].event].name, "cpu");
	ck_assert_str_eq(r.event.v[r.sample.v[0].event].unit, "ns");
	ck_assert_uint_eq(r.task.v[r.sample.v[0].task].pid, 77);
	ck_assert_uint_eq(r.file.v[0].id.n, 3);
	ck_assert_uint_eq(r.file.v[0].id.b[2], 0xab);
	l = &r.location.v[r.stack.v[r.sample.v[0].stack].location];
	ck_assert_uint_eq(l->nframe, 2);
	f = &r.function.v[r.frame.v[l->frame].function];
	ck_assert_str_eq(f->name, "inner");
	ck_assert_str_eq(f->source, "p.c");
	ck_assert_uint_eq(f->line, 3);
	ck_assert_uint_eq(r.frame.v[l->frame].line, 11);
	f = &r.function.v[r.frame.v[l->frame + 1].function];
	ck_assert_str_eq(f->name, "_Zouter");
	ck_assert_str_eq(f->linkage, "_Zouter");
	ck_assert(!r.location.v[0].resolved);
}

START_TEST(pprof_comes_back)
{
	struct buf b = pprof();

	reads(b.p, b.n);
	check_pprof();
	buf_free(&b);
}
END_TEST

static size_t gzip(const struct buf *b, void *out, size_t n)
{
	z_stream z = {.next_in = (Bytef *)b->p, .avail_in = (uInt)b->n};

	ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = out;
	z.avail_out = (uInt)n;
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

START_TEST(gzip_is_unpacked)
{
	struct buf b = pprof(), half = {b.p, b.n / 2, 0}, rest = {b.p + half.n, b.n - half.n, 0};
	char out[4096];
	size_t n;

	n = gzip(&half, out, sizeof out); /* two members */
	n += gzip(&rest, out + n, sizeof out - n);
	reads(out, n);
	check_pprof();
	refuses(out, n - 9, "gzip data are cut off");
	out[20] ^= 0x55;
	refuses(out, n, "gzip data are damaged");
	buf_free(&b);
}
END_TEST

/* After the profile above, which is sound, something that is not. */
static void pprof_refuses(struct buf *b, const char *part)
{
	o.format = "pprof";
	refuses(b->p, b->n, part);
	buf_free(b);
}

START_TEST(pprof_what_is_wrong)
{
	struct buf b = pprof();

	b.n--;
	pprof_refuses(&b, "a message is damaged");
	b = pprof();
	MESSAGE(&b, 1, 99);
	pprof_refuses(&b, "an index beyond the table of strings");
	b = pprof();
	MESSAGE(&b, 3, 1);
	pprof_refuses(&b, "an id comes twice");
	b = pprof();
	MESSAGE(&b, 5, 0, 7);
	pprof_refuses(&b, "an id is 0");
	b = pprof();
	location(&b, 8, 9, 1, 0, NULL);
	pprof_refuses(&b, "a mapping that there is not");
	b = pprof();
	location(&b, 8, 1, 1, 1, (const uint64_t[][2]){{9, 1}});
	pprof_refuses(&b, "a function that there is not");
	b = pprof();
	pprof_sample(&b, 1, (const uint8_t[]){9}, 1, 1);
	pprof_refuses(&b, "a location that there is not");
	b = pprof();
	pprof_sample(&b, 1, (const uint8_t[]){1}, 1, UINT64_MAX);
	pprof_refuses(&b, "a negative value");
	b = pprof();
	MESSAGE(&b, 2, 1, 5);
	pprof_refuses(&b, "not as many values");
	b = pprof();
	number_field(&b, 2, 5);
	pprof_refuses(&b, "a number where a message should be");
}
END_TEST

/* ---- text ---- */

START_TEST(folded_stacks)
{
	reads_text("a;b c;a 3\n\na 4\r\nx;y 0\na;b c;a 1");
	ck_assert_uint_eq(r.sample.n, 3);
	ck_assert_uint_eq(r.sample.v[0].n, 3);
	ck_assert_uint_eq(r.sample.v[0].stack, r.sample.v[2].stack);
	ck_assert_uint_eq(r.location.n, 2);
	ck_assert_str_eq(r.function.v[1].name, "b c");
	ck_assert_uint_eq(r.file.v[0].kind, RECORDING_NAMED);
	ck_assert_uint_eq(r.location.v[1].nframe, 1);
	o.format = "folded";
	refuses_text("a 1\nb;c\n", "f: line 2: ");
	refuses_text("a 99999999999999999999\n", "f: line 1: ");
	refuses_text(" 3\n", "f: line 1: ");
}
END_TEST

static uint64_t main_address(void);

/* The place of an instruction of this program, by an address of its ELF file. */
static const char *at(uint64_t offset)
{
	static char text[64];

	snprintf(text, sizeof text, "%llx", (unsigned long long)(main_address() + offset));
	return text;
}

static int find_main(const struct elf_symbol *s, void *arg)
{
	if (strcmp(s->name, "main") == 0)
		*(uint64_t *)arg = s->value;
	return 0;
}

static uint64_t main_address(void)
{
	struct elf *f = elf_file_open("/proc/self/exe", -1, &e);
	uint64_t value = 0;

	ck_assert_msg(f != NULL, "%s", e.text);
	elf_file_symbols(f, false, find_main, &value);
	elf_file_close(f);
	ck_assert_uint_ne(value, 0);
	return value;
}

/* Offset in the file of main + n. */
static uint64_t in_file(uint64_t n)
{
	struct elf *f = elf_file_open("/proc/self/exe", -1, &e);
	uint64_t v = main_address() + n;
	struct elf_segment s;

	ck_assert_uint_eq(elf_file_exec_segments(f, &s, 1), 1);
	elf_file_close(f);
	return v - s.vaddr + s.offset;
}

static void check_range(size_t i, uint64_t from, uint64_t to, uint64_t n)
{
	ck_assert_uint_lt(i, r.range.n);
	ck_assert_uint_eq(r.location.v[r.range.v[i].from].offset, in_file(from));
	ck_assert_uint_eq(r.location.v[r.range.v[i].to].offset, in_file(to));
	ck_assert_uint_eq(r.range.v[i].n, n);
}

static void check_branch(size_t i, uint64_t from, uint64_t to, uint64_t n, uint64_t mispredicted)
{
	ck_assert_uint_lt(i, r.branch.n);
	ck_assert_uint_eq(r.location.v[r.branch.v[i].from].offset, in_file(from));
	ck_assert_uint_eq(r.location.v[r.branch.v[i].to].offset, in_file(to));
	ck_assert_uint_eq(r.branch.v[i].n, n);
	ck_assert_uint_eq(r.branch.v[i].mispredicted, mispredicted);
}

static void check_sample(size_t i, uint64_t offset, uint64_t n, const char *event)
{
	ck_assert_uint_lt(i, r.sample.n);
	ck_assert_uint_eq(
	    r.location.v[r.stack.v[r.sample.v[i].stack].location].offset, in_file(offset));
	ck_assert_uint_eq(r.sample.v[i].n, n);
	ck_assert_str_eq(r.event.v[r.sample.v[i].event].name, event);
}

static const char *in_file_text(uint64_t offset)
{
	static char text[64];

	snprintf(text, sizeof text, "%llx", (unsigned long long)in_file(offset));
	return text;
}

START_TEST(autofdo_text)
{
	struct buf b = {0};

	o.module = "/proc/self/exe";
	buf_printf(&b, "1\n%s-", in_file_text(2));
	buf_printf(&b, "%s:7\n2\n", in_file_text(5));
	buf_printf(&b, "%s:3\nffffffffffff:4\n\n1\n", in_file_text(4));
	buf_printf(&b, "%s->", in_file_text(5));
	buf_printf(&b, "0x%s:9\n// the tool's\n", in_file_text(0));
	reads_text(buf_cstr(&b));
	check_range(0, 2, 5, 7);
	check_sample(0, 4, 3, "samples");
	ck_assert_uint_eq(r.sample.n, 1);
	check_branch(0, 5, 0, 9, 0);
	buf_free(&b);
	o.format = "autofdo";
	refuses_text("1\n1-2:3\n0\n2\n1->2:3\n", "line 5: the file ends within a list");
	refuses_text("1\n1-2:3\n0\n1\n1-2:3\n", "line 5: not FROM->TO:COUNT");
	refuses_text("1\n1-2:x\n", "line 2: not FROM-TO:COUNT");
	refuses_text("99999999999999999999\n", "line 1: the length of a list is no number");
	o.module = NULL;
	refuses_text("0\n0\n0\n", "--program");
}
END_TEST

START_TEST(preaggregated_lines)
{
	struct buf b = {0};

	o.module = "/proc/self/exe";
	buf_printf(&b, "B %s ", at(5));
	buf_printf(&b, "%s 9 2\nB X:1 X:2 3 0\nF ", at(0));
	buf_printf(&b, "%s ", at(2));
	buf_printf(&b, "%s 7\nT ", at(5));
	buf_printf(&b, "%s ", at(5));
	buf_printf(&b, "%s ", at(0));
	buf_printf(&b, "%s 1\nE cycles:u\nS ", at(3));
	buf_printf(&b, "%s 4\n", at(1));
	reads_text(buf_cstr(&b));
	buf_free(&b);
	ck_assert_uint_eq(r.branch.n, 1);
	check_branch(0, 5, 0, 10, 2);
	check_range(0, 2, 5, 7);
	check_range(1, 0, 3, 1);
	check_sample(0, 1, 4, "cycles:u");
	o.format = "preaggregated";
	refuses_text("B 1 2 3\n", "line 1: ");
	refuses_text("F 1 2 3\nQ 1 2 3\n", "line 2: ");
	refuses_text("F 1 2 3 4\n", "line 1: ");
}
END_TEST

START_TEST(fdata_lines)
{
	o.module = "/proc/self/exe";
	reads_text("1 main 5 1 main 0 2 9\n0 [unknown] 0 1 main 0 0 3\n4 main 2 3 x 0 5\n"
		   "2 find_main/1 3 1 no\\ such 3 0 5\n");
	ck_assert_uint_eq(r.branch.n, 3);
	check_branch(0, 5, 0, 9, 2);
	ck_assert_uint_eq(r.branch.v[1].from, RECORDING_NONE);
	ck_assert_uint_ne(r.branch.v[2].from, RECORDING_NONE);
	ck_assert_uint_eq(r.branch.v[2].to, RECORDING_NONE);
	recording_free(&r);
	reads_text("no_lbr cycles:u:\n1 main 4 6\n");
	check_sample(0, 4, 6, "cycles:u");
	o.format = "fdata";
	refuses_text("1 no_such 1 1 nor_this 2 3 4\n", "no function that it names");
	refuses_text("1 main 5 1 main 0 2\n", "line 1: ");
	refuses_text("9 main 5 1 main 0 2 1\n", "line 1: ");
	o.module = "/no/such/file";
	refuses_text("1 main 5 1 main 0 2 1\n", "/no/such/file");
}
END_TEST

/* ---- Morph's own ---- */

START_TEST(recorded_feed)
{
	struct wire_sample s[] = {{0x10, 3}, {0x20, 1}};
	struct wire_module m = {.path = "/p", .sample = s, .nsample = 2};
	struct wire_batch batch = {.session = 1,
	    .seq = 1,
	    .start_ns = 5,
	    .end_ns = 9,
	    .taken = 4 + 5 + 6 + 7,
	    .kernel = 5,
	    .outside = 6,
	    .dropped = 7,
	    .module = &m,
	    .nmodule = 1};
	struct buf b = {0};

	build_id_parse("0102", &m.id);
	wire_put_hello(&b, &(struct wire_hello){1, 1000, WIRE_SRC_CPU_CLOCK, 1});
	wire_put_batch(&b, &batch);
	reads(b.p, b.n);
	ck_assert_uint_eq(r.sample.n, 4);
	ck_assert_str_eq(stack(0), "/p+10");
	ck_assert_uint_eq(r.sample.v[0].n, 3);
	ck_assert_uint_eq(r.sample.v[0].period, 3000);
	ck_assert_uint_eq(r.sample.v[0].time_ns, 5);
	ck_assert_str_eq(stack(2), "[kernel]+0");
	ck_assert_uint_eq(r.sample.v[3].n, 6);
	ck_assert_uint_eq(r.lost, 7);
	ck_assert_uint_eq(r.file.v[0].id.n, 2);
	refuses(b.p, b.n - 1, "f: offset 48: a frame is cut off");
	refuses(b.p + 48, b.n - 48, "f: offset 0: ");
	buf_free(&b);
}
END_TEST

/* "NAME SOURCE:LINE" of a location's frames, innermost first, by ';'. */
static const char *frames(uint32_t location)
{
	static char text[512];
	const struct recording_location *l = &r.location.v[location];
	const struct recording_function *f;
	uint32_t i;

	text[0] = '\0';
	for (i = l->frame; i < l->frame + l->nframe; i++) {
		f = &r.function.v[r.frame.v[i].function];
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %s:%u",
		    *text ? ";" : "", f->name, f->source, r.frame.v[i].line);
	}
	return text;
}

static const char *sampled(size_t sample)
{
	return frames(r.stack.v[r.sample.v[sample].stack].location);
}

START_TEST(llvm_text)
{
	reads_text(
	    "# c\nmain:31:1\n 1: 1\n 2.1: 10 _Z4workv:9 f.llvm.7:1 never:0\n 4: 0\n 3: mix:20\n"
	    "  1: 15\n  2.3: deep:5\n   0: 5\n  !CFGChecksum: 12\n 9: 2\n_Z4workv:7:9\n 1: 7\n");
	ck_assert_uint_eq(r.sample.n, 6);
	ck_assert_str_eq(sampled(0), "main [main]:1");
	ck_assert_uint_eq(r.sample.v[1].n, 10);
	ck_assert_str_eq(sampled(2), "mix [mix]:1;main [main]:3");
	ck_assert_str_eq(sampled(3), "deep [deep]:0;mix [mix]:2;main [main]:3");
	ck_assert_str_eq(sampled(4), "main [main]:9");
	ck_assert_str_eq(sampled(5), "_Z4workv [_Z4workv]:1");
	ck_assert_uint_eq(r.branch.n, 2);
	ck_assert_uint_eq(r.branch.v[0].n, 9);
	ck_assert_str_eq(frames(r.branch.v[0].from), "main [main]:2");
	ck_assert_str_eq(frames(r.branch.v[0].to), "_Z4workv [_Z4workv]:0");
	ck_assert_str_eq(frames(r.branch.v[1].to), "f.llvm.7 [f.llvm.7]:0");
	ck_assert_uint_eq(r.file.v[0].kind, RECORDING_NAMED);
}
END_TEST

START_TEST(llvm_what_is_wrong)
{
	char deep[20000] = "a:1:1\n";
	int i;

	refuses_text("[main:1 @ f]:1:1\n 1: 1\n", "f: line 1: a profile with contexts");
	refuses_text("a:1:1\n  1: 1\n", "f: line 2: deeper");
	refuses_text("a:1:1\n 1: b:1\n   1: 1\n", "f: line 3: deeper");
	refuses_text("a:1:1\n 1 1\n", "f: line 2: not LINE");
	refuses_text("a:1:1\n 1:\n", "f: line 2: not LINE");
	refuses_text("a:1:1\n 4294967296: 1\n", "f: line 2: not LINE");
	refuses_text("a:1:1\n 1.x: 1\n", "f: line 2: not LINE");
	refuses_text("a:1:1\n 1: 1 b:x\n", "f: line 2: not LINE");
	refuses_text("a:1:1\n 1: b:1:1 c\n", "f: line 2: not LINE");
	refuses_text("a:1:1\nb:1\n", "f: line 2: not NAME:TOTAL:HEAD");
	refuses("a:1:1\nb\0:1:1\n", 13, "f: line 2: not NAME:TOTAL:HEAD");
	for (i = 1; i <= 130; i++)
		snprintf(deep + strlen(deep), sizeof deep - strlen(deep), "%*s1: b:1\n", i, "");
	refuses_text(deep, "f: line 129: ");
}
END_TEST

START_TEST(gcov_text)
{
	reads_text("        -:    0:Source:a.cc\n        -:    0:Runs:1\n        3:    1:int x;\n"
		   "    #####:    2:y\n        8*:    4:t\n------------------\nint f<int>():\n"
		   "function int f<int>() called 5 returned 100% blocks executed 9%\n"
		   "        5:    4:t\n------------------\n_Z1fv:\n        3:    4:t\n"
		   "------------------\nfunction main called 1 returned 100% blocks executed 80%\n"
		   "       10:    6: x:1\nbranch  0 taken 60%\ncall    0 returned 100%\n"
		   "        -:    0:Source:b.h\n        2:    6:z\n");
	ck_assert_uint_eq(r.sample.n, 5);
	ck_assert_str_eq(r.event.v[0].name, "executions");
	ck_assert_str_eq(sampled(0), "[a.cc] a.cc:1");
	ck_assert_str_eq(sampled(1), "int f<int>() a.cc:4");
	ck_assert_uint_eq(r.sample.v[1].n, 5);
	ck_assert_str_eq(sampled(2), "_Z1fv a.cc:4");
	ck_assert_str_eq(sampled(3), "main a.cc:6");
	ck_assert_str_eq(sampled(4), "[b.h] b.h:6");
	o.format = "gcov";
	refuses_text("        1:    1:x\n", "f: line 1: not COUNT:LINE:TEXT");
	refuses_text("        -:    0:Source:a\n     1.2k:    1:x\n", "f: line 2: not COUNT");
	refuses_text("        -:    0:Source:a\n        1:    1x:x\n", "f: line 2: not COUNT");
	refuses_text("        -:    0:Source:a\nfunction  called 1\n", "f: line 2: not COUNT");
	refuses_text("        -:    0:Source:a\n        -:    0:Source:\n", "f: line 2: not COUNT");
}
END_TEST

#define GCOV_LINE(line) \
	"{\"gcc_version\": \"12.2.0\", \"files\": [{\"file\": \"a.cc\", \"functions\": " \
	"[{\"name\": \"_Z1fv\"," \
	" \"demangled_name\": \"f()\", \"start_line\": 7, \"blocks\": 3}], \"lines\": [" line \
	"]}]}\n"

START_TEST(gcov_json)
{
	reads_text(GCOV_LINE("{\"branches\": [{\"count\": 1}], \"count\": 10, \"line_number\": 8, "
			     "\"function_name\": \"_Z1fv\"}, {\"count\": 0, \"line_number\": 9},"
			     "{\"count\": 2, \"line_number\": 9}")
		GCOV_LINE("{\"count\": 4, \"line_number\": 3, \"function_name\": \"g\"}"));
	ck_assert_uint_eq(r.sample.n, 3);
	ck_assert_str_eq(sampled(0), "f() a.cc:8");
	ck_assert_str_eq(r.function.v[0].linkage, "_Z1fv");
	ck_assert_uint_eq(r.function.v[0].line, 7);
	ck_assert_uint_eq(r.sample.v[0].n, 10);
	ck_assert_str_eq(sampled(1), "[a.cc] a.cc:9");
	ck_assert_str_eq(sampled(2), "g a.cc:3");
	refuses_text(
	    GCOV_LINE("{\"count\": -1, \"line_number\": 8}"), "f: a.cc: not a line_number");
	refuses_text(
	    GCOV_LINE("{\"count\": 1.5, \"line_number\": 8}"), "f: a.cc: not a line_number");
	refuses_text(GCOV_LINE("7"), "f: a.cc: not a line_number");
	refuses_text(GCOV_LINE("") "{\"files\"", "f: offset 165: ");
	o.format = "gcov";
	refuses_text("{}", "f: no files in it");
	refuses_text("{\"files\": [{\"file\": \"a\"}]}", "f: a file without its name and lines");
}
END_TEST

static const char manager_text[] = "range 0 600\n"
				   "file 000000000000000a file aabb - 1000 0 10 1000 /lib/libc.so\n"
				   "= 0x8 16 a name of it\n"
				   "0x10 6\n"
				   "0x20 3\n"
				   "< 000000000000000b 0x105 0x10 4\n"
				   "< 00000000000000ff 0x9 0x10 1\n"
				   "< 000000000000000b 0x205 0x30 1\n"
				   "file 000000000000000b file ccdd - 1000 0 0 0 /bin/prog\n"
				   "^ 000000000000000b 0x305 0x105 4\n"
				   "^ 00000000000000ff 0x305 0x105 4\n"
				   "file 000000000000000c kernel - - 0 0 5 500 [kernel]\n"
				   "< 000000000000000b 0x105 - 2\n";

/* Samples at an address of a file that were called from an address, UINT64_MAX = from none. */
static uint64_t called_at(uint64_t offset, uint64_t site)
{
	const struct recording_sample *s;
	const struct recording_stack *at;
	uint64_t n = 0, from;

	for (s = r.sample.v; s < r.sample.v + r.sample.n; s++) {
		at = &r.stack.v[s->stack];
		from = at->caller == RECORDING_NONE
			   ? UINT64_MAX
			   : r.location.v[r.stack.v[at->caller].location].offset;
		if (r.location.v[at->location].offset == offset && from == site)
			n += s->n;
	}
	return n;
}

START_TEST(addresses_of_the_manager)
{
	size_t i;
	uint64_t n = 0;

	reads_text(manager_text);
	ck_assert(r.partial);
	for (i = 0; i < r.sample.n; i++) {
		n += r.sample.v[i].n;
		ck_assert_uint_eq(r.sample.v[i].period, 100 * r.sample.v[i].n);
	}
	ck_assert_uint_eq(n, 15);
	ck_assert_uint_eq(called_at(0x10, 0x105), 4);
	/* Who called is not known. */
	ck_assert_uint_eq(called_at(0x10, UINT64_MAX), 2);
	ck_assert_uint_eq(called_at(0x20, UINT64_MAX), 3);
	/* The store has forgotten the address, but not who called. */
	ck_assert_uint_eq(called_at(0x30, 0x205), 1);
	ck_assert_uint_eq(called_at(UINT64_MAX, 0x105), 2);
	ck_assert_uint_eq(called_at(UINT64_MAX, UINT64_MAX), 3);
	ck_assert_uint_eq(r.waiting.n, 1);
	ck_assert_uint_eq(r.location.v[r.waiting.v[0].caller].offset, 0x305);
	ck_assert_uint_eq(r.location.v[r.waiting.v[0].callee].offset, 0x105);
	ck_assert_double_eq_tol(r.waiting.v[0].period, 400, 1e-9);
	ck_assert_uint_eq(r.piece.n, 1);
	ck_assert_uint_eq(r.piece.v[0].start, 8);
	ck_assert_uint_eq(r.piece.v[0].size, 16);
	ck_assert_str_eq(r.piece.v[0].linkage, "a name of it");
	ck_assert_str_eq(r.file.v[r.piece.v[0].file].path, "/lib/libc.so");
}
END_TEST

START_TEST(addresses_that_are_wrong)
{
#define HEAD "range 0 1\nfile 0a file - - 0 0 3 3 /x\n0x10 2\n"
	refuses_text(HEAD "< 0a 0x5 0x10 4\n", "line 4");
	refuses_text(HEAD "< 0a 0x5 0x20 2\n", "line 4");
	refuses_text(HEAD "< 0a 5 0x10 1\n", "line 4");
	refuses_text(HEAD "< 0a 0x5 0x10 0\n", "line 4");
	refuses_text(HEAD "< 0a 0x5 0x10\n", "line 4");
	refuses_text(HEAD "< xy 0x5 0x10 1\n", "line 4");
	refuses_text(HEAD "< 0a 0x5 - 1\n< 0a 0x5 - 1\n", "line 5");
	refuses_text(HEAD "^ 0a 0x5 - 1\n", "line 4");
	refuses_text(HEAD "0x10 1\n", "line 4");
	refuses_text(HEAD "= 0x10 0 main\n", "line 4");
	refuses_text(HEAD "= 0x10 3 \n", "line 4");
	refuses_text(HEAD "= 10 3 main\n", "line 4");
	refuses_text(HEAD "= 0xffffffffffffff00 512 main\n", "line 4");
	refuses_text("range 0 1\n= 0x10 3 main\n", "line 2");
	refuses_text("range 0 1\n< 0a 0x5 0x10 1\n", "line 2");
	refuses_text("range 0 1\nfile xy file - - 0 0 3 3 /x\n", "line 2");
#undef HEAD
}
END_TEST

START_TEST(what_is_no_format)
{
	refuses_text("hello world\n", "none of the formats");
	refuses("\n\n\n", 3, "none of the formats");
	o.format = "elf";
	refuses_text("a 1\n", "'elf' is no format");
}
END_TEST

START_TEST(each_is_recognised)
{
	static const char *const names[] = {"perf", "morph", "addresses", "pprof", "gcov",
	    "autofdo", "fdata", "preaggregated", "llvm", "profile", "folded"};
	const char *summary;
	unsigned i;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		ck_assert_str_eq(in_format_name(i, &summary), names[i]);
		ck_assert(*summary);
	}
	ck_assert_ptr_null(in_format_name(i, NULL));
}
END_TEST

UNIT_MAIN("in", 20, setup, teardown, perf_looks_up_at_the_time, perf_follows_forks_and_execs,
    perf_kernel_and_modules, perf_build_ids_of_mappings, perf_chains, perf_branches,
    perf_branches_of_calls, perf_callers_of_the_processor, perf_copied_stacks,
    perf_copied_stacks_end_where_nothing_is_mapped, UNIT_LOOP(perf_stacks_by_a_captured_child, 8),
    UNIT_LOOP(perf_damaged_stacks, 5), perf_losses_and_unknown_events, perf_groups_that_are_read,
    UNIT_LOOP(perf_compressed, 2), perf_what_is_wrong, perf_features_of_files, perf_names_in_pipes,
    pprof_comes_back, gzip_is_unpacked, pprof_what_is_wrong, folded_stacks, autofdo_text,
    preaggregated_lines, fdata_lines, recorded_feed, llvm_text, llvm_what_is_wrong, gcov_text,
    gcov_json, addresses_of_the_manager, addresses_that_are_wrong, what_is_no_format,
    each_is_recognised)
