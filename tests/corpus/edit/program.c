/* Every shape of control flow that C and GCC have, in one program whose output
 * tells of each of them. First argument: how often. */
#include "program.h"

#include <alloca.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static unsigned long sum;
static __thread unsigned calls;
static jmp_buf away;
static volatile sig_atomic_t signals;

static NOINLINE int twin(int x) /* program2.c has another one */
{
	return x % 7 ? x * 3 + 1 : x / 7;
}

static NOINLINE int dense(int x)
{
	switch (x % 16) {
	case 0: return x + 1;
	case 1: return x * 7;
	case 2: return twin(x);
	case 3: return x >> 2;
	case 4: return -x;
	case 5: x ^= 0x55; /* fall through */
	case 6: x += 9; /* fall through */
	case 7: return x * x;
	case 9: return other(x);
	case 10: sum += 3; break;
	case 12: return x & 0xff;
	case 15: return 15;
	}
	return 0;
}

static NOINLINE const char *sparse(int x)
{
	switch (x) {
	case -5: return "minus";
	case 3: return "three";
	case 100: return "hundred";
	case 1000: return "thousand";
	case 1001: return "more";
	case 70000: return "far";
	case 1 << 30: return "top";
	}
	return "none";
}

enum { PUSH, ADD, MUL, DUP, SWAP, DEC, JNZ, POP, HALT };

/* Threaded code. */
static NOINLINE long interpret(const signed char *pc, long n)
{
	static const void *const label[] = {
	    &&push, &&add, &&mul, &&dup, &&swap, &&dec, &&jnz, &&pop, &&halt};
	const signed char *code = pc;
	long stack[32], *sp = stack, t;

	*sp = n;
#define NEXT goto *label[(int)*pc++]
	NEXT;
push:	*++sp = *pc++; NEXT;
add:	sp--; *sp += sp[1]; NEXT;
mul:	sp--; *sp = (*sp * sp[1]) % 1000003; NEXT;
dup:	sp++; *sp = sp[-1]; NEXT;
swap:	t = *sp; *sp = sp[-1]; sp[-1] = t; NEXT;
dec:	--*sp; NEXT;
jnz:	t = *pc++; if (*sp) pc = code + t; NEXT;
pop:	sp--; NEXT;
halt:	return *sp;
}

static NOINLINE long ackermann(long m, long n)
{
	if (!m)
		return n + 1;
	if (!n)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

static NOINLINE int is_odd(unsigned n);
static NOINLINE int is_even(unsigned n)
{
	return n ? is_odd(n - 1) : 1;
}

static NOINLINE int is_odd(unsigned n)
{
	return n ? is_even(n - 1) : 0;
}

/* A tail call through a table. */
static int (*const table[])(int) = {dense, twin, other, dense};
static NOINLINE int dispatch(int which, int x)
{
	calls++;
	return table[which & 3](x);
}

static NOINLINE double average(int n, ...)
{
	va_list ap;
	double s = 0;
	int i;

	va_start(ap, n);
	for (i = 0; i < n; i++)
		s += i & 1 ? va_arg(ap, double) : va_arg(ap, int);
	va_end(ap);
	return n ? s / n : NAN;
}

static NOINLINE void leap(int depth)
{
	char waste[64];

	memset(waste, depth, sizeof waste);
	if (depth == 5)
		longjmp(away, waste[7] + 37);
	leap(depth + 1);
	sum += (unsigned char)waste[3];
}

static NOINLINE int try_leap(void)
{
	volatile int tries = 0;
	int code = setjmp(away);

	if (code)
		return code + tries;
	tries = 100;
	leap(0);
	return -1;
}

static NOINLINE void check(int ok, const char *what)
{
	if (__builtin_expect(!ok, 0)) {
		fprintf(stderr, "check failed: %s\n", what);
		if (what[0] == '!')
			exit(3);
		abort();
	}
	sum++;
}

static NOINLINE int with_asm(int x)
{
	int r;

	__asm__("movl %1, %0\n\t"
		"testl %0, %0\n\t"
		"jns 1f\n\t"
		"negl %0\n"
		"1:\taddl $2, %0" : "=r"(r) : "r"(x) : "cc");
	return r;
}

static NOINLINE int asm_jump(int x)
{
	__asm__ goto("cmpl $10, %0\n\tjg %l[big]\n\tcmpl $0, %0\n\tjl %l[small]"
		: : "r"(x) : "cc" : big, small);
	return 1;
big:
	return x - 10;
small:
	return -x * 2;
}

static NOINLINE long on_stack(int n)
{
	int vla[n + 1], i;
	char *a = alloca((size_t)n + 16);
	long s = 0;

	memset(a, n, (size_t)n + 16);
	for (i = 0; i <= n; i++)
		vla[i] = i * a[i & 7];
	for (i = n; i >= 0; i--)
		s += vla[i];
	return s;
}

static NOINLINE double floats(double x)
{
	if (isnan(x))
		return -1;
	if (x < 0 || x > 1e9)
		return x != x + 1 ? 0.5 : 2;
	return x == 4 ? 44 : sqrt(x);
}

static NOINLINE int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

static void handler(int sig)
{
	signals += sig == SIGUSR1 ? 1 : 100;
}

static NOINLINE void cleanup(int *x)
{
	sum += (unsigned)*x;
}

static NOINLINE int scoped(int n)
{
	int guard __attribute__((cleanup(cleanup))) = n;

	while (n > 10) {
		if (n % 13 == 0)
			return n;
		if (n & 1)
			n = n / 2 + 1;
		else
			n -= 3;
	}
	return guard;
}

static NOINLINE unsigned __int128 wide(unsigned __int128 x, unsigned n)
{
	while (n--)
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
	return x;
}

static __attribute__((constructor)) void before_main(void)
{
	sum = 17;
}

static __attribute__((destructor)) void after_main(void)
{
	printf("bye %u\n", calls);
}

__attribute__((weak)) int overridden(int x)
{
	return x - 1000000;
}

static const signed char factorial[] = {PUSH, 1, SWAP, DUP, DEC, /* acc n n-1: */
    POP, SWAP, PUSH, 3, MUL, SWAP, DEC, JNZ, 6, POP, HALT};

static void one_round(int i)
{
	int list[16], k;

	for (k = 0; k < 16; k++)
		list[k] = (i * 7919 + k * 104729) % 1009;
	qsort(list, 16, sizeof *list, compare);
	sum = sum * 31 + (unsigned)(list[0] + list[15]);
	sum += (unsigned)(dense(i) + dispatch(i, i + 3) + with_asm(-i) + asm_jump(i % 30 - 10));
	sum ^= (unsigned long)interpret(factorial, i % 9 + 1);
	sum += (unsigned long)(on_stack(i % 50) + scoped(i) + overridden(i) + is_even((unsigned)i % 64));
	sum += strlen(sparse(i % 3 ? i : 1 << 30)) + (unsigned long)floats(i - 2.0);
	sum += (unsigned long)(wide((unsigned)i, 5) >> 64);
	check(i >= 0, "sign");
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 1000;

	signal(SIGUSR1, handler);
	check(argc > 0, "!arguments");
	for (i = 0; i < n; i++)
		one_round(i);
	raise(SIGUSR1);
	printf("sum %lu, signals %d\n", sum, (int)signals);
	printf("ackermann %ld, leap %d\n", ackermann(2, 9), try_leap());
	printf("average %.3f %.3f\n", average(4, 1, 2.5, 3, 4.5), average(1, 9));
	printf("sparse %s %s %s\n", sparse(-5), sparse(1001), sparse(70000));
	show_stack();
	return second(n);
}
