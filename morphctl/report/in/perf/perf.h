/*
 * perf.data, as Linux's perf record writes it, to a file or to a pipe, compressed or not:
 * tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h. Of
 * little-endian machines.
 *
 * Read twice: first what processes mapped, forked and executed, which is kept with its time; then
 * the samples, each looked up at its own time. So nothing is sorted but what changes processes, and
 * memory does not grow with the file but with what is in the recording.
 *
 * Stacks that were copied for DWARF (--call-graph dwarf) are unwound before the second reading, by
 * a child, which reads that file and those that were mapped (stacks.h).
 */
#ifndef MORPH_REPORT_PERF_H
#define MORPH_REPORT_PERF_H

#include "morphctl/report/recording/recording.h"

#include "common/err.h"

/* Does it begin as such a file does? */
bool perf_is(const uint8_t *p, size_t n);

/* Calls run in a child that has what is in memory here, and nothing else. 0, or -1 and how that
 * failed. */
typedef int perf_child_fn(int (*run)(void *arg, struct buf *answer, struct err *e), void *arg,
    size_t bytes, struct buf *answer, struct err *e);

/* Adds what its bytes have to r; name is for messages. r is not whole when it fails. */
int perf_read(struct recording *r, const char *name, const uint8_t *p, size_t n,
    perf_child_fn *child, struct err *e);

#endif
