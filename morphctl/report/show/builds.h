/*
 * Builds of a module, of which only one is at its path, taken as one: of the functions of one name
 * each counts for the same one. Pure.
 */
#ifndef MORPH_REPORT_BUILDS_H
#define MORPH_REPORT_BUILDS_H

#include "morphctl/report/recording/recording.h"

struct builds {
	uint32_t *file, *function; /* of each: the one that it counts for, itself if need be */
};

void builds_join(struct builds *b, const struct recording *r);
void builds_free(struct builds *b);

/* The function that has the code at a location, or RECORDING_NONE. */
uint32_t builds_function(const struct builds *b, const struct recording *r, uint32_t location);

#endif
