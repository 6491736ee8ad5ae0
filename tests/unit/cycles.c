/* What counters say of running processes: the kernel's own stand in for the CPU's, which virtual
 * machines mostly lack. */
#include "monitor-client/kernel/cycles.h"
#include "tests/unit/unit.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 400, PAGE = 4096 };

static const struct cycles_events OF_KERNEL = {
    PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_TASK_CLOCK};
static struct cycles c;
static struct cycles_gain gain;
static int work[2], done[2]; /* pipes */

static void setup(void)
{
	c = (struct cycles){.events = &OF_KERNEL};
	ck_assert_int_eq(pipe(work) | pipe(done), 0);
}

static void teardown(void)
{
	cycles_free(&c);
	ck_assert_uint_eq(c.threads, 0);
}

/* Some time, and so many faults at least. */
static void *use_pages(void *arg)
{
	char *p =
	    mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile int n;
	size_t i;

	madvise(p, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		p[i * PAGE] = 1;
	for (n = 0; n < 10000000; n++)
		;
	munmap(p, PAGES * PAGE);
	return NULL;
}

/* 't': by a thread that begins now, 'f': by a process that does, 'w': by itself. */
static void serve(void)
{
	pthread_t t;
	char what;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(work[0], &what, 1) == 1) {
		if (what == 'w') {
			use_pages(NULL);
		} else if (what == 't') {
			pthread_create(&t, NULL, use_pages, NULL);
			pthread_join(t, NULL);
		} else if (!fork()) {
			use_pages(NULL);
			_exit(0);
		} else {
			wait(NULL);
		}
		if (write(done[1], &what, 1) != 1)
			break;
	}
	_exit(0);
}

static pid_t start(void)
{
	pid_t pid = fork();

	if (!pid)
		serve();
	return pid;
}

static void have_done(char what)
{
	ck_assert_int_eq(write(work[1], &what, 1), 1);
	ck_assert_int_eq(read(done[0], &what, 1), 1);
}

static bool round_of(pid_t pid)
{
	bool counted;

	cycles_begin(&c);
	counted = cycles_process(&c, (uint32_t)pid, &gain);
	cycles_end(&c);
	return counted;
}

START_TEST(a_process_is_counted_from_the_first_round_on)
{
	pid_t pid = start();

	have_done('w');
	ck_assert(!round_of(pid));
	ck_assert_uint_ge(c.threads, 1);
	have_done('w');
	ck_assert(round_of(pid));
	ck_assert_uint_ge(gain.instructions, PAGES);
	ck_assert_uint_lt(gain.instructions, 2 * PAGES);
	ck_assert_uint_gt(gain.cycles, 1000000);
	/* By a thread that is over again. */
	have_done('t');
	have_done('w');
	ck_assert(round_of(pid));
	ck_assert_uint_ge(gain.instructions, 2 * PAGES);
	ck_assert_uint_lt(gain.instructions, 3 * PAGES);
	kill(pid, SIGKILL);
}
END_TEST

START_TEST(other_processes_are_not_counted_with_it)
{
	pid_t pid = start();

	have_done('w');
	round_of(pid);
	have_done('f');
	if (round_of(pid))
		ck_assert_uint_lt(gain.instructions, PAGES);
	kill(pid, SIGKILL);
}
END_TEST

/* Nothing stays open of what is not asked for or is over. What does nothing is counted from then
 * on, once. */
START_TEST(what_is_over_is_closed)
{
	pid_t pid = start();

	have_done('w');
	round_of(pid);
	cycles_begin(&c);
	cycles_end(&c);
	ck_assert_uint_eq(c.threads + c.process.n, 0);
	ck_assert(!round_of(pid));
	have_done('w');
	ck_assert(round_of(pid));
	while (round_of(pid)) /* until it waits */
		usleep(1000);
	ck_assert(c.threads == 1 && c.process.n == 1);
	ck_assert(!round_of(pid));
	have_done('w');
	ck_assert(round_of(pid));
	ck_assert_uint_lt(gain.instructions, 2 * PAGES);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (round_of(pid))
		;
	ck_assert(!round_of(pid));
	ck_assert_uint_eq(c.threads + c.process.n, 0);
	ck_assert(!c.refused);
}
END_TEST

START_TEST(more_threads_than_may_be)
{
	pid_t pid = start();

	c.threads = CYCLES_THREADS_MAX;
	ck_assert(!round_of(pid));
	ck_assert(c.threads == CYCLES_THREADS_MAX && !c.process.n && !c.refused);
	c.threads = 0;
	kill(pid, SIGKILL);
}
END_TEST

/* As where the CPU shows no counters. */
START_TEST(no_counters)
{
	static const struct cycles_events none = {PERF_TYPE_SOFTWARE, 1000, 1001};
	pid_t pid = start();

	c.events = &none;
	ck_assert(!round_of(pid));
	ck_assert(c.refused && !c.threads && !c.process.n);
	ck_assert(!round_of(pid));
	kill(pid, SIGKILL);
}
END_TEST

UNIT_MAIN("cycles", 0, setup, teardown, a_process_is_counted_from_the_first_round_on,
    other_processes_are_not_counted_with_it, what_is_over_is_closed, more_threads_than_may_be,
    no_counters)
