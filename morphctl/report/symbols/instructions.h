/*
 * Instructions from the child to the parent, in ULEB128 numbers: how many; each: bytes, its text (a
 * string), the number + 1 of its source in this answer's order of first mention (0 = none; one that
 * was not mentioned yet is followed by the string), and the line. The first begins at start, each
 * where the one before ends.
 */
#ifndef MORPH_REPORT_INSTRUCTIONS_H
#define MORPH_REPORT_INSTRUCTIONS_H

#include "morphctl/report/symbols/readers.h"
#include "morphctl/report/symbols/symbols.h"

/* In the child: the instructions at offsets of [start, end). */
int instructions_read(
    const struct request *q, uint64_t start, uint64_t end, struct buf *answer, struct err *e);
/* What was said is hostile. */
int instructions_decode(const void *p, size_t bytes, uint64_t start, uint64_t end,
    struct arena *mem, struct symbols_insn **insn, size_t *n, struct err *e);

#endif
