/* The second unit: a static function of a name the first has too, the strong
 * one of a weak pair, and a walk up the stack from hot and cold code. */
#include "program.h"

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Assembly in several sections, which ends in another than it begins in. */
__asm__("\t.section\t.rodata\nwritten_by_hand:\n\t.string\t\"it's by hand\"\n\t.previous\n"
	"\t.data; .align 4; by_how_much: .long 3\n\t.text\n\t.globl by_hand\n"
	"\t.type by_hand, @function\nby_hand:\n\tleal (%rdi,%rdi,2), %eax\n\tret\n"
	"\t.size by_hand, .-by_hand\n\t.section .bss\nroom:\t.skip 8\n\t.text");
int by_hand(int);

static NOINLINE int twin(int x)
{
	int r = 0;

	do
		r = r * 2 + (x & 1);
	while (x >>= 1);
	return r;
}

int other(int x)
{
	return x < 0 ? twin(-x) : twin(x) + 1;
}

int overridden(int x)
{
	return x + 5;
}

/* The return addresses on the stack, as offsets into the program. */
static NOINLINE void print_stack(const char *where)
{
	extern const char __executable_start[];
	void *pc[32];
	int i, n = backtrace(pc, 32);

	printf("%s: %d frames\n", where, n);
	for (i = 0; getenv("SHOW_STACK") && i < n; i++)
		printf("pc %#lx\n", (unsigned long)((char *)pc[i] - __executable_start));
}

NOINLINE int walk(int depth, int mode)
{
	if (depth > 0)
		return walk(depth - 1, mode) + 1;
	if (__builtin_expect(mode == 99, 0)) {
		print_stack("cold");
		if (mode == 98)
			abort();
		return 7;
	}
	print_stack("hot");
	return mode;
}

void show_stack(void)
{
	int hot = walk(4, 3), cold = walk(2, 99);

	printf("walk %d %d\n", hot, cold);
}

int second(int n)
{
	static const char *const words[] = {"alpha", "beta", "gamma", "delta"};
	char line[64];
	int i, r = 0;

	for (i = 0; i < n; i++) {
		snprintf(line, sizeof line, "%s-%d", words[i & 3], i);
		if (strstr(line, "-7"))
			r ^= i;
		else if (memcmp(line, "gamma", 5) == 0)
			r += twin(by_hand(i));
	}
	printf("second %d\n", r);
	return r & 63;
}
