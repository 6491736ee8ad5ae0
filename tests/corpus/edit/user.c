#include <stdio.h>
#include <stdlib.h>

extern int shared_counter;
extern __thread int shared_tls;
int doubled(int x);
int interposed(int x);
long work(int n, int (*callback)(int));

static int callback(int x)
{
	return x % 5 ? x : -x;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;

	printf("%ld %d\n", work(n, callback), interposed(4));
	printf("%d %d %d\n", doubled(21), shared_counter, shared_tls);
	return 0;
}
