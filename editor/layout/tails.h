/*
 * Tail duplication: the target of a jump is copied in place of the jump, with its successors, up to
 * where control jumps anyway (a return, an indirect jump such as an interpreter's dispatch, a jump
 * that was already taken). Saves the jump, and gives each copy of an indirect jump a history of its
 * own. A small loop is copied after itself: unrolled. (Mueller, Whalley 1992 for jumps; Ertl, Gregg
 * 2003 for dispatch.)
 */
#ifndef MORPH_TAILS_H
#define MORPH_TAILS_H

#include "editor/layout/layout.h"

/*
 * Inserts copies into the hot fragment of *l, which has none, where each byte of them saves at
 * least `price` taken jumps. A run of copies follows the likeliest successor of each block. The
 * relative order of the other slots does not change.
 */
void tails_copy(const struct cfg *g, double price, struct layout *l, struct arena *a);

/* Reorders the hot fragment with its copies, each kept after its slot, where that saves taken
 * jumps. */
void tails_order(const struct cfg *g, struct layout *l, struct arena *a);

/* May a block have copies? */
bool tails_may_copy(const struct cfg *g, uint32_t block);

#endif
