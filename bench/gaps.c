/*
 * gaps SECONDS: how much time is stolen from a program. Reads the clock cycle
 * counter in a loop and adds up the gaps between two readings that are too
 * long for the loop and too short for another process (0.15 to 100 us): the
 * interrupts. Prints them in per cent of the time, and how many a second. Pin
 * it to one CPU.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cycles_per_second(void)
{
	double begin = now(), end;
	uint64_t c = __rdtsc();

	do
		end = now();
	while (end < begin + 0.05);
	return (double)(__rdtsc() - c) / (end - begin);
}

int main(int argc, char **argv)
{
	double hz = cycles_per_second(), seconds = argc > 1 ? atof(argv[1]) : 1;
	uint64_t least = (uint64_t)(150e-9 * hz), most = (uint64_t)(100e-6 * hz);
	uint64_t begin = __rdtsc(), end = begin + (uint64_t)(seconds * hz), last = begin, t, gap;
	uint64_t stolen = 0, away = 0, n = 0;

	while (last < end) {
		t = __rdtsc();
		gap = t - last;
		last = t;
		if (gap < least)
			continue;
		if (gap > most) {
			away += gap;
			continue;
		}
		stolen += gap;
		n++;
	}
	printf("%.4f %.0f\n", 100.0 * (double)stolen / (double)(last - begin - away),
	    (double)n / seconds);
	return 0;
}
