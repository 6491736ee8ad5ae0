/*
 * Functions against each other. Counts that were inferred from samples are
 * each function's own: how long its instructions take is in all of them alike,
 * so that of two functions one seems to be executed too often. But a function
 * is entered as often as it is called.
 */
#ifndef MORPH_ENTRIES_H
#define MORPH_ENTRIES_H

#include "editor-driver/plan/plan.h"

/*
 * Multiplies the counts of each function with a weight by a whole number, so
 * that entries agree better with the counts of the blocks that call, and of
 * calls through pointers with where they were seen to lead (editor/infer/balance.h);
 * a function of which nothing is known by ENTRIES_ONE. Needs inferred counts,
 * from samples. Kirchhoff's law still holds.
 */
enum { ENTRIES_ONE = 32 };
void entries_agree(struct plan *p);

#endif
