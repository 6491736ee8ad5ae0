/* C frames that an exception passes: with cleanups of their own. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void leave(int *n)
{
	printf("cleanup %d\n", *n);
}

int c_calls(void (*f)(int), int n)
{
	__attribute__((cleanup(leave))) int a = n;

	if (n % 2) {
		__attribute__((cleanup(leave))) int b = n + 1;

		f(n);
		a += b;
	}
	f(n + 1);
	return a;
}

void c_waits(int *ready)
{
	__attribute__((cleanup(leave))) int a = 1000;

	pthread_cleanup_push((void (*)(void *))leave, &a);
	__atomic_store_n(ready, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
}
