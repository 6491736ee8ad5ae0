/*
 * How the passes of a plan iterate over it, and what of them plan.h does not show.
 */
#ifndef MORPH_PLAN_PASSES_H
#define MORPH_PLAN_PASSES_H

#include "editor-driver/plan/plan.h"

/* fn for each function with a weight, function i of t, on the plan's threads.
 * What is in scratch dies with the batch. */
void plan_each_weighed(struct plan *p,
    void (*fn)(struct plan *p, struct plan_tu *t, uint32_t i, struct arena *scratch));

/* host.c: the CPU of this machine, for which programs are laid out: what some passes gain and cost
 * differs between CPUs (docs/DESIGN.md, "Layout"). Of an unknown one: nothing. Never NULL, static.
 */
const struct layout_cpu *host_cpu(void);

/* first.c: the layout of functions without a weight that the plan puts first. */
void first_lay_out(struct plan *p);

/* The order of the functions that move, after those that the plan puts first: sets the rank of
 * every placement with edit. By the calls between functions with a weight
 * (editor/layout/funcorder.h), as they are in the original's texts, or by the plan's seed. */
void order_calls(struct plan *p);
void order_original(struct plan *p);
void order_random(struct plan *p);

#endif
