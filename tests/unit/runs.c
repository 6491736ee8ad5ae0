/* Exit records and ends of processes joined, in any order. */
#include "monitor-client/runs.h"
#include "monitor-client/kernel/cmdline.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ULL
#define EPOCH 1700000000000000000ULL

static struct runs g;
static struct wire_run got[64];
static char build[64];
static size_t n_got;
static uint64_t now, args_of_next;
static char name[64];

static void setup(void)
{
	now = 100000 * MS;
	n_got = 0;
}

static void teardown(void)
{
	runs_free(&g);
}

static void take(const struct build_id *id, uint32_t pid, const struct wire_run *r,
    const char *unclassed, void *arg)
{
	snprintf(name, sizeof name, "%s", unclassed ? unclassed : "");
	build[n_got] = (char)id->b[0];
	got[n_got++] = *r;
}

/* A second goes by; returns how many were lost. */
static uint64_t next_round(void)
{
	return runs_round(&g, now += 1000 * MS, EPOCH, false, take, NULL);
}

/* A thread that began 50 ms before its end. */
static void record(uint32_t pid, uint32_t tgid, uint64_t cpu, uint32_t status, bool last)
{
	struct exit_record r = {.pid = pid,
	    .tgid = tgid,
	    .uid = 1000,
	    .elapsed_ns = 50 * MS,
	    .cpu_ns = cpu * MS,
	    .faults = 10,
	    .status = status,
	    .last = last,
	    .comm = "prog"};

	runs_record(&g, &r, now);
}

static void ended(uint32_t pid, const char *builds)
{
	struct build_id id[8] = {0};
	size_t i;

	for (i = 0; builds[i]; i++)
		id[i] = (struct build_id){1, {(uint8_t)builds[i]}};
	runs_ended(&g, pid, now, args_of_next, id, i, now);
	args_of_next = 0;
}

START_TEST(a_process_is_reported_once)
{
	uint64_t end = now;

	record(7, 7, 20, 0x300, true);
	ended(7, "a");
	ck_assert_uint_eq(next_round() + n_got, 0);
	next_round();
	ck_assert_uint_eq(n_got, 1);
	ck_assert_int_eq(build[0], 'a');
	ck_assert_uint_eq(got[0].uid, 1000);
	ck_assert_uint_eq(got[0].status, 0x300);
	ck_assert_uint_eq(got[0].cpu_ns, 20 * MS);
	ck_assert_uint_eq(got[0].faults, 10);
	ck_assert_uint_eq(got[0].start_ns, EPOCH + end - 50 * MS);
	ck_assert_uint_eq(next_round(), 0);
	ck_assert_uint_eq(n_got, 1);
	ck_assert_uint_eq(g.n, 0);
}
END_TEST

/* _i: which half comes first, rounds apart. */
START_TEST(the_halves_come_in_any_order)
{
	int half;

	for (half = 0; half < 2; half++) {
		if (half == _i)
			record(7, 7, 20, 0, true);
		else
			ended(7, "a");
		next_round();
		next_round();
		next_round();
	}
	ck_assert_uint_eq(n_got, 1);
}
END_TEST

START_TEST(others_are_not_reported)
{
	record(7, 7, 20, 0, true);
	ended(7, "");
	next_round();
	next_round();
	ck_assert_uint_eq(n_got + g.n, 0);
}
END_TEST

START_TEST(a_process_of_two_builds_is_a_run_of_each)
{
	record(7, 7, 20, 0, true);
	ended(7, "ab");
	ck_assert_uint_eq(runs_round(&g, now, EPOCH, true, take, NULL), 0);
	ck_assert_uint_eq(n_got, 2);
	ck_assert(build[0] == 'a' && build[1] == 'b');
	record(8, 8, 20, 0, true);
	ended(8, "abcdef");
	ck_assert_uint_eq(runs_round(&g, now, EPOCH, true, take, NULL), 2);
}
END_TEST

START_TEST(threads_are_added_up)
{
	record(8, 7, 5, 0x700, false);
	record(9, 7, 6, 0x700, true);
	ended(7, "a");
	next_round();
	record(7, 7, 20, 0x700, false); /* on another CPU */
	next_round();
	next_round();
	ck_assert_uint_eq(n_got, 1);
	ck_assert_uint_eq(got[0].cpu_ns, 31 * MS);
	ck_assert_uint_eq(got[0].faults, 30);
	ck_assert_uint_eq(got[0].status, 0x700);
}
END_TEST

START_TEST(threads_from_before_are_in_the_kernels_sum)
{
	struct exit_record r = {
	    .pid = 7, .tgid = 7, .cpu_ns = 5 * MS, .group_ns = 90 * MS, .last = true};

	runs_record(&g, &r, now);
	ended(7, "a");
	runs_round(&g, now, EPOCH, true, take, NULL);
	ck_assert_uint_eq(got[0].cpu_ns, 90 * MS);
}
END_TEST

START_TEST(the_first_thread_may_end_long_before)
{
	int i;

	record(7, 7, 20, 0, false);
	ended(7, "a");
	for (i = 0; i < 100; i++)
		ck_assert_uint_eq(next_round(), 0);
	ck_assert_uint_eq(n_got, 0);
	record(8, 7, 30, 0x900, true);
	next_round();
	next_round();
	ck_assert_uint_eq(n_got, 1);
	ck_assert_uint_eq(got[0].cpu_ns, 50 * MS);
	ck_assert_uint_eq(got[0].start_ns, EPOCH + 100000 * MS - 50 * MS);
}
END_TEST

START_TEST(an_exec_from_a_thread_goes_on)
{
	record(7, 7, 20, 0, false);
	ended(7, "a");
	runs_exec(&g, 7);
	runs_exec(&g, 12345);
	next_round();
	record(7, 7, 30, 0x100, true);
	ended(7, "b");
	next_round();
	next_round();
	ck_assert_uint_eq(n_got, 1);
	ck_assert_int_eq(build[0], 'b');
	ck_assert_uint_eq(got[0].cpu_ns, 50 * MS);
}
END_TEST

START_TEST(a_half_alone_is_forgotten)
{
	uint64_t lost = 0;
	int i;

	record(7, 7, 20, 0, true); /* its end was not seen */
	ended(8, "a");             /* its record was not */
	ended(9, "");
	record(10, 10, 5, 0, false);
	for (i = 0; i < 10; i++)
		lost += next_round();
	ck_assert_uint_eq(lost, 1);
	ck_assert_uint_eq(n_got, 0);
	ck_assert_uint_eq(g.n, 1); /* a thread of what goes on, perhaps */
}
END_TEST

START_TEST(memory_is_bounded)
{
	uint32_t pid;

	for (pid = 1; pid <= RUNS_MAX + 10; pid++)
		record(pid, pid, 1, 0, false);
	ck_assert_uint_eq(g.n, RUNS_MAX);
	ended(pid, "a");
	ck_assert_uint_eq(next_round(), 1);
	now += RUNS_PATIENCE;
	record(pid, pid, 1, 0, true); /* those threads give way */
	ended(pid, "a");
	ck_assert_uint_eq(g.n, 1);
	next_round();
	next_round();
	ck_assert_uint_eq(n_got, 1);
}
END_TEST

static uint64_t class_of(const char *comm)
{
	struct exit_record r = {.pid = 7, .tgid = 7, .last = true};

	strcpy(r.comm, comm);
	runs_record(&g, &r, now);
	ended(7, "a");
	runs_round(&g, now, EPOCH, true, take, NULL);
	return got[n_got - 1].class;
}

START_TEST(a_class_is_the_name_but_for_numbers)
{
	ck_assert_uint_eq(class_of("worker-12"), class_of("worker-3"));
	ck_assert_uint_ne(class_of("worker-12"), class_of("worker-"));
	ck_assert_uint_ne(class_of("worker"), class_of("walker"));
	ck_assert_uint_eq(class_of(""), class_of(""));
}
END_TEST

START_TEST(of_equal_names_the_command_line_tells)
{
	uint64_t plain = class_of("perl"), one, two;

	ck_assert_str_eq(name, "perl");
	args_of_next = 5;
	one = class_of("perl");
	ck_assert_str_eq(name, "");
	args_of_next = 2;
	two = class_of("perl");
	ck_assert(plain != one && one != two && plain != two);
	args_of_next = 5;
	ck_assert_uint_eq(class_of("perl"), one);
	args_of_next = 5;
	ck_assert_uint_ne(class_of("other"), one);
	args_of_next = CMDLINE_CUT;
	ck_assert_uint_eq(class_of("perl"), 0);
	ck_assert_str_eq(name, "");
}
END_TEST

/* Around a command: a process begins as a copy of its parent, and is whole when it is known what
 * its threads used. */
START_TEST(perf_tells_of_a_commands_processes)
{
	uint64_t begin = now - 500 * MS;

	runs_named(&g, 7, "sh", begin, now);
	runs_begun(&g, 8, 7, begin + 10 * MS, now);
	runs_begun(&g, 9, 7, begin + 20 * MS, now);
	runs_named(&g, 9, "prog", begin + 21 * MS, now);
	runs_left(&g, 9, 1000, now, now);
	runs_ended(&g, 9, now, 0, &(struct build_id){1, {1}}, 1, now);
	ck_assert_uint_eq(next_round(), 0);
	ck_assert_uint_eq(n_got, 0);
	runs_used(&g, 9, 30 * MS, now); /* on one CPU, and on another */
	runs_used(&g, 9, 12 * MS, now);
	ck_assert_uint_eq(next_round(), 0);
	ck_assert_uint_eq(next_round(), 0);
	ck_assert_uint_eq(n_got, 1);
	ck_assert_uint_eq(got[0].cpu_ns, 42 * MS);
	ck_assert_uint_eq(got[0].start_ns, begin + 20 * MS + EPOCH);
	ck_assert(got[0].uid == 1000 && !got[0].status && got[0].class);
	ck_assert_str_eq(name, "prog");
	/* Its parent's name until it has its own. */
	runs_left(&g, 8, 1000, now, now);
	runs_ended(&g, 8, now, 0, &(struct build_id){1, {1}}, 1, now);
	runs_used(&g, 8, MS, now);
	next_round();
	next_round();
	ck_assert_uint_eq(n_got, 2);
	ck_assert_str_eq(name, "sh");
	ck_assert_uint_ne(got[0].class, got[1].class);
	/* Whose threads say nothing is lost; what nobody knows the begin of is none. */
	runs_left(&g, 7, 1000, now, now);
	runs_ended(&g, 7, now, 0, &(struct build_id){1, {1}}, 1, now);
	runs_left(&g, 77, 1000, now, now);
	runs_used(&g, 78, MS, now);
	ck_assert_uint_eq(next_round(), 0);
	now += 10000 * MS;
	ck_assert_uint_eq(next_round(), 1);
	ck_assert_uint_eq(n_got, 2);
	ck_assert_uint_eq(g.n, 0);
}
END_TEST

UNIT_MAIN("runs", 0, setup, teardown, a_process_is_reported_once,
    UNIT_LOOP(the_halves_come_in_any_order, 2), others_are_not_reported,
    a_process_of_two_builds_is_a_run_of_each, threads_are_added_up,
    threads_from_before_are_in_the_kernels_sum, the_first_thread_may_end_long_before,
    an_exec_from_a_thread_goes_on, a_half_alone_is_forgotten, memory_is_bounded,
    a_class_is_the_name_but_for_numbers, of_equal_names_the_command_line_tells,
    perf_tells_of_a_commands_processes)
