/*
 * What a layout is worth under the counts of a plan, summed over all functions
 * that have a weight.
 */
#ifndef MORPH_SCORE_H
#define MORPH_SCORE_H

#include "editor-driver/plan.h"

struct score {
	double exttsp, taken, total; /* editor/layout.h; in samples, or executions */
	uint64_t lines95; /* 64-byte lines that hold 95 % of the executed instructions */
};

/* As a build holds the functions. Needs plan_infer(). */
void score_build(const struct plan *p, const struct mapindex *build, struct score *s);
/* As the plan places them: hot parts by rank, cold parts behind them. Needs
 * plan_order(). */
void score_plan(const struct plan *p, struct score *s);

#endif
