/*
 * Hot code on few lines: places the entry of a function and, by padding between them, its
 * fallthrough runs at the offsets within 64-byte lines that make control change lines least often.
 * Processors fetch by lines, and cache decoded instructions by lines or parts of them; measured
 * gain: docs/notes/zen5.md, "Lines".
 */
#ifndef MORPH_LINES_H
#define MORPH_LINES_H

#include "common/mem.h"
#include "editor/layout/layout.h"

enum { LINES_ALIGN = 6 /* log2 of the boundary that the entry offset counts from */ };

/*
 * Sets l->align, entry_align and entry_offset, which are not set, where that is worth its bytes.
 * A change of line costs as much as a taken jump, a byte of padding `price` of them. Quasi-linear.
 */
void lines_pad(const struct cfg *g, double price, struct layout *l, struct arena *a);

#endif
