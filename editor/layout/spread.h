/*
 * Hard-to-predict branches spread over both halves of a 64-byte line.
 *
 * Intel's predictor selects the sets of its history tables by bit 5 of the address of a jump's last
 * byte and by no lower one, the rest of the index is history (Yavarzadeh et al., "Half&Half:
 * Demystifying Intel's Directional Branch Predictors", IEEE S&P 2023, section 5). Where all
 * hard-to-predict branches lie in one half of their lines, half of the tables are idle. Padding
 * between fallthrough runs moves them.
 */
#ifndef MORPH_SPREAD_H
#define MORPH_SPREAD_H

#include "common/mem.h"
#include "editor/layout/layout.h"

enum { SPREAD_ALIGN = 5 /* log2: of the entry of a function that is spread */ };

/* Sets l->align, for an entry on SPREAD_ALIGN, and returns true where that is worth its bytes.
 * price: taken jumps that a byte of padding must save. Deterministic. */
bool spread_jumps(const struct cfg *g, double price, struct layout *l, struct arena *a);

#endif
