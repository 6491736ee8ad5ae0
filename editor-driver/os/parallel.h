/*
 * Runs a function on n items with several threads.
 */
#ifndef MORPH_PARALLEL_H
#define MORPH_PARALLEL_H

#include "common/err.h"

#include <stddef.h>

/*
 * Calls fn(arg, i, e) for i in 0…n-1, each once, on at most jobs threads, the
 * caller's among them. After a failure no new item is begun. Returns 0, or -1
 * with the error of the lowest item that failed.
 */
int parallel_for(unsigned jobs, size_t n, int (*fn)(void *arg, size_t i, struct err *e), void *arg,
    struct err *e);

#endif
