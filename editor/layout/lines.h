/*
 * Hot code on few lines: the entry of a function and, by padding before slots
 * into which nothing falls, its runs (editor/layout/runs.h) lie where control changes from one
 * line of 64 bytes to another least often. Processors fetch by lines, and keep what
 * they have decoded by lines or parts of them; what that is worth: docs/notes/zen5.md,
 * "Lines".
 */
#ifndef MORPH_LINES_H
#define MORPH_LINES_H

#include "common/mem.h"
#include "editor/layout/layout.h"

enum { LINES_ALIGN = 6 /* log2: of the boundary that the entry's lead is counted from */ };

/*
 * Sets l->align, which stays where it is set, and l->lead, a multiple of 1 << least, for an
 * entry on LINES_ALIGN. Whether that is worth its bytes; if not, nothing is set. price:
 * jumps that a byte of padding must save. Quasi-linear.
 */
bool lines_pad(const struct cfg *g, double price, uint8_t least, struct layout *l, struct arena *a);

#endif
