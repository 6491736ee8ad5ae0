/*
 * The order of the functions that move: sets the rank of every placement with edit.
 */
#ifndef MORPH_ORDER_H
#define MORPH_ORDER_H

#include "editor-driver/plan/plan.h"

/* By the call graph (editor/layout/funcorder.h). */
void order_calls(struct plan *p);
/* As they are in the original's texts. */
void order_original(struct plan *p);
/* By the plan's seed. */
void order_random(struct plan *p);

#endif
