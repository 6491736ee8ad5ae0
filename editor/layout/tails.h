/*
 * Tail duplication: a block that is jumped to is copied after the jump, with
 * what follows it, up to where control leaves anyway (a return, an indirect
 * jump such as an interpreter's dispatch, a jump that was taken before). Saves
 * the jump, and gives each copy of an indirect jump a history of its own. A
 * small loop is copied after itself: unrolled.
 * (Mueller, Whalley 1992 for jumps; Ertl, Gregg 2003 for dispatch.)
 */
#ifndef MORPH_TAILS_H
#define MORPH_TAILS_H

#include "editor/layout/layout.h"

enum tails_how {
	TAILS_ANY_SUCC = 1,
	TAILS_NO_POINTER = 2 /* no copies of calls through pointers */
};

/*
 * Inserts copies into the hot fragment of *l, which has none, where the taken
 * jumps they save are worth their bytes: at least price for each. A run of them
 * follows the likeliest way from each block, or with TAILS_ANY_SUCC any. The relative order of
 * what is there does not change.
 */
void tails_copy(const struct cfg *g, double price, unsigned how, struct layout *l, struct arena *a);

/* Orders the hot fragment anew where copies in it make that save taken jumps;
 * each stays after its slot. With `rotate`, loops are turned as well
 * (editor/layout/rotate.h). *score is the layout's, before and after. */
void tails_order(const struct cfg *g, bool rotate, struct layout *l, struct layout_score *score,
    struct arena *a);

/* Makes other slots the primary slots of their blocks where that saves taken jumps;
 * *score likewise. */
void tails_primary(
    const struct cfg *g, struct layout *l, struct layout_score *score, struct arena *a);

/* May a block have copies? */
bool tails_may_copy(const struct cfg *g, uint32_t block);

#endif
