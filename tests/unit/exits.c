/* Exit records as the kernel writes them, of several versions, and cut off anywhere. */
#include "monitor-client/kernel/exits.h"
#include "common/mem.h"
#include "tests/unit/unit.h"

#include <linux/acct.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILY = 31, VERSION_12 = offsetof(struct taskstats, ac_tgetime) + 8 + 8 + 8 };

static struct taskstats thread, group;
static struct exit_record r;

static void setup(void)
{
	thread = (struct taskstats){.version = 16,
	    .ac_flag = AGROUP | AXSIG,
	    .ac_pid = 102,
	    .ac_tgid = 101,
	    .ac_uid = 1000,
	    .ac_etime = 2500,
	    .ac_exitcode = 0x30b,
	    .ac_utime = 4000,
	    .ac_stime = 8000,
	    .cpu_run_virtual_total = 12345678,
	    .ac_minflt = 70,
	    .ac_majflt = 3,
	    .ac_comm = "prog"};
	group = (struct taskstats){.version = 16, .cpu_run_virtual_total = 99000000};
}

static size_t open_attribute(struct buf *b, uint16_t type)
{
	struct nlattr a = {.nla_type = type};

	buf_add(b, &a, sizeof a);
	return b->n - sizeof a;
}

/* What follows the attribute's head is what it holds. */
static void close_attribute(struct buf *b, size_t at)
{
	uint16_t n = (uint16_t)(b->n - at);

	memcpy(b->p + at, &n, sizeof n);
	while (b->n % NLA_ALIGNTO)
		buf_char(b, 0);
}

/* n bytes of the statistics; zeros after those that the header knows. */
static void aggregate(
    struct buf *b, uint16_t type, uint16_t id_type, const struct taskstats *s, size_t n)
{
	size_t at = open_attribute(b, type), part = open_attribute(b, id_type);
	uint32_t id = s->ac_pid;

	buf_add(b, &id, sizeof id);
	close_attribute(b, part);
	close_attribute(b, open_attribute(b, TASKSTATS_TYPE_NULL));
	part = open_attribute(b, TASKSTATS_TYPE_STATS);
	buf_add(b, s, n < sizeof *s ? n : sizeof *s);
	while (b->n < part + NLA_HDRLEN + n)
		buf_char(b, 0);
	close_attribute(b, part);
	close_attribute(b, at);
}

static struct buf datagram(size_t n, bool with_group)
{
	struct nlmsghdr h = {.nlmsg_type = FAMILY};
	struct genlmsghdr g = {.cmd = TASKSTATS_CMD_NEW};
	struct buf b = {0};

	buf_add(&b, &h, sizeof h);
	buf_add(&b, &g, sizeof g);
	aggregate(&b, TASKSTATS_TYPE_AGGR_PID, TASKSTATS_TYPE_PID, &thread, n);
	if (with_group)
		aggregate(&b, TASKSTATS_TYPE_AGGR_TGID, TASKSTATS_TYPE_TGID, &group, n);
	h.nlmsg_len = (uint32_t)b.n;
	memcpy(b.p, &h, sizeof h);
	return b;
}

static int parse(size_t n, bool with_group)
{
	struct buf b = datagram(n, with_group);
	int got = exits_parse(b.p, b.n, FAMILY, &r);

	buf_free(&b);
	return got;
}

START_TEST(a_record_is_read)
{
	ck_assert_int_eq(parse(sizeof thread, true), 1);
	ck_assert_uint_eq(r.pid, 102);
	ck_assert_uint_eq(r.tgid, 101);
	ck_assert_uint_eq(r.uid, 1000);
	ck_assert_uint_eq(r.elapsed_ns, 2500000);
	ck_assert_uint_eq(r.cpu_ns, 12345678);
	ck_assert_uint_eq(r.faults, 73);
	ck_assert_uint_eq(r.group_ns, 99000000);
	ck_assert_uint_eq(r.status, 0x30b);
	ck_assert(r.last);
	ck_assert_str_eq(r.comm, "prog");
}
END_TEST

START_TEST(of_one_thread_there_is_no_group)
{
	thread.ac_flag = 0;
	ck_assert_int_eq(parse(sizeof thread, false), 1);
	ck_assert_uint_eq(r.group_ns, 0);
	ck_assert(!r.last);
}
END_TEST

START_TEST(without_exact_times_those_of_ticks_serve)
{
	thread.cpu_run_virtual_total = 0;
	ck_assert_int_eq(parse(sizeof thread, false), 1);
	ck_assert_uint_eq(r.cpu_ns, 12000000);
}
END_TEST

/* Its time is its own but for the time it waited for a processor. */
START_TEST(what_never_slept_is_exact)
{
	thread.ac_etime = 15000;
	thread.cpu_delay_total = 1000000;
	ck_assert_int_eq(parse(sizeof thread, false), 1);
	ck_assert_uint_eq(r.cpu_ns, 14000000);
	thread.nvcsw = 1;
	ck_assert_int_eq(parse(sizeof thread, false), 1);
	ck_assert_uint_eq(r.cpu_ns, 12345678);
	thread.nvcsw = 0;
	thread.ac_etime = 60000; /* longer than a tick: it did something else */
	ck_assert_int_eq(parse(sizeof thread, false), 1);
	ck_assert_uint_eq(r.cpu_ns, 12345678);
}
END_TEST

START_TEST(a_name_fills_its_field)
{
	memset(thread.ac_comm, 'n', sizeof thread.ac_comm);
	ck_assert_int_eq(parse(sizeof thread, false), 1);
	ck_assert_uint_eq(strlen(r.comm), sizeof thread.ac_comm);
}
END_TEST

START_TEST(other_versions_are_read)
{
	thread.version = 12;
	ck_assert_int_eq(parse(VERSION_12, true), 1);
	ck_assert_uint_eq(r.tgid, 101);
	thread.version = 99;
	ck_assert_int_eq(parse(sizeof thread + 800, true), 1);
	ck_assert_uint_eq(r.group_ns, 99000000);
}
END_TEST

START_TEST(old_and_odd_records_are_passed_over)
{
	struct buf b;

	ck_assert_int_eq(parse(offsetof(struct taskstats, ac_tgid), false), 0);
	thread.version = 11;
	ck_assert_int_eq(parse(sizeof thread, false), 0);
	setup();
	thread.ac_tgid = 0;
	ck_assert_int_eq(parse(sizeof thread, false), 0);
	setup();
	b = datagram(sizeof thread, false);
	ck_assert_int_eq(exits_parse(b.p, b.n, FAMILY + 1, &r), 0);
	b.p[NLMSG_HDRLEN + GENL_HDRLEN] = 2; /* the length of the first attribute */
	b.p[NLMSG_HDRLEN + GENL_HDRLEN + 1] = 0;
	ck_assert_int_eq(exits_parse(b.p, b.n, FAMILY, &r), 0);
	buf_free(&b);
}
END_TEST

/* With the length of the whole and with its own. */
START_TEST(cut_off_anywhere_it_is_none_or_without_the_group)
{
	struct buf b = datagram(sizeof thread, true), alone = datagram(sizeof thread, false);
	size_t n;
	char *copy;
	uint32_t own;
	int got;

	for (n = 0; n < b.n; n++) {
		copy = memcpy(xmalloc(n), b.p, n);
		ck_assert_int_eq(exits_parse(copy, n, FAMILY, &r), 0);
		if (n >= NLMSG_HDRLEN) {
			own = (uint32_t)n;
			memcpy(copy, &own, sizeof own);
			got = exits_parse(copy, n, FAMILY, &r);
			ck_assert_int_eq(got, n >= alone.n);
			ck_assert(!got || !r.group_ns);
		}
		free(copy);
	}
	buf_free(&b);
	buf_free(&alone);
}
END_TEST

UNIT_MAIN("exits", 0, setup, NULL, a_record_is_read, of_one_thread_there_is_no_group,
    without_exact_times_those_of_ticks_serve, what_never_slept_is_exact, a_name_fills_its_field,
    other_versions_are_read, old_and_odd_records_are_passed_over,
    cut_off_anywhere_it_is_none_or_without_the_group)
