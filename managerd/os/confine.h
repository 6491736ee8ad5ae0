/*
 * What the manager gives up before it serves the first request: it opens files
 * of its own folder alone, reads what the kernel says below /proc and /sys, and
 * makes no process, no socket and no namespace.
 */
#ifndef MORPH_MANAGERD_CONFINE_H
#define MORPH_MANAGERD_CONFINE_H

#include "common/err.h"

/*
 * For good, for all threads there are and will be. -1 with what the kernel does
 * not have; the rest holds. home: absolute.
 */
int confine(const char *home, struct err *e);

#endif
