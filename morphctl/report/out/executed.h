/*
 * How often code ran. Pure.
 */
#ifndef MORPH_REPORT_OUT_EXECUTED_H
#define MORPH_REPORT_OUT_EXECUTED_H

#include "morphctl/report/recording/recording.h"

/* By location, 0 for those of other files than this: the sum of the ranges over it or, where the
 * recording has none of this file, the samples there. *ranges says which. To free. */
uint64_t *executed_counts(const struct recording *r, uint32_t file, bool *ranges);

/* Locations for all bytes of the ranges of a file, those executed most often first, so that each
 * instruction has one: at most so many new ones, none of a range that is longer than code goes
 * without a branch. */
enum { EXECUTED_RANGE = 1 << 16 };
void executed_locations(struct recording *r, uint32_t file, size_t most);

#endif
