/*
 * How often code ran. Pure.
 */
#ifndef MORPH_REPORT_OUT_EXECUTED_H
#define MORPH_REPORT_OUT_EXECUTED_H

#include "morphctl/report/recording/recording.h"

/* By location, 0 for those of other files than this: the sum of the ranges over it or, where the
 * recording has none of this file, the samples there. *ranges says which. To free. */
uint64_t *executed_counts(const struct recording *r, uint32_t file, bool *ranges);

/* Locations for all bytes of the functions of a file that ran, the hottest first, so that each of
 * their instructions has one: at most so many new ones. Needs functions, and leaves new locations
 * to be resolved. */
void executed_locations(struct recording *r, uint32_t file, size_t most);

#endif
