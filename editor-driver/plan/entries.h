/*
 * Balances functions against each other. Counts inferred from samples are each function's own: if
 * its instructions are slow, all its counts are too high relative to other functions. But a
 * function is entered as often as it is called.
 */
#ifndef MORPH_ENTRIES_H
#define MORPH_ENTRIES_H

#include "editor-driver/plan/plan.h"

/*
 * Multiplies the counts of each function with a weight by an integer, so that entries agree better
 * with the counts of the calling blocks, and of calls through pointers with their sampled targets
 * (editor/infer/balance.h); a function without such evidence by ENTRIES_ONE. Needs counts inferred
 * from samples. Kirchhoff's law still holds.
 */
enum { ENTRIES_ONE = 32 };
void entries_agree(struct plan *p);

#endif
