/*
 * Giving up rights before the first byte of a foreign file is read. Unlike
 * morph-edit's sandbox this one has no programs to run and no files to make, so
 * that the system calls are a list of those that reading needs.
 */
#ifndef MORPH_MANAGERD_INSPECT_SANDBOX_H
#define MORPH_MANAGERD_INSPECT_SANDBOX_H

#include "common/err.h"

/*
 * From here on this process reads its descriptors and memory, writes to
 * INSPECT_ANSWER at given offsets and log lines to 2, and ends; any other system
 * call kills it: it opens nothing, makes no process, socket, signal or
 * executable page. Bounds: memory, CPU time and answer of inspect.h, no core
 * file, no further descriptor. -1: it is not confined, and must read nothing.
 */
int inspect_confine(struct err *e);

#endif
