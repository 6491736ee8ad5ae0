/*
 * The scores of layouts under the counts of a plan, summed over all functions that have a weight in
 * it.
 */
#ifndef MORPH_SCORE_H
#define MORPH_SCORE_H

#include "editor-driver/plan/plan.h"
#include "editor/cost/frontend.h"

struct score {
	double exttsp, taken, total; /* editor/layout/layout.h; in samples, or executions */
	uint64_t lines95;            /* 64-byte lines that hold 95 % of the executed instructions */
	struct fe_cost cost;
};

struct scorer {
	const struct plan *p;
	struct fe_program program;
	uint32_t *first; /* by function of the plan: its entry in the program, or FE_NONE */
};

/* Needs plan_infer() of p, which must outlive the scorer. */
void scorer_open(struct scorer *s, const struct plan *p);
void scorer_close(struct scorer *s);

/* As in a build. */
void score_build(const struct scorer *s, const struct mapindex *build, struct score *out);
/* As in a plan of the same artifact: hot parts by rank, cold parts after them, then what does not
 * move. Needs plan_order() of layout. */
void score_plan(const struct scorer *s, const struct plan *layout, struct score *out);

#endif
