/* Envelopes on disk: order, bound, what an earlier run left, garbage. */
#include "monitor-client/uplink/spool.h"
#include "common/log.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static char *spool_dir;
static struct spool s;
static struct err e;

static void setup(void)
{
	strcpy(dir, "/tmp/morph-spool.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	spool_dir = xasprintf("%s/deep/spool", dir);
	log_init("spool", LOG_LVL_ERROR);
}

static void teardown(void)
{
	ck_assert_msg(dir_remove(dir, &e) == 0, "%s", e.text);
	free(spool_dir);
}

static void spool_is_open(uint64_t max)
{
	ck_assert_msg(spool_open(&s, spool_dir, max, &e) == 0, "%s", e.text);
}

static struct envelope envelope(uint64_t session, uint64_t seq, uint64_t start, uint64_t taken)
{
	struct envelope l = {
	    .hello = {.session = session, .period_ns = 4000000, .source = WIRE_SRC_TICK, .pid = 7},
	    .seq = seq,
	    .start_ns = start,
	    .taken = taken};
	struct wire_batch b = {.session = session,
	    .seq = seq,
	    .start_ns = start,
	    .end_ns = start + 1,
	    .taken = taken,
	    .kernel = taken,
	    .runs_unsent = 2};

	wire_put_batch(&l.batch, &b);
	return l;
}

static int add(uint64_t session, uint64_t seq, uint64_t start, uint64_t taken)
{
	struct envelope l = envelope(session, seq, start, taken);
	int r = spool_add(&s, &l, &e);

	envelope_free(&l);
	return r;
}

/* The first one's taken, and away with it. */
static uint64_t next(void)
{
	struct envelope l;
	uint64_t n;

	if (spool_first(&s, &l))
		return 0;
	n = l.taken;
	envelope_free(&l);
	spool_remove_first(&s);
	return n;
}

static uint64_t envelope_size(void)
{
	struct envelope l = envelope(1, 1, 1, 1);
	struct buf b = {0};
	uint64_t n;

	envelope_put(&l, &b);
	n = b.n;
	buf_free(&b);
	envelope_free(&l);
	return n;
}

START_TEST(letters_come_back_whole_and_in_order)
{
	struct envelope l, want = envelope(5, 2, 2000, 20);

	spool_is_open(1 << 20);
	ck_assert(spool_empty(&s));
	ck_assert_int_eq(add(5, 3, 3000, 30), 0);
	ck_assert_int_eq(add(5, 2, 2000, 20), 0);
	ck_assert_int_eq(add(5, 10, 4000, 40), 0);
	ck_assert_int_eq(spool_first(&s, &l), 0);
	ck_assert_uint_eq(l.hello.session, 5);
	ck_assert_uint_eq(l.hello.period_ns, 4000000);
	ck_assert_uint_eq(l.seq, 2);
	ck_assert_uint_eq(l.batch.n, want.batch.n);
	ck_assert_mem_eq(l.batch.p, want.batch.p, want.batch.n);
	envelope_free(&l);
	envelope_free(&want);
	ck_assert_uint_eq(next(), 20);
	ck_assert_uint_eq(next(), 30);
	ck_assert_uint_eq(next(), 40);
	ck_assert(spool_empty(&s));
	ck_assert_uint_eq(s.bytes, 0);
	spool_close(&s);
}
END_TEST

START_TEST(an_earlier_run_is_delivered_first)
{
	spool_is_open(1 << 20);
	add(77, 1, 1000, 1);
	add(77, 2, 2000, 2);
	spool_close(&s);
	spool_is_open(1 << 20);
	add(5, 1, 3000, 3);
	ck_assert_uint_eq(next(), 1);
	ck_assert_uint_eq(next(), 2);
	ck_assert_uint_eq(next(), 3);
	spool_close(&s);
	spool_is_open(1 << 20);
	ck_assert(spool_empty(&s));
	spool_close(&s);
}
END_TEST

START_TEST(the_oldest_go_when_it_is_full_and_are_counted)
{
	uint64_t i, size = envelope_size();

	spool_is_open(4 * size + size / 2);
	for (i = 1; i <= 10; i++)
		ck_assert_int_eq(add(5, i, 1000 * i, i), 0);
	ck_assert_uint_eq(spool_take_lost(&s), 1 + 2 + 3 + 4 + 5 + 6);
	ck_assert_uint_eq(spool_take_lost(&s), 0);
	ck_assert_uint_eq(spool_take_runs_lost(&s), 6 * 2);
	ck_assert_uint_eq(spool_take_runs_lost(&s), 0);
	ck_assert_uint_le(s.bytes, s.max);
	for (i = 7; i <= 10; i++)
		ck_assert_uint_eq(next(), i);
	ck_assert(spool_empty(&s));
	spool_close(&s);
}
END_TEST

START_TEST(what_exceeds_the_bound_alone_is_refused)
{
	spool_is_open(10);
	ck_assert_int_eq(add(5, 1, 1000, 9), -1);
	ck_assert(spool_empty(&s));
	spool_close(&s);
}
END_TEST

static void corrupt(uint64_t start, const char *with, size_t keep)
{
	char *path =
	    xasprintf("%s/%016lx-%016lx-%016lx.batch", spool_dir, start, 5ul, start / 1000);

	if (truncate(path, (off_t)keep))
		ck_abort_msg("%s is not there", path);
	FILE *f = fopen(path, "a");
	fputs(with, f);
	fclose(f);
	free(path);
}

START_TEST(garbage_is_removed_and_the_rest_comes)
{
	char *stray;
	uint64_t i;

	spool_is_open(1 << 20);
	for (i = 1; i <= 5; i++)
		add(5, i, 1000 * i, i);
	corrupt(1000, "", 0);
	corrupt(2000, "", envelope_size() - 1);
	corrupt(4000, "and more", envelope_size());
	corrupt(5000, "something else", 0);
	stray = xasprintf("%s/README", spool_dir);
	ck_assert_int_eq(publish_bytes(stray, "x", 1, 0600, &e), 0);
	ck_assert_uint_eq(next(), 3);
	ck_assert_uint_eq(next(), 0);
	ck_assert(spool_empty(&s));
	ck_assert_int_eq(access(stray, F_OK), 0);
	free(stray);
	spool_close(&s);
}
END_TEST

START_TEST(only_the_owner_may_look)
{
	struct stat st;
	char *path;

	spool_is_open(1 << 20);
	add(5, 1, 1000, 1);
	ck_assert_int_eq(stat(spool_dir, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0700);
	path = xasprintf("%s/%s", spool_dir, s.file.v[0].name);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	free(path);
	spool_close(&s);
}
END_TEST

/* An envelope that carries registers leaves none of them on the disk. */
START_TEST(registers_do_not_reach_the_disk)
{
	struct wire_sample sample = {0x40, 9};
	struct wire_module module = {
	    .id = {.n = 1, .b = "x"}, .path = "/x", .sample = &sample, .nsample = 1};
	struct wire_regs regs = {.gpr = {[3] = 0x5ec2e75ec2e75ec2}, .offset = 0x40};
	struct wire_batch b = {.session = 1, .seq = 1, .taken = 9, .module = &module, .nmodule = 1};
	struct envelope l = envelope(1, 1, 1, 9), back;
	struct buf file = {0};
	char *path;

	l.batch.n = 0;
	wire_put_batch(&l.batch, &b);
	b.regs = &regs;
	b.nregs = 1;
	wire_put_batch(&l.secret, &b);
	spool_is_open(1 << 20);
	ck_assert_int_eq(spool_add(&s, &l, &e), 0);
	path = xasprintf("%s/%s", spool_dir, s.file.v[0].name);
	ck_assert_int_eq(file_read(path, 0, &file, &e), 0);
	ck_assert_ptr_nonnull(memmem(l.secret.p, l.secret.n, &regs.gpr[3], 8));
	ck_assert_ptr_null(memmem(file.p, file.n, &regs.gpr[3], 8));
	ck_assert_int_eq(spool_first(&s, &back), 0);
	ck_assert_uint_eq(back.taken, 9);
	ck_assert_uint_eq(back.secret.n, 0);
	envelope_free(&back);
	/* Nor is such a file believed. */
	file.n = 0;
	wire_put_hello(&file, &l.hello);
	buf_add(&file, l.secret.p, l.secret.n);
	ck_assert_int_eq(envelope_get(file.p, file.n, &back, &e), -1);
	ck_assert_str_eq(e.text, "holds registers, which no file may");
	envelope_free(&l);
	buf_free(&file);
	free(path);
	spool_close(&s);
}
END_TEST

START_TEST(a_folder_that_cannot_be_is_an_error)
{
	ck_assert_int_eq(spool_open(&s, "/proc/no/such", 1 << 20, &e), -1);
	ck_assert_int_gt((int)strlen(e.text), 0);
}
END_TEST

UNIT_MAIN("spool", 0, setup, teardown, letters_come_back_whole_and_in_order,
    an_earlier_run_is_delivered_first, the_oldest_go_when_it_is_full_and_are_counted,
    what_exceeds_the_bound_alone_is_refused, garbage_is_removed_and_the_rest_comes,
    only_the_owner_may_look, registers_do_not_reach_the_disk, a_folder_that_cannot_be_is_an_error)
