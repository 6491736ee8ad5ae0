/*
 * How much two profiles of the same things (blocks, edges) agree. Weights are ≥ 0 and only their
 * shares matter: one profile may count executions and the other samples.
 */
#ifndef MORPH_OVERLAP_H
#define MORPH_OVERLAP_H

#include <stddef.h>
#include <stdint.h>

/* The sum of the smaller of both shares, 0…1: 1 for equal shares, 0 where no
 * thing has weight in both; symmetric. Two profiles without any weight agree,
 * one without does not agree with one that has some. */
double overlap(const double *a, const double *b, size_t n);

/* Marks in hot[] (0, 1) the fewest things that hold `share` (0…1) of all
 * weight, of equal ones the first. Returns their number. */
size_t overlap_hot(const double *w, size_t n, double share, uint8_t *hot);

#endif
