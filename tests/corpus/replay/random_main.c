/* Calls the random function with registers of all kinds. */
#include <stdint.h>
#include <stdio.h>

uint64_t random_blocks(const uint64_t in[16]);

int main(void)
{
	uint64_t in[16], sum = 0, x = 88172645463325252;
	int i, k;

	for (i = 0; i < 200; i++) {
		for (k = 0; k < 16; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			in[k] = x & 1 ? x : x & 2 ? x % 300 : (uint64_t)-(int64_t)(x % 300);
		}
		sum = sum * 31 + random_blocks(in);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
