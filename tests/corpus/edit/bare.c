/*
 * A program without any library: begins at its own entry, ends by a system
 * call. Adds up 1 … 1000 and exits with 0 when that is right.
 */
static long call(long n, long a)
{
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a) : "rcx", "r11", "memory");
	return r;
}

__attribute__((noinline)) static int add(int n)
{
	volatile int sum = 0;
	int i;

	for (i = 1; i <= n; i++)
		sum += i;
	return sum;
}

void _start(void)
{
	call(60, add(1000) != 500500);
	__builtin_unreachable();
}
