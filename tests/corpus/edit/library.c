/* A shared library with what is special to them: exported, hidden and
 * interposable functions, data seen from both sides, a callback, an ifunc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int shared_counter = 5;
__thread int shared_tls = 3;

static int slow(int x)
{
	return x * 2;
}

static int (*choose(void))(int)
{
	return slow;
}

int doubled(int x) __attribute__((ifunc("choose")));

__attribute__((visibility("hidden"))) int hidden(int x)
{
	switch (x & 7) {
	case 0: return 1;
	case 1: return x * 3;
	case 2: return doubled(x);
	case 3: return x - shared_counter;
	case 5: return shared_tls + x;
	case 6: return x ^ 0x3c;
	}
	return 0;
}

int interposed(int x)
{
	return x + 1;
}

long work(int n, int (*callback)(int))
{
	long sum = 0;
	int i;

	for (i = 0; i < n; i++) {
		if (__builtin_expect(i == 12345678, 0))
			abort();
		sum += hidden(i) + interposed(i) + (i % 3 ? callback(i) : 0);
		shared_counter += i & 1;
		shared_tls ^= i;
	}
	return sum;
}
