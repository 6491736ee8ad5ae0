#include "common/wire/wire.h"
#include "common/le.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static struct wire_sample samples[] = {{0, 1}, {0x1000, 7}, {0x1001, 1}, {UINT64_MAX, 2}};
static struct wire_sample others[] = {{5, 1000000}};

static struct wire_batch sample_batch(struct wire_module m[3])
{
	struct wire_batch b = {.session = 0x1122334455667788,
	    .seq = 1,
	    .start_ns = 9,
	    .end_ns = 8,
	    .taken = 11 + 1000000 + 3 + 2 + 1,
	    .kernel = 3,
	    .outside = 2,
	    .dropped = 1,
	    .module = m,
	    .nmodule = 3};

	build_id_parse("0102030405060708090a0b0c0d0e0f1011121314", &m[0].id);
	m[0].path = "/usr/bin/lua";
	m[0].uid = 1000;
	m[0].sample = samples;
	m[0].nsample = 4;
	m[1] = m[0];
	m[1].uid = 0;
	m[1].sample = others;
	m[1].nsample = 1;
	build_id_parse("aa", &m[2].id);
	m[2].path = "";
	m[2].uid = UINT32_MAX;
	m[2].nsample = 0;
	return b;
}

static struct buf batch_frame(void)
{
	struct wire_module m[3] = {0};
	struct wire_batch b = sample_batch(m);
	struct buf out = {0};

	wire_put_batch(&out, &b);
	return out;
}

/* Makes the checksum right again after a change. */
static void reseal(struct buf *b)
{
	put_le32(b->p + 8, (uint32_t)(b->n - WIRE_HEADER));
	put_le64(b->p + 16,
	    XXH3_64bits_withSeed(b->p + WIRE_HEADER, b->n - WIRE_HEADER, get_le16(b->p + 6)));
}

START_TEST(a_batch_comes_back)
{
	struct buf b = batch_frame();
	struct arena a = {0};
	enum wire_type type;
	struct wire_batch m;
	struct err e;

	ck_assert_int_eq(wire_frame(b.p, b.n, &type, &e), (long)b.n);
	ck_assert_int_eq(type, WIRE_BATCH);
	ck_assert_msg(!wire_get_batch(b.p, b.n, &a, &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.session, 0x1122334455667788);
	ck_assert_uint_eq(m.seq, 1);
	ck_assert_uint_eq(m.start_ns, 9);
	ck_assert_uint_eq(m.end_ns, 8);
	ck_assert_uint_eq(m.taken, 1000017);
	ck_assert_uint_eq(m.kernel, 3);
	ck_assert_uint_eq(m.outside, 2);
	ck_assert_uint_eq(m.dropped, 1);
	ck_assert_uint_eq(m.nmodule, 3);
	ck_assert_uint_eq(m.module[0].id.n, 20);
	ck_assert_str_eq(m.module[0].path, "/usr/bin/lua");
	ck_assert_uint_eq(m.module[0].uid, 1000);
	ck_assert_uint_eq(m.module[0].nsample, 4);
	ck_assert(!memcmp(m.module[0].sample, samples, sizeof samples));
	ck_assert_uint_eq(m.module[1].sample[0].count, 1000000);
	ck_assert_uint_eq(m.module[2].uid, UINT32_MAX);
	ck_assert_str_eq(m.module[2].path, "");
	arena_free(&a);
	buf_free(&b);
}
END_TEST

START_TEST(hello_and_ack_come_back)
{
	struct wire_hello h = {7, 4000000, WIRE_SRC_TICK, 4711}, h2;
	struct wire_ack k = {7, 3}, k2;
	struct buf b = {0};
	enum wire_type type;
	struct err e;
	long n;

	wire_put_hello(&b, &h);
	wire_put_ack(&b, &k);
	n = wire_frame(b.p, b.n, &type, &e);
	ck_assert_int_eq(n, WIRE_HEADER + 24);
	ck_assert_int_eq(type, WIRE_HELLO);
	ck_assert_int_eq(wire_get_hello(b.p, (size_t)n, &h2, &e), 0);
	ck_assert(!memcmp(&h, &h2, sizeof h));
	ck_assert_int_eq(wire_get_ack(b.p, (size_t)n, &k2, &e), -1);
	ck_assert_int_eq(wire_frame(b.p + n, b.n - (size_t)n, &type, &e), WIRE_HEADER + 16);
	ck_assert_int_eq(wire_get_ack(b.p + n, b.n - (size_t)n, &k2, &e), 0);
	ck_assert(!memcmp(&k, &k2, sizeof k));
	/* Two frames are not one. */
	ck_assert_int_eq(wire_get_hello(b.p, b.n, &h2, &e), -1);
	b.n = 0;
	h.source = 0;
	wire_put_hello(&b, &h);
	ck_assert_int_eq(wire_get_hello(b.p, b.n, &h2, &e), -1);
	ck_assert_str_eq(e.text, "hello: out of range");
	h.source = WIRE_SRC_RECORDED;
	h.period_ns = 0;
	b.n = 0;
	wire_put_hello(&b, &h);
	ck_assert_int_eq(wire_get_hello(b.p, b.n, &h2, &e), -1);
	buf_free(&b);
}
END_TEST

START_TEST(a_stream_is_cut_anywhere)
{
	struct buf b = batch_frame();
	enum wire_type type;
	struct err e;
	size_t n;

	for (n = 0; n < b.n; n++) {
		char *copy = memcpy(xmalloc(n), b.p, n);

		ck_assert_int_eq(wire_frame(copy, n, &type, &e), 0);
		free(copy);
	}
	buf_free(&b);
}
END_TEST

START_TEST(every_flipped_bit_is_noticed)
{
	struct buf b = batch_frame();
	enum wire_type type;
	struct err e;
	size_t bit;

	for (bit = 0; bit < 8 * b.n; bit++) {
		b.p[bit / 8] ^= (char)(1 << bit % 8);
		/* A longer length asks for more bytes; else it is garbage. */
		if (wire_frame(b.p, b.n, &type, &e) >= 0)
			ck_assert(bit / 8 >= 8 && bit / 8 < 12 &&
				  !wire_frame(b.p, b.n, &type, &e) &&
				  get_le32(b.p + 8) <= WIRE_MAX_PAYLOAD);
		b.p[bit / 8] ^= (char)(1 << bit % 8);
	}
	buf_free(&b);
}
END_TEST

START_TEST(garbage_is_told_at_once)
{
	struct buf b = batch_frame();
	enum wire_type type;
	struct err e;

	ck_assert_int_eq(wire_frame("G", 1, &type, &e), -1);
	ck_assert_int_eq(wire_frame("GET / HTTP/1.1\r\n", 16, &type, &e), -1);
	ck_assert_str_eq(e.text, "frame: no frame where one should begin");
	put_le16(b.p + 4, 2);
	ck_assert_int_eq(wire_frame(b.p, b.n, &type, &e), -1);
	ck_assert_str_eq(e.text, "frame: version 2, this Morph speaks 1");
	put_le16(b.p + 4, 1);
	put_le32(b.p + 8, WIRE_MAX_PAYLOAD + 1);
	ck_assert_int_eq(wire_frame(b.p, WIRE_HEADER, &type, &e), -1);
	put_le16(b.p + 6, 9);
	reseal(&b);
	ck_assert_int_eq(wire_frame(b.p, b.n, &type, &e), -1);
	ck_assert_str_eq(e.text, "frame: unknown type 9");
	buf_free(&b);
}
END_TEST

/* A payload cut off, under a right checksum, is refused everywhere. */
START_TEST(a_short_payload_is_refused)
{
	struct buf b = batch_frame();
	size_t full = b.n;

	while (b.n > WIRE_HEADER) {
		struct arena a = {0};
		struct wire_batch m;
		struct err e;
		char *copy;

		b.n--;
		reseal(&b);
		copy = memcpy(xmalloc(b.n), b.p, b.n);
		ck_assert_int_eq(wire_get_batch(copy, b.n, &a, &m, &e), -1);
		free(copy);
		arena_free(&a);
	}
	ck_assert_uint_gt(full, WIRE_HEADER);
	buf_free(&b);
}
END_TEST

static void assert_refused(const struct wire_batch *w, const char *why)
{
	struct buf b = {0};
	struct arena a = {0};
	struct wire_batch m;
	struct err e = {0};

	wire_put_batch(&b, w);
	ck_assert_int_eq(wire_get_batch(b.p, b.n, &a, &m, &e), -1);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s", e.text);
	arena_free(&a);
	buf_free(&b);
}

START_TEST(what_does_not_add_up_is_refused)
{
	struct wire_sample two[] = {{1, UINT64_MAX}, {2, 2}}, twice[] = {{1, 1}, {1, 1}};
	struct wire_sample none[] = {{1, 0}}, down[] = {{9, 1}, {4, 1}};
	struct wire_module m[3] = {0};
	struct wire_batch b = sample_batch(m);

	b.taken++;
	assert_refused(&b, "batch: 1000018 samples taken, 1000017 accounted for");
	b.taken--;
	b.dropped = UINT64_MAX;
	assert_refused(&b, "damaged counts");
	b.dropped = 1;
	b.seq = 0;
	assert_refused(&b, "damaged head");
	b.seq = 1;
	m[2] = m[1];
	m[1] = m[0];
	assert_refused(&b, "one module twice");
	m[1] = m[2];
	m[1].id.n = 0;
	assert_refused(&b, "damaged build-id");
	m[1].id.n = 20;
	b.taken = 1;
	m[1].sample = two;
	m[1].nsample = 2;
	assert_refused(&b, "damaged counts");
	m[1].sample = twice;
	assert_refused(&b, "damaged samples");
	m[1].sample = down;
	assert_refused(&b, "damaged samples");
	m[1].sample = none;
	m[1].nsample = 1;
	assert_refused(&b, "damaged samples");
}
END_TEST

START_TEST(a_long_path_is_refused)
{
	struct wire_module m[3] = {0};
	struct wire_batch b = sample_batch(m);
	char *path = xcalloc(1, 5000);

	memset(path, 'p', 4097);
	m[0].path = path;
	assert_refused(&b, "damaged path");
	free(path);
}
END_TEST

START_TEST(unknown_sections_are_skipped)
{
	struct buf b = batch_frame();
	struct arena a = {0};
	struct wire_batch m;
	struct err e;

	buf_char(&b, 99);
	buf_le32(&b, 3);
	buf_str(&b, "abc");
	buf_char(&b, (char)200);
	buf_le32(&b, 0);
	reseal(&b);
	ck_assert_msg(!wire_get_batch(b.p, b.n, &a, &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.nmodule, 3);
	buf_char(&b, 2);
	buf_le32(&b, 1);
	reseal(&b);
	ck_assert_int_eq(wire_get_batch(b.p, b.n, &a, &m, &e), -1);
	ck_assert_str_eq(e.text, "batch: damaged section");
	arena_free(&a);
	buf_free(&b);
}
END_TEST

/* A count far beyond the bytes that are there takes no memory. */
START_TEST(counts_are_bounded_by_bytes)
{
	struct buf b = {0};
	struct arena a = {0};
	struct wire_batch m, empty = {.seq = 1};
	struct err e;

	wire_put_batch(&b, &empty);
	b.n--;
	buf_uleb(&b, UINT32_MAX);
	reseal(&b);
	ck_assert_int_eq(wire_get_batch(b.p, b.n, &a, &m, &e), -1);
	ck_assert_str_eq(e.text, "batch: damaged modules");
	ck_assert_ptr_null(a.chunk);
	buf_free(&b);
}
END_TEST

static struct wire_regs some_regs[2] = {
    {.module = 0,
	.flags = 0x246,
	.offset = 0x1000,
	.base = 0x555555554000,
	.gpr = {1, 2, UINT64_MAX, [15] = 16},
	.ncode = 2,
	.nstack = WIRE_STACK,
	.code = {{0, 0x1234}, {63, UINT64_MAX}},
	.stack = {UINT64_MAX, 5, [WIRE_STACK - 1] = 7}},
    {.module = 1, .offset = 5, .base = UINT64_MAX - 4},
};

static struct buf regs_frame(const struct wire_regs *r, uint32_t n)
{
	struct wire_module m[3] = {0};
	struct wire_batch b = sample_batch(m);
	struct buf out = {0};

	b.regs = (struct wire_regs *)r;
	b.nregs = n;
	b.regs_unsent = 77;
	wire_put_batch(&out, &b);
	return out;
}

static int read_batch(const struct buf *b, struct wire_batch *m, struct err *e)
{
	static struct arena a;

	arena_free(&a);
	return wire_get_batch(b->p, b->n, &a, m, e);
}

START_TEST(registers_come_back)
{
	struct buf b = regs_frame(some_regs, 2), plain = batch_frame();
	struct wire_regs *was;
	struct wire_batch m;
	struct err e;
	size_t i;

	ck_assert_msg(!read_batch(&b, &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.taken, 1000017);
	ck_assert_uint_eq(m.nregs, 2);
	ck_assert_uint_eq(m.regs_unsent, 77);
	ck_assert(!memcmp(m.regs, some_regs, sizeof some_regs));
	ck_assert_uint_le(b.n - plain.n, 5 + 2 + 2 * WIRE_REGS_MAX);
	buf_free(&plain);
	was = m.regs;
	wire_wipe_regs(&m);
	ck_assert_uint_eq(m.nregs, 0);
	for (i = 0; i < sizeof some_regs; i++)
		ck_assert_uint_eq(((uint8_t *)was)[i], 0);
	buf_free(&b);
}
END_TEST

/* Cut anywhere behind the modules, under a right checksum and length. */
START_TEST(cut_off_registers_are_refused)
{
	struct buf plain = batch_frame(), b = regs_frame(some_regs, 2);
	struct wire_batch m;
	struct err e;

	for (b.n--; b.n > plain.n; b.n--) {
		if (b.n >= plain.n + 5)
			put_le32(b.p + plain.n + 1, (uint32_t)(b.n - plain.n - 5));
		reseal(&b);
		ck_assert_int_eq(read_batch(&b, &m, &e), -1);
		ck_assert_msg(strstr(e.text, b.n >= plain.n + 5 ? "damaged registers"
								: "damaged section") != NULL,
		    "%s", e.text);
		ck_assert_uint_eq(m.nregs, 0);
	}
	buf_free(&b);
	buf_free(&plain);
}
END_TEST

static void assert_regs_refused(void (*spoil)(struct wire_regs *r))
{
	struct wire_regs r[2];
	struct wire_batch m;
	struct err e;
	struct buf b;

	memcpy(r, some_regs, sizeof r);
	spoil(r);
	b = regs_frame(r, 2);
	ck_assert_int_eq(read_batch(&b, &m, &e), -1);
	ck_assert_str_eq(e.text, "batch: damaged registers");
	buf_free(&b);
}

static void no_such_module(struct wire_regs *r)
{
	r[1].module = 3;
}

static void a_word_beyond(struct wire_regs *r)
{
	r[0].code[1].word = WIRE_WORDS;
}

static void words_out_of_order(struct wire_regs *r)
{
	r[0].code[0].word = 63;
}

/* As many words of stack as the last byte before them says. */
static struct buf frame_with_words(uint8_t n)
{
	struct wire_regs r = {.nstack = WIRE_STACK};
	struct buf b = regs_frame(&r, 1), plain = batch_frame();
	uint32_t i;

	b.n -= 8 * WIRE_STACK + 1;
	buf_char(&b, (char)n);
	for (i = 0; i < n; i++)
		buf_le64(&b, i);
	put_le32(b.p + plain.n + 1, (uint32_t)(b.n - plain.n - 5));
	reseal(&b);
	buf_free(&plain);
	return b;
}

START_TEST(words_of_the_stack_are_bounded)
{
	struct wire_batch m;
	struct err e;
	struct buf b;

	b = frame_with_words(WIRE_STACK);
	ck_assert_msg(!read_batch(&b, &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.regs->nstack, WIRE_STACK);
	ck_assert_uint_eq(m.regs->stack[WIRE_STACK - 1], WIRE_STACK - 1);
	buf_free(&b);
	b = frame_with_words(WIRE_STACK + 1);
	ck_assert_int_eq(read_batch(&b, &m, &e), -1);
	ck_assert_str_eq(e.text, "batch: damaged registers");
	buf_free(&b);
}
END_TEST

START_TEST(garbled_registers_are_refused)
{
	struct buf b;
	struct wire_batch m;
	struct err e;

	assert_regs_refused(no_such_module);
	assert_regs_refused(a_word_beyond);
	assert_regs_refused(words_out_of_order);
	/* The section twice. */
	b = regs_frame(some_regs, 1);
	buf_char(&b, WIRE_SECTION_REGS);
	buf_le32(&b, 2);
	buf_str(&b, "\1");
	buf_char(&b, 0);
	reseal(&b);
	ck_assert_int_eq(read_batch(&b, &m, &e), -1);
	buf_free(&b);
}
END_TEST

static struct build_id run_builds[2] = {{.n = 20, .b = "abcdefghijklmnopqrst"}, {.n = 1, .b = "x"}};
static struct wire_run some_runs[3] = {
    {.build = 1,
	.uid = UINT32_MAX,
	.start_ns = UINT64_MAX,
	.cpu_ns = UINT64_MAX,
	.faults = UINT64_MAX,
	.status = UINT32_MAX,
	.class = UINT64_MAX},
    {.build = 0, .uid = 1000, .start_ns = 1700000000000000000, .cpu_ns = 5000000, .status = 0x300},
    {.build = 1},
};

static struct buf runs_frame(const struct wire_run *r, uint32_t n, uint32_t nbuild)
{
	struct wire_module m[3] = {0};
	struct wire_batch b = sample_batch(m);
	struct buf out = {0};

	b.run = (struct wire_run *)r;
	b.nrun = n;
	b.run_build = run_builds;
	b.nrun_build = nbuild;
	b.runs_unsent = 78;
	wire_put_batch(&out, &b);
	return out;
}

START_TEST(runs_come_back)
{
	struct buf b = runs_frame(some_runs, 3, 2);
	struct wire_batch m;
	struct err e;

	ck_assert_msg(!read_batch(&b, &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.taken, 1000017);
	ck_assert_uint_eq(m.runs_unsent, 78);
	ck_assert_uint_eq(m.nrun_build, 2);
	ck_assert(build_id_equal(&m.run_build[0], &run_builds[0]) &&
		  build_id_equal(&m.run_build[1], &run_builds[1]));
	ck_assert_uint_eq(m.nrun, 3);
	ck_assert(!memcmp(m.run, some_runs, sizeof some_runs));
	buf_free(&b);
}
END_TEST

/* A batch of runs alone is one, and so is one that only says that some were lost. */
START_TEST(runs_need_no_samples)
{
	struct wire_batch w = {.seq = 1, .runs_unsent = 5}, m;
	struct buf b = {0};
	struct err e;

	wire_put_batch(&b, &w);
	ck_assert_msg(!read_batch(&b, &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.runs_unsent, 5);
	b.n = 0;
	w = (struct wire_batch){
	    .seq = 1, .run_build = run_builds, .nrun_build = 1, .run = &some_runs[1], .nrun = 1};
	wire_put_batch(&b, &w);
	ck_assert_msg(!read_batch(&b, &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.nrun, 1);
	buf_free(&b);
}
END_TEST

/* Uses alone are a batch, too; each build once. */
START_TEST(uses_come_back)
{
	struct wire_use use[] = {{.id = {2, {1, 2}}, .processes = 3, .cpu_ns = UINT64_MAX},
	    {.id = {1, {9}}}, {.id = {1, {8}}, .instructions = 5, .cycles = UINT64_MAX}};
	struct wire_batch w = {.seq = 1, .use = use, .nuse = 3}, m;
	struct arena a = {0};
	struct buf b = {0};
	struct err e;
	size_t n;

	wire_put_batch(&b, &w);
	ck_assert_msg(wire_get_batch(b.p, b.n, &a, &m, &e) == 0, "%s", e.text);
	ck_assert_uint_eq(m.nuse, 3);
	for (n = 0; n < 3; n++) {
		ck_assert(build_id_equal(&m.use[n].id, &use[n].id));
		ck_assert_uint_eq(m.use[n].processes, use[n].processes);
		ck_assert_uint_eq(m.use[n].cpu_ns, use[n].cpu_ns);
		ck_assert_uint_eq(m.use[n].instructions, use[n].instructions);
		ck_assert_uint_eq(m.use[n].cycles, use[n].cycles);
	}
	buf_free(&b);
	use[1].id = use[0].id;
	wire_put_batch(&b, &w);
	ck_assert_int_eq(wire_get_batch(b.p, b.n, &a, &m, &e), -1);
	ck_assert_str_eq(e.text, "batch: damaged uses");
	buf_free(&b);
	arena_free(&a);
}
END_TEST

/* Of uses that are there, in order, and not 0. */
START_TEST(garbled_cycles_are_refused)
{
	static const uint8_t bad[][7] = {{2, 1, 1, 1, 0, 1, 1}, {2, 0, 1, 1, 0, 1, 1}, {1, 2, 1, 1},
	    {1, 0, 1, 0}, {3, 0, 1, 1}, {1, 0, 1, 1, 0}, {1, 0, 1, 0x80}};
	static const size_t size[] = {7, 7, 4, 4, 4, 5, 4};
	struct wire_use use[] = {{.id = {1, {1}}}, {.id = {1, {2}}}};
	struct wire_batch w = {.seq = 1, .use = use, .nuse = 2}, m;
	struct buf b = {0};
	struct err e;

	wire_put_batch(&b, &w);
	buf_char(&b, WIRE_SECTION_CYCLES);
	put_le32(buf_grow(&b, 4), (uint32_t)size[_i]);
	buf_add(&b, bad[_i], size[_i]);
	reseal(&b);
	ck_assert_int_eq(read_batch(&b, &m, &e), -1);
	ck_assert_str_eq(e.text, "batch: damaged cycles");
	buf_free(&b);
}
END_TEST

static void assert_runs_refused(struct buf *b, const char *why)
{
	struct wire_batch m;
	struct err e;

	reseal(b);
	ck_assert_int_eq(read_batch(b, &m, &e), -1);
	ck_assert_str_eq(e.text, why);
	buf_free(b);
}

START_TEST(cut_off_runs_are_refused)
{
	struct buf plain = batch_frame(), b = runs_frame(some_runs, 3, 2);
	struct wire_batch m;
	struct err e;

	for (b.n--; b.n >= plain.n + 5; b.n--) {
		put_le32(b.p + plain.n + 1, (uint32_t)(b.n - plain.n - 5));
		reseal(&b);
		ck_assert_int_eq(read_batch(&b, &m, &e), -1);
		ck_assert_str_eq(e.text, "batch: damaged runs");
	}
	buf_free(&b);
	b = runs_frame(some_runs, 3, 2);
	buf_char(&b, 0);
	put_le32(b.p + plain.n + 1, (uint32_t)(b.n - plain.n - 5));
	assert_runs_refused(&b, "batch: damaged runs");
	buf_free(&plain);
}
END_TEST

START_TEST(garbled_runs_are_refused)
{
	struct wire_run *many = xcalloc(WIRE_RUNS_MAX + 1, sizeof *many);
	struct wire_run r = {.build = 2};
	struct wire_batch m;
	struct buf b = runs_frame(&r, 1, 2);
	struct err e;

	assert_runs_refused(&b, "batch: damaged runs");
	r.build = 0;
	b = runs_frame(&r, 1, 0);
	assert_runs_refused(&b, "batch: damaged runs");
	run_builds[1].n = 0;
	b = runs_frame(&r, 1, 2);
	assert_runs_refused(&b, "batch: damaged runs");
	run_builds[1].n = 1;
	b = runs_frame(many, WIRE_RUNS_MAX + 1, 1);
	assert_runs_refused(&b, "batch: damaged runs");
	b = runs_frame(many, WIRE_RUNS_MAX, 1);
	ck_assert_msg(!read_batch(&b, &m, &e), "%s", e.text);
	free(many);
	buf_char(&b, WIRE_SECTION_RUNS);
	buf_le32(&b, 3);
	buf_add(&b, "\0\0\0", 3);
	assert_runs_refused(&b, "batch: damaged sections: one twice");
}
END_TEST

START_TEST(builds_of_runs_are_bounded)
{
	struct build_id id[WIRE_RUN_BUILDS_MAX + 1];
	struct wire_batch w = {.seq = 1, .run_build = id, .runs_unsent = 1}, m;
	struct buf b = {0};
	struct err e;
	uint32_t i;

	for (i = 0; i <= WIRE_RUN_BUILDS_MAX; i++)
		id[i] = run_builds[1];
	w.nrun_build = WIRE_RUN_BUILDS_MAX;
	wire_put_batch(&b, &w);
	ck_assert_msg(!read_batch(&b, &m, &e), "%s", e.text);
	b.n = 0;
	w.nrun_build++;
	wire_put_batch(&b, &w);
	assert_runs_refused(&b, "batch: damaged runs");
}
END_TEST

static struct wire_sample extra_of[2][2] = {{{3, 1}, {9, 40}}, {{0, 7}}};

/* Three modules, of which the first and the last are boosted. */
static struct buf extra_frame(uint64_t count)
{
	struct wire_sample s = {5, 2};
	struct wire_module m[3] = {
	    {.id = {1, {1}}, .path = (char *)"/a", .boosted = true, .nextra = 2},
	    {.id = {1, {2}}, .path = (char *)"/b", .sample = &s, .nsample = 1},
	    {.id = {1, {3}}, .path = (char *)"/c", .boosted = true, .nextra = 1}};
	struct wire_batch w = {
	    .seq = 1, .taken = 2, .module = m, .nmodule = 3, .plain = 1000, .extra = 4000};
	struct buf b = {0};

	m[0].extra = extra_of[0];
	m[2].extra = extra_of[1];
	extra_of[1][0].count = count;
	wire_put_batch(&b, &w);
	return b;
}

/* They are no part of what adds up. */
START_TEST(extra_samples_come_back)
{
	struct buf b = extra_frame(7);
	struct wire_batch m;
	struct err e;

	ck_assert_msg(!read_batch(&b, &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.taken, 2);
	ck_assert_uint_eq(m.plain, 1000);
	ck_assert_uint_eq(m.extra, 4000);
	ck_assert(m.module[0].boosted && !m.module[1].boosted && m.module[2].boosted);
	ck_assert_uint_eq(m.module[0].nsample, 0);
	ck_assert_uint_eq(m.module[0].nextra, 2);
	ck_assert_uint_eq(m.module[0].extra[1].offset, 9);
	ck_assert_uint_eq(m.module[0].extra[1].count, 40);
	ck_assert_uint_eq(m.module[1].nextra, 0);
	ck_assert_uint_eq(m.module[2].extra[0].count, 7);
	buf_free(&b);
}
END_TEST

START_TEST(garbled_extra_samples_are_refused)
{
	static const char *const section[] = {
	    "\1\0\0",         /* none, and yet the section */
	    "\1\1\1\3\0",     /* of no such module */
	    "\1\1\2\1\0\1\0", /* one twice */
	    "\1\1\1\0\1\0\0", /* zero times */
	    "\1\1\1\0\0\0",   /* and a byte more */
	};
	static const size_t size[] = {3, 5, 7, 7, 6};
	struct wire_batch m;
	struct err e;
	struct buf b;
	size_t i, plain;

	for (i = 0; i < 5; i++) {
		b = extra_frame(7);
		plain = b.n - 5 - 15;
		ck_assert_int_eq(b.p[plain], WIRE_SECTION_EXTRA);
		b.n = plain + 5;
		buf_add(&b, section[i], size[i]);
		put_le32(b.p + plain + 1, (uint32_t)size[i]);
		reseal(&b);
		ck_assert_int_eq(read_batch(&b, &m, &e), -1);
		ck_assert_msg(strstr(e.text, "batch: damaged "), "%s", e.text);
		buf_free(&b);
	}
	/* Sums of them must not overflow. */
	b = extra_frame((uint64_t)UINT32_MAX + 1);
	ck_assert_int_eq(read_batch(&b, &m, &e), -1);
	buf_free(&b);
}
END_TEST

START_TEST(a_boost_comes_back)
{
	struct build_id id[2] = {{.n = 20, .b = "abcdefghijklmnopqrst"}, {.n = 1, .b = "x"}};
	struct wire_boost w = {5000, {id, 2}}, got;
	struct wire_want want;
	struct arena a = {0};
	struct buf b = {0};
	struct err e;

	wire_put_boost(&b, &w);
	ck_assert_msg(!wire_get_boost(b.p, b.n, &a, &got, &e), "%s", e.text);
	ck_assert_uint_eq(got.budget, 5000);
	ck_assert(wire_want_equal(&got.builds, &w.builds));
	ck_assert_int_eq(wire_get_want(b.p, b.n, &a, &want, &e), -1);
	for (b.n--; b.n >= WIRE_HEADER; b.n--) {
		reseal(&b);
		ck_assert_int_eq(wire_get_boost(b.p, b.n, &a, &got, &e), -1);
	}
	b.n = 0;
	w.budget = 1000001;
	wire_put_boost(&b, &w);
	ck_assert_int_eq(wire_get_boost(b.p, b.n, &a, &got, &e), -1);
	ck_assert_str_eq(e.text, "boost: out of range");
	arena_free(&a);
	buf_free(&b);
}
END_TEST

/* WANT, WATCH and CYCLES. */
static const struct builds_form {
	void (*put)(struct buf *out, const struct wire_want *m);
	int (*get)(
	    const void *frame, size_t n, struct arena *a, struct wire_want *m, struct err *e);
	const char *after_its_end, *damaged;
} forms[] = {
    {wire_put_want, wire_get_want, "want: bytes after its end", "want: damaged build-id"},
    {wire_put_watch, wire_get_watch, "watch: bytes after its end", "watch: damaged build-id"},
    {wire_put_cycles, wire_get_cycles, "cycles: bytes after its end", "cycles: damaged build-id"},
};

START_TEST(wanted_builds_come_back)
{
	const struct builds_form *form = &forms[_i], *other = &forms[(_i + 1) % 3];
	struct build_id id[2] = {{.n = 20, .b = "abcdefghijklmnopqrst"}, {.n = 1, .b = "x"}};
	struct wire_want w = {id, 2}, got;
	struct arena a = {0};
	struct buf b = {0};
	struct err e;
	size_t full;

	form->put(&b, &w);
	ck_assert_msg(!form->get(b.p, b.n, &a, &got, &e), "%s", e.text);
	ck_assert_uint_eq(got.n, 2);
	ck_assert_int_eq(other->get(b.p, b.n, &a, &got, &e), -1);
	ck_assert_int_eq(form->get(b.p, b.n, &a, &got, &e), 0);
	ck_assert(build_id_equal(&got.id[0], &id[0]) && build_id_equal(&got.id[1], &id[1]));
	for (full = b.n--; b.n >= WIRE_HEADER; b.n--) {
		reseal(&b);
		ck_assert_int_eq(form->get(b.p, b.n, &a, &got, &e), -1);
	}
	b.n = full;
	buf_char(&b, 0);
	reseal(&b);
	ck_assert_int_eq(form->get(b.p, b.n, &a, &got, &e), -1);
	ck_assert_str_eq(e.text, form->after_its_end);
	b.n = 0;
	id[1].n = 0;
	form->put(&b, &w);
	ck_assert_int_eq(form->get(b.p, b.n, &a, &got, &e), -1);
	ck_assert_str_eq(e.text, form->damaged);
	arena_free(&a);
	buf_free(&b);
}
END_TEST

START_TEST(too_many_wanted_builds_are_refused)
{
	const struct builds_form *form = &forms[_i];
	struct wire_want w = {xcalloc(WIRE_WANT_MAX + 1, sizeof *w.id), WIRE_WANT_MAX + 1}, got;
	struct arena a = {0};
	struct buf b = {0};
	struct err e;
	uint32_t i;

	for (i = 0; i < w.n; i++)
		w.id[i].n = 1;
	form->put(&b, &w);
	ck_assert_int_eq(form->get(b.p, b.n, &a, &got, &e), -1);
	b.n = 0;
	w.n = WIRE_WANT_MAX;
	form->put(&b, &w);
	ck_assert_int_eq(form->get(b.p, b.n, &a, &got, &e), 0);
	free(w.id);
	arena_free(&a);
	buf_free(&b);
}
END_TEST

static struct wire_elsewhere some_places[3] = {
    {.kind = WIRE_KERNEL,
	.id = {16, {1, 2}},
	.name = "[kernel]",
	.sample = (struct wire_sample[]){{0xffffffff81000000, 1}, {0xffffffffc0000010, 2}},
	.nsample = 2},
    {.kind = WIRE_ANONYMOUS,
	.uid = 1000,
	.pid = 77,
	.name = "node",
	.sample = (struct wire_sample[]){{0x7f0000001000, 1}},
	.nsample = 1},
    {.kind = WIRE_FOREIGN, .uid = UINT32_MAX, .id = {20, {9}}, .name = "/usr/lib/x.so"},
};

static struct buf elsewhere_frame(const struct wire_elsewhere *w, uint32_t n)
{
	struct wire_module m[3] = {0};
	struct wire_batch b = sample_batch(m);
	struct buf out = {0};

	b.elsewhere = (struct wire_elsewhere *)w;
	b.nelsewhere = n;
	wire_put_batch(&out, &b);
	return out;
}

START_TEST(places_elsewhere_come_back)
{
	struct buf b = elsewhere_frame(some_places, 3);
	struct wire_batch m;
	struct err e;
	uint32_t i;

	ck_assert_msg(!read_batch(&b, &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.nelsewhere, 3);
	for (i = 0; i < 3; i++) {
		ck_assert_uint_eq(m.elsewhere[i].kind, some_places[i].kind);
		ck_assert_uint_eq(m.elsewhere[i].uid, some_places[i].uid);
		ck_assert_uint_eq(m.elsewhere[i].pid, some_places[i].pid);
		ck_assert(build_id_equal(&m.elsewhere[i].id, &some_places[i].id));
		ck_assert_str_eq(m.elsewhere[i].name, some_places[i].name);
		ck_assert_uint_eq(m.elsewhere[i].nsample, some_places[i].nsample);
	}
	ck_assert(
	    !memcmp(m.elsewhere[0].sample, some_places[0].sample, 2 * sizeof(struct wire_sample)));
	buf_free(&b);
}
END_TEST

static void assert_places_refused(const struct wire_elsewhere *w, uint32_t n)
{
	struct buf b = elsewhere_frame(w, n);
	struct wire_batch m;
	struct err e;

	ck_assert_int_eq(read_batch(&b, &m, &e), -1);
	ck_assert_str_eq(e.text, "batch: damaged places elsewhere");
	buf_free(&b);
}

/* Of the kernel 3 samples were taken, outside 2. */
START_TEST(places_elsewhere_name_no_more_than_there_is)
{
	struct wire_sample s[] = {{1, 2}, {2, 2}}, huge[] = {{1, UINT64_MAX}, {2, 3}};
	struct wire_elsewhere w[2] = {some_places[1], some_places[1]};
	struct wire_batch m;
	struct err e;
	struct buf b;

	w[0].sample = w[1].sample = s;
	b = elsewhere_frame(w, 1);
	ck_assert_int_eq(read_batch(&b, &m, &e), 0);
	buf_free(&b);
	w[0].nsample = 2;
	assert_places_refused(w, 1);
	w[0].nsample = 1;
	assert_places_refused(w, 2);
	w[0].kind = WIRE_KERNEL;
	w[0].sample = huge;
	w[0].nsample = 2;
	assert_places_refused(w, 1);
	w[0] = some_places[2];
	w[0].kind = WIRE_FOREIGN + 1;
	assert_places_refused(w, 1);
	w[0].kind = 0;
	assert_places_refused(w, 1);
}
END_TEST

START_TEST(cut_off_places_elsewhere_are_refused)
{
	struct buf plain = batch_frame(), b = elsewhere_frame(some_places, 3);
	struct wire_batch m;
	struct err e;

	for (b.n--; b.n >= plain.n + 5; b.n--) {
		put_le32(b.p + plain.n + 1, (uint32_t)(b.n - plain.n - 5));
		reseal(&b);
		ck_assert_int_eq(read_batch(&b, &m, &e), -1);
		ck_assert_str_eq(e.text, "batch: damaged places elsewhere");
	}
	buf_free(&b);
	buf_free(&plain);
}
END_TEST

/* The modules have samples at 0, 0x1000, 0x1001 and UINT64_MAX, and at 5, the third none. */
#define SITES(...) \
	.nsite = sizeof((struct wire_site[]){__VA_ARGS__}) / sizeof(struct wire_site), \
	.site = (struct wire_site[]) \
	{ \
		__VA_ARGS__ \
	}
enum { LAST_WORD = WIRE_SITE_WORDS - 1 };
static struct wire_site many_sites[WIRE_SITES];
static struct wire_caller some_callers[] = {
    {.callee = 0,
	.address = 0x1000,
	.looked = WIRE_SITE_WORDS,
	SITES({3, 1, 5}, {63, WIRE_OTHER_CODE, 0}, {LAST_WORD, 2, UINT64_MAX}),
	.count = 4},
    {.callee = 0, .address = 0x1000, .looked = 1, SITES({0, 1, 5}), .count = 3},
    {.callee = 0,
	.address = UINT64_MAX,
	.looked = WIRE_SITES,
	.nsite = WIRE_SITES,
	.site = many_sites,
	.count = 1},
    {.callee = 1, .address = 5, .looked = 64, SITES({9, 2, 0}), .count = 1000000},
    {.callee = 3, .address = 0xffffffffc0000010, .direct = true, SITES({0, 0, 1}), .count = 1},
    {.callee = 4, .address = 0x7f0000001000, .looked = 2, SITES({0, 0, 0}), .count = 1},
    {.callee = 6, .looked = 2, SITES({1, 0, 7}), .count = 1},
};
enum { CALLERS = sizeof some_callers / sizeof *some_callers };

static bool same_caller(const struct wire_caller *a, const struct wire_caller *b)
{
	return a->callee == b->callee && a->address == b->address && a->direct == b->direct &&
	       a->looked == b->looked && a->nsite == b->nsite && a->count == b->count &&
	       !memcmp(a->site, b->site, a->nsite * sizeof *a->site);
}

static struct buf callers_frame(const struct wire_caller *c, uint32_t n)
{
	struct wire_module m[3] = {0};
	struct wire_batch b = sample_batch(m);
	struct buf out = {0};
	uint32_t i;

	for (i = 0; i < WIRE_SITES; i++)
		many_sites[i] = (struct wire_site){.word = i};
	b.kernel++; /* one without an address */
	b.taken++;
	b.elsewhere = some_places;
	b.nelsewhere = 3;
	b.caller = (struct wire_caller *)c;
	b.ncaller = n;
	wire_put_batch(&out, &b);
	return out;
}

START_TEST(callers_come_back)
{
	struct buf b = callers_frame(some_callers, CALLERS);
	struct wire_batch m;
	struct err e;
	uint32_t i;

	ck_assert_msg(!read_batch(&b, &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.ncaller, CALLERS);
	for (i = 0; i < CALLERS; i++)
		ck_assert(same_caller(&m.caller[i], &some_callers[i]));
	buf_free(&b);
}
END_TEST

/* Everything that one of them may have wrong. */
static void spoil(struct wire_caller *c, struct wire_site site[3], int how)
{
	memcpy(site, c[0].site, 3 * sizeof *site);
	c[0].site = site;
	switch (how) {
	case 0:
		c[0].count = 5; /* 8 of 7 samples there */
		break;
	case 1:
		c[2].address--; /* no samples */
		break;
	case 2:
		c[6].count = 2; /* of the kernel's one without an address */
		break;
	case 3:
		c[6].address = 1;
		break;
	case 4:
		c[6].callee = 7;
		break;
	case 5:
		site[2].module = 4;
		break;
	case 6:
		c[1].nsite = 0;
		break;
	case 7:
		c[4].nsite = 2; /* direct */
		c[4].site = site;
		break;
	case 8:
		c[5].count = 0;
		break;
	case 12:
		site[1].word = 3;
		break;
	case 13:
		c[0].looked--; /* the last word was not looked at */
		break;
	case 14:
		site[0].module = WIRE_OTHER_CODE;
		break;
	case 15:
		c[1].looked = WIRE_SITE_WORDS + 1;
		break;
	case 16:
		c[1].looked = 0;
		break;
	case 9:
		c[3].callee = 5; /* not in order */
		break;
	case 10:
		c[0].address = 0x1001; /* likewise */
		break;
	default:
		c[5].callee = 5; /* a place without samples */
		break;
	}
}
enum { WAYS_TO_SPOIL = 17 };

START_TEST(garbled_callers_are_refused)
{
	struct wire_caller c[CALLERS + 1] = {0};
	struct wire_site site[3];
	struct wire_batch m;
	struct err e;
	struct buf b;

	memcpy(c, some_callers, sizeof some_callers);
	spoil(c, site, _i);
	b = callers_frame(c, CALLERS);
	ck_assert_int_eq(read_batch(&b, &m, &e), -1);
	ck_assert_str_eq(e.text, "batch: damaged callers");
	buf_free(&b);
}
END_TEST

START_TEST(cut_off_callers_are_refused)
{
	struct buf plain = callers_frame(NULL, 0), b = callers_frame(some_callers, CALLERS);
	struct wire_batch m;
	struct err e;

	for (b.n--; b.n >= plain.n + 5; b.n--) {
		put_le32(b.p + plain.n + 1, (uint32_t)(b.n - plain.n - 5));
		reseal(&b);
		ck_assert_int_eq(read_batch(&b, &m, &e), -1);
		ck_assert_str_eq(e.text, "batch: damaged callers");
	}
	buf_free(&b);
	buf_free(&plain);
}
END_TEST

/* Their callees would be others. */
START_TEST(callers_come_after_the_places)
{
	struct buf with = callers_frame(some_callers, CALLERS), none = callers_frame(NULL, 0),
		   b = {0};
	struct buf plain = batch_frame();
	struct wire_batch m;
	struct err e;

	/* The same without its sections, the callers of modules alone, the places. */
	buf_add(&b, none.p, plain.n);
	buf_char(&b, 8);
	buf_le32(&b, 1 + 1 + 2 + 1 + 1 + 3 + 1);
	buf_char(&b, 1);
	buf_char(&b, 0);
	buf_uleb(&b, 0x1000);
	buf_char(&b, 1);
	buf_char(&b, 1);
	buf_char(&b, 0);
	buf_char(&b, 0);
	buf_char(&b, 0);
	buf_char(&b, 1);
	put_le32(b.p + plain.n + 1, (uint32_t)(b.n - plain.n - 5));
	reseal(&b);
	ck_assert_msg(!read_batch(&b, &m, &e), "%s", e.text);
	ck_assert_uint_eq(m.ncaller, 1);
	b.p[plain.n + 5 + 4] = WIRE_SITES + 1;
	reseal(&b);
	ck_assert_int_eq(read_batch(&b, &m, &e), -1);
	ck_assert_str_eq(e.text, "batch: damaged callers");
	b.p[plain.n + 5 + 4] = 1;
	buf_add(&b, none.p + plain.n, none.n - plain.n);
	reseal(&b);
	ck_assert_int_eq(read_batch(&b, &m, &e), -1);
	ck_assert_str_eq(e.text, "batch: damaged places elsewhere");
	buf_free(&b);
	buf_free(&with);
	buf_free(&none);
	buf_free(&plain);
}
END_TEST

UNIT_MAIN("wire", 0, NULL, NULL, a_batch_comes_back, hello_and_ack_come_back,
    a_stream_is_cut_anywhere, every_flipped_bit_is_noticed, garbage_is_told_at_once,
    a_short_payload_is_refused, what_does_not_add_up_is_refused, a_long_path_is_refused,
    unknown_sections_are_skipped, counts_are_bounded_by_bytes, registers_come_back,
    cut_off_registers_are_refused, garbled_registers_are_refused, words_of_the_stack_are_bounded,
    runs_come_back, uses_come_back, UNIT_LOOP(garbled_cycles_are_refused, 7), runs_need_no_samples,
    cut_off_runs_are_refused, garbled_runs_are_refused, builds_of_runs_are_bounded,
    extra_samples_come_back, garbled_extra_samples_are_refused, a_boost_comes_back,
    UNIT_LOOP(wanted_builds_come_back, 3), UNIT_LOOP(too_many_wanted_builds_are_refused, 3),
    places_elsewhere_come_back, places_elsewhere_name_no_more_than_there_is,
    cut_off_places_elsewhere_are_refused, callers_come_back,
    UNIT_LOOP(garbled_callers_are_refused, WAYS_TO_SPOIL), cut_off_callers_are_refused,
    callers_come_after_the_places)
