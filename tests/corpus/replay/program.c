/*
 * All that compilers make branches of: comparisons of every width and sign,
 * overflow, carries of 128 bits, floating point, shifts, rotations, bits,
 * division, tables, computed goto, recursion, calls through pointers.
 * Prints one number.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state = 88172645463325252;

static __attribute__((noinline)) uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* Small ones, the edges of each width, and others. */
static __attribute__((noinline)) uint64_t pick(void)
{
	static const uint64_t edges[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff,
	    0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
	uint64_t r = rnd();

	switch (r & 3) {
	case 0:
		return edges[(r >> 8) % (sizeof edges / sizeof *edges)];
	case 1:
		return (r >> 8) % 10;
	default:
		return r;
	}
}

#define COMPARE(NAME, T)                                                                           \
	static __attribute__((noinline)) unsigned NAME(T a, T b)                                   \
	{                                                                                          \
		unsigned n = 0;                                                                    \
		if (a < b)                                                                         \
			n += (unsigned)(b - a) & 7;                                                \
		if (a <= b)                                                                        \
			n ^= (unsigned)a & 15;                                                     \
		if (a == b)                                                                        \
			n = n * 3 + 1;                                                             \
		if ((T)(a + b) > a)                                                                \
			n += 5;                                                                    \
		if ((T)(a - b) >= b)                                                               \
			n ^= 33;                                                                   \
		if (a & b)                                                                         \
			n += 2;                                                                    \
		if ((T)-a != b)                                                                    \
			n ^= 4;                                                                    \
		if (!(T)(a ^ b))                                                                   \
			n += 100;                                                                  \
		if ((T)~a < b)                                                                     \
			n--;                                                                       \
		return n;                                                                          \
	}
COMPARE(compare_i8, int8_t)
COMPARE(compare_u8, uint8_t)
COMPARE(compare_i16, int16_t)
COMPARE(compare_u16, uint16_t)
COMPARE(compare_i32, int32_t)
COMPARE(compare_u32, uint32_t)
COMPARE(compare_i64, int64_t)
COMPARE(compare_u64, uint64_t)

#define OVERFLOWS(NAME, T)                                                                         \
	static __attribute__((noinline)) unsigned NAME(T a, T b)                                   \
	{                                                                                          \
		unsigned n = 0;                                                                    \
		T r;                                                                               \
		if (__builtin_add_overflow(a, b, &r))                                              \
			n += 1;                                                                    \
		else                                                                               \
			n += (unsigned)r & 3;                                                      \
		if (!__builtin_sub_overflow(a, b, &r))                                             \
			n += 2;                                                                    \
		if (__builtin_mul_overflow(a, b, &r))                                              \
			n += 4;                                                                    \
		return n + ((unsigned)r & 1);                                                      \
	}
OVERFLOWS(overflow_i8, int8_t)
OVERFLOWS(overflow_i16, int16_t)
OVERFLOWS(overflow_i32, int32_t)
OVERFLOWS(overflow_u32, uint32_t)
OVERFLOWS(overflow_i64, int64_t)
OVERFLOWS(overflow_u64, uint64_t)

static __attribute__((noinline)) unsigned wide(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	unsigned __int128 x = (unsigned __int128)a << 64 | b, y = (unsigned __int128)c << 64 | d;
	__int128 z = (__int128)(x - y);
	unsigned n = x < y;

	if (z < 0)
		n += 2;
	if (x + y > y)
		n += 4;
	if ((x >> (b & 63)) & 1)
		n += 8;
	if ((uint64_t)(x << (d & 127)) > a)
		n += 16;
	return n + (unsigned)((a * (unsigned __int128)c) >> 64 > b ? 32 : 0);
}

static __attribute__((noinline)) unsigned floats(double a, double b, float c)
{
	unsigned n = 0;

	if (a < b)
		n |= 1;
	if (a == b)
		n |= 2;
	if (a != a)
		n |= 4;
	if ((int64_t)a % 3 == 1)
		n |= 8;
	if (c > (float)b)
		n |= 16;
	if ((long double)a * 2 > b)
		n |= 32;
	return n;
}

static __attribute__((noinline)) unsigned shifts(uint64_t a, unsigned k)
{
	unsigned n = 0;
	uint32_t w = (uint32_t)a;
	uint16_t h = (uint16_t)a;

	if (a >> (k & 63) & 1)
		n++;
	if ((int64_t)a >> (k & 63) < -1)
		n += 2;
	if ((w << (k & 31) | w >> (-k & 31)) > 1000u)
		n += 4;
	if ((uint16_t)(h << 3 | h >> 13) & 0x100)
		n += 8;
	if ((int32_t)w >> 3 < 0)
		n += 16;
	if (((a >> 8) & 0xff) > (a & 0xff))
		n += 32;
	if (__builtin_bswap32(w) > __builtin_bswap32(w + k))
		n += 64;
	if (a && __builtin_ctzll(a) > 3)
		n += 128;
	if (w && __builtin_clz(w) & 1)
		n += 256;
	if (a & (uint64_t)1 << (k & 63))
		n += 512;
	return n + (unsigned)__builtin_parity(w);
}

static __attribute__((noinline)) unsigned divisions(int64_t a, int64_t b, uint32_t c, int32_t d)
{
	unsigned n = 0;

	if (b && a != INT64_MIN && a / b > 2)
		n++;
	if (b && a != INT64_MIN && a % b < 0)
		n += 2;
	if (c && (uint32_t)a / c > 5)
		n += 4;
	if (c && (uint32_t)a % c == 1)
		n += 8;
	if (d && d != -1 && (int32_t)b % d > 0)
		n += 16;
	return n + (unsigned)(a % 7 == 3) + (unsigned)(c % 10 > 4);
}

static __attribute__((noinline)) unsigned table(unsigned k, unsigned x)
{
	switch (k) {
	case 0:
		return x + 1;
	case 1:
		return x * 3;
	case 2:
		return x ^ 0x55;
	case 3:
		return x > 5 ? x - 5 : x;
	case 4:
		return x / 3;
	case 5:
		return ~x;
	case 6:
		return x << 2 | 1;
	case 9:
		return x & 0xf0;
	default:
		return x & 1 ? k : x;
	}
}

static __attribute__((noinline)) unsigned machine(const uint8_t *code, unsigned n)
{
	static const void *const op[] = {&&add, &&twice, &&skip, &&back, &&end};
	unsigned acc = 1, pc = 0, budget = 200;

#define NEXT                                                                                       \
	do {                                                                                       \
		if (!budget--)                                                                     \
			return acc;                                                                \
		goto *op[code[pc++ % n] % 5];                                                      \
	} while (0)
	NEXT;
add:
	acc += code[pc % n];
	NEXT;
twice:
	acc = acc * 2 + (acc > 1000);
	NEXT;
skip:
	pc += acc & 3;
	NEXT;
back:
	if (acc & 1)
		pc = 0;
	acc >>= 1;
	NEXT;
end:
	return acc;
}

static __attribute__((noinline)) unsigned collatz(uint64_t x)
{
	unsigned n = 0;

	while (x > 1 && n < 300) {
		x = x & 1 ? 3 * x + 1 : x / 2;
		n++;
	}
	return n;
}

static __attribute__((noinline)) int ackermann(int m, int n)
{
	if (!m)
		return n + 1;
	if (!n)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

static int by_value(const void *a, const void *b)
{
	uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;

	return x < y ? -1 : x > y;
}

static __attribute__((noinline)) unsigned arrays(void)
{
	uint16_t v[40];
	uint8_t bytes[64];
	unsigned i, n = 0;

	for (i = 0; i < 40; i++)
		v[i] = (uint16_t)pick();
	for (i = 0; i < 64; i++)
		bytes[i] = (uint8_t)rnd();
	qsort(v, 40, sizeof *v, by_value);
	for (i = 1; i < 40; i++)
		if (v[i] - v[i - 1] > 100)
			n += i;
	return n + machine(bytes, 64);
}

static unsigned once(void)
{
	uint64_t a = pick(), b = pick(), c = pick(), d = pick();
	unsigned n = 0;

	n += compare_i8((int8_t)a, (int8_t)b) + compare_u8((uint8_t)b, (uint8_t)c);
	n += compare_i16((int16_t)a, (int16_t)b) + compare_u16((uint16_t)b, (uint16_t)c);
	n += compare_i32((int32_t)a, (int32_t)b) + compare_u32((uint32_t)b, (uint32_t)c);
	n += compare_i64((int64_t)a, (int64_t)b) + compare_u64(b, c);
	n += overflow_i8((int8_t)a, (int8_t)b) + overflow_i16((int16_t)a, (int16_t)b);
	n += overflow_i32((int32_t)a, (int32_t)b) + overflow_u32((uint32_t)a, (uint32_t)b);
	n += overflow_i64((int64_t)a, (int64_t)b) + overflow_u64(a, b);
	n += wide(a, b, c, d) + floats((double)(int64_t)a, (double)b, (float)(int)c);
	n += shifts(a, (unsigned)b) + divisions((int64_t)a, (int64_t)b, (uint32_t)c, (int32_t)d);
	n += table((unsigned)(a & 15), (unsigned)b) + collatz(c & 0xffff);
	return n + arrays() + (unsigned)ackermann(2, (int)(d & 3));
}

int main(void)
{
	unsigned i, n = 0;

	for (i = 0; i < 300; i++)
		n = n * 31 + once();
	printf("%u\n", n);
	return 0;
}
