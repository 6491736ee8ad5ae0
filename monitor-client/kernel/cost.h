/*
 * What a sample costs the program that it interrupts. It differs tenfold between machines: 2 µs
 * are common, 20 where a host has to emulate the timer.
 */
#ifndef MORPH_COST_H
#define MORPH_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In ns, of samples as SHAPE_EXTRA has them (ring.h), with all registers and the stack or without:
 * measured on this thread, which reads the clock for some milliseconds while it is sampled. 0: it
 * cannot be, since the kernel does not allow it or the machine has no time. */
uint64_t cost_measure(bool registers);
/* From n times between two readings of the clock, in which `samples` interrupts fell: the median
 * of so many longest ones, since what else took time is rare. 0 where they are too few. Sorts. */
uint64_t cost_of_gaps(uint64_t *gap, size_t n, size_t samples);

#endif
