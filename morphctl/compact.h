/*
 * An artifact in the form in which it is installed: packed tighter, and for a stripped program
 * without the debug information of its units' texts, which is most of them.
 */
#ifndef MORPH_MORPHCTL_COMPACT_H
#define MORPH_MORPHCTL_COMPACT_H

#include "common/err.h"

#include <stdbool.h>

/* Publishes it at `to`. A unit that would not be read as the same functions and blocks without its
 * debug information keeps it. */
int compact_artifact(const char *from, const char *to, bool stripped, struct err *e);

#endif
