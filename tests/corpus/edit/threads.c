/*
 * Threads that begin and end in every way, by its first argument. All do
 * work(N) with N such that each way has a sum of its own; the last line says
 * what work's loop was run in all.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 16, ROUNDS = 25, LOOPS = 20000 };

static volatile long sink;
static atomic_int done;
static pthread_key_t key;

__attribute__((noipa)) void work(long n)
{
	do
		sink = n;
	while (--n);
}

static void say(long n)
{
	printf("%ld\n", n);
	fflush(stdout);
}

static void *end_by_return(void *arg)
{
	work(LOOPS);
	return arg;
}

static void *end_by_exit(void *arg)
{
	work(LOOPS);
	pthread_exit(arg);
}

static void *end_by_cancel(void *arg)
{
	work(LOOPS);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	return arg;
}

/* The kernel ends it: nobody is told. */
static void *end_at_once(void *arg)
{
	work(LOOPS);
	atomic_fetch_add(&done, 1);
	syscall(SYS_exit, 0);
	return arg;
}

static void late(void *arg)
{
	work(LOOPS / 2);
}

/* Counts while it ends, when much of it is gone. */
static void *end_with_value(void *arg)
{
	pthread_setspecific(key, &key);
	work(LOOPS / 2);
	return arg;
}

static void run(void *(*const *way)(void *), int nways, pthread_attr_t *attr)
{
	pthread_t t[AT_ONCE];
	int i, round;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < AT_ONCE; i++)
			if (pthread_create(&t[i], attr, way[i % nways], NULL))
				abort();
		for (i = 0; i < AT_ONCE; i++)
			pthread_join(t[i], NULL);
	}
}

static void many(void)
{
	static void *(*const way[])(void *) = {
	    end_by_return, end_by_exit, end_by_cancel, end_with_value};

	pthread_key_create(&key, late);
	run(way, 4, NULL);
	say((long)AT_ONCE * ROUNDS * LOOPS);
}

static void small(void)
{
	static void *(*const way[])(void *) = {end_by_return};
	pthread_attr_t a;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN);
	run(way, 1, &a);
	say((long)AT_ONCE * ROUNDS * LOOPS);
}

static void *detached(void *arg)
{
	work(LOOPS);
	atomic_fetch_add(&done, 1);
	pause();
	return arg;
}

static void wait_for(int n)
{
	while (atomic_load(&done) < n)
		usleep(1000);
}

/* They are still there when the program ends. */
static void detach(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < AT_ONCE; i++) {
		if (pthread_create(&t, NULL, i & 1 ? detached : end_at_once, NULL))
			abort();
		pthread_detach(t);
	}
	wait_for(AT_ONCE);
	say((long)AT_ONCE * LOOPS);
}

static void *forks(void *arg)
{
	static void *(*const way[])(void *) = {end_by_return};
	int status;

	work(LOOPS);
	if (!fork()) {
		work(1);
		run(way, 1, NULL);
		say((long)AT_ONCE * ROUNDS * LOOPS + 1);
		exit(0);
	}
	wait(&status);
	work(LOOPS);
	return arg;
}

/* A child has the threads it makes itself, and counts from zero. */
static void fork_among_threads(void)
{
	pthread_t t[AT_ONCE], forking;
	int i;

	for (i = 0; i < AT_ONCE; i++)
		pthread_create(&t[i], NULL, detached, NULL);
	wait_for(AT_ONCE);
	pthread_create(&forking, NULL, forks, NULL);
	pthread_join(forking, NULL);
	say((long)AT_ONCE * LOOPS + 2 * LOOPS);
}

static atomic_long handled;

static void handler(int n)
{
	work(1);
	atomic_fetch_add(&handled, 1);
}

/* Signals come while the same code runs, and while threads begin. */
static void signals(void)
{
	static void *(*const way[])(void *) = {end_by_return};
	struct itimerval every = {{0, 100}, {0, 100}};
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(SIGPROF, &a, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	run(way, 1, NULL);
	memset(&every, 0, sizeof every);
	setitimer(ITIMER_PROF, &every, NULL);
	say((long)AT_ONCE * ROUNDS * LOOPS + atomic_load(&handled));
}

static void notified(union sigval v)
{
	work(LOOPS);
	atomic_fetch_add(&done, 1);
}

/* The C library begins a thread itself, for each of them. */
static void timers(void)
{
	struct sigevent how = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified};
	struct itimerspec once = {{0, 0}, {0, 1000000}};
	timer_t t;
	int i;

	for (i = 0; i < AT_ONCE; i++)
		if (timer_create(CLOCK_MONOTONIC, &how, &t) || timer_settime(t, 0, &once, NULL))
			abort();
	wait_for(AT_ONCE);
	say((long)AT_ONCE * LOOPS);
}

static void until_told(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < AT_ONCE; i++)
		pthread_create(&t, NULL, detached, NULL);
	wait_for(AT_ONCE);
	say((long)AT_ONCE * LOOPS);
	getchar();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} way[] = {{"many", many}, {"small", small}, {"detach", detach}, {"fork", fork_among_threads},
	    {"signals", signals}, {"timers", timers}, {"wait", until_told}};
	size_t i;

	for (i = 0; i < sizeof way / sizeof way[0]; i++)
		if (argc > 1 && !strcmp(argv[1], way[i].name))
			way[i].run();
	return 0;
}
