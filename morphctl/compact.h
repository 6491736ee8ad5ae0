/*
 * Artifacts in the form in which they are installed: packed tighter, and for a stripped program
 * without the debug information of its units' texts, which is most of them. What several
 * programs have in common is there once.
 */
#ifndef MORPH_MORPHCTL_COMPACT_H
#define MORPH_MORPHCTL_COMPACT_H

#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>

struct compact_source {
	const char *artifact;
	bool stripped; /* the program is */
};

/* Publishes one of all n programs at `to`. A unit that would not be read as the same functions and
 * blocks without its debug information keeps it. */
int compact_artifacts(const struct compact_source *from, size_t n, const char *to, struct err *e);

#endif
