/*
 * Processes and threads, each of which does work(N) once: the program itself
 * with N = 1000, a child of fork with 100, its child with 10, and, if asked,
 * four threads with 100000 each.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long done;

__attribute__((noinline)) void work(long n)
{
	long i;

	for (i = 0; i < n; i++)
		done++;
}

static void *thread(void *arg)
{
	work(100000);
	return arg;
}

static void threads(void)
{
	pthread_t t[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
	int status;

	work(1000);
	if (argc > 1 && !strcmp(argv[1], "threads")) {
		threads();
	} else if (argc > 1 && !strcmp(argv[1], "wait")) {
		puts("here");
		fflush(stdout);
		getchar();
		work(1000);
	} else if (!fork()) {
		work(100);
		if (!fork())
			work(10);
		else
			wait(&status);
	} else {
		wait(&status);
	}
	return 0;
}
