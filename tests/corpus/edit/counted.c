/*
 * Control flow that is hard to count: switches, computed goto, setjmp and
 * longjmp, recursion, calls that do not return, tail calls, flags that live
 * across blocks, leaf functions with a red zone. No library decides its course.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

static jmp_buf home;
static int sum;

APART static void leave(int n)
{
	if (n % 3 == 0)
		longjmp(home, n + 1);
	sum += n;
}

APART static void through(int n)
{
	if (n & 1)
		leave(n);
	leave(n + 1);
	sum ^= n;
}

APART static int tree(int n)
{
	return n < 2 ? n : tree(n - 1) + tree(n - 2);
}

APART static int sorted_out(int x)
{
	switch (x) {
	case 0:
		return 5;
	case 1:
		return 9;
	case 2:
		sum++;
		/* fall through */
	case 3:
		return sum & 7;
	case 4:
		return sum;
	case 5:
		return 77;
	case 6:
		sum *= 3;
	}
	return -1;
}

APART static int doubled(int acc)
{
	return 2 * acc + sum % 3;
}

APART static int halved(int acc)
{
	return acc / 2;
}

/* Its jumps share all labels, one of which is reached otherwise as well; the last
 * is a tail call, to none of them. */
APART static int interpret(const unsigned char *p, int (*last)(int))
{
	static void *const op[] = {&&inc, &&mul, &&mix, &&end};
	int acc = 0;

	goto *op[*p++ & 3];
inc:
	acc += 1;
	goto *op[*p++ & 3];
mul:
	acc *= 3;
	if (acc > 1000)
		acc -= 999;
	goto *op[*p++ & 3];
mix:
	acc ^= *p;
	if (acc % 5 == 1)
		goto inc;
	goto *op[*p++ & 3];
end:
	return last(acc);
}

/* Two tables with common labels. */
APART static int twice(int a, int b)
{
	int n = b;

	switch (a) {
	case 0: goto zero;
	case 1: goto one;
	case 2: goto two;
	case 3: goto three;
	case 4: goto four;
	case 5: n += sum & 3; break;
	}
	n = n * 7 + a;
	switch (b) {
	case 1: goto two;
	case 2: goto one;
	case 3: goto four;
	case 4: goto three;
	case 5: goto zero;
	case 6: n -= a;
	}
	return n;
zero:
	n += 3;
	if (n > 8)
		goto two;
	return n;
one:
	return n ^ sum;
two:
	sum++;
	/* fall through */
three:
	return n + sum;
four:
	return sum - n;
}

APART static int even(int n);
APART static int odd(int n)
{
	return n <= 0 ? sum : even(n - 1);
}
static int even(int n)
{
	return n & 1 ? odd(n - 3) : odd(n - 1);
}

APART static double compared(double a, double b)
{
	if (a == b)
		return a;
	if (a < b)
		return b - a;
	return a > b ? a - b : -1; /* neither: not a number */
}

APART static unsigned wide(unsigned long long a, unsigned long long b)
{
	unsigned n = 0;

	while (a > b) {
		a -= b + n;
		n++;
		if (__builtin_add_overflow(b, n, &b))
			return n;
	}
	return n;
}

APART static int leaf(const int *v, int n)
{
	int best[8] = {0}, i;

	for (i = 0; i < n; i++)
		if (v[i] > best[i & 7])
			best[i & 7] = v[i];
	return best[0] + best[3] * 5 + best[7];
}

APART static void finish(int last)
{
	if (last)
		exit(0);
	sum++;
}

int main(int argc, char **argv)
{
	volatile int i;
	int n = argc > 1 ? atoi(argv[1]) : 40, k, m, r;
	unsigned char code[64];
	int v[100];

	for (i = 0; i < n; i++) {
		r = setjmp(home);
		if (r)
			sum -= r;
		else
			through(i);
	}
	for (k = 0; k < 200; k++)
		sum += sorted_out(k % 9);
	for (k = 0; k < 50; k++) {
		for (m = 0; m < 63; m++)
			code[m] = (unsigned char)((k * 7 + m * m) % 3);
		code[63] = 3;
		sum += interpret(code, k & 1 ? doubled : halved) + twice(k % 7, k * k % 8);
		v[k] = v[99 - k] = k * 37 % 101;
	}
	sum += tree(12) + odd(n * 5) + leaf(v, 100) + (int)wide(1000000, 77);
	for (k = 0; k < 30; k++)
		sum += (int)compared(k % 5, k % 7 == 6 ? 0.0 / (double)(k % 2) : k % 7);
	printf("%d\n", sum);
	finish(0);
	finish(1);
	return 1;
}
