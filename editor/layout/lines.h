/*
 * Hot code on few lines: places the entry of a function and, by padding between them, its
 * fallthrough runs (editor/layout/runs.h) at the offsets within 64-byte lines that make control
 * change lines least often. Processors fetch by lines, and cache decoded instructions by lines or
 * parts of them; measured gain: docs/notes/zen5.md, "Lines".
 */
#ifndef MORPH_LINES_H
#define MORPH_LINES_H

#include "common/mem.h"
#include "editor/layout/layout.h"

enum { LINES_ALIGN = 6 /* log2 of the boundary that the entry offset counts from */ };

/*
 * Sets l->align, keeping alignments that are set, and l->entry_offset, a multiple of 1 << least,
 * for an entry on LINES_ALIGN. Returns whether that is worth its bytes; if not, nothing is set.
 * price: taken jumps that a byte of padding must save. Quasi-linear.
 */
bool lines_pad(const struct cfg *g, double price, uint8_t least, struct layout *l, struct arena *a);

#endif
