/*
 * The scores of layouts under the counts of a plan, summed over all functions that have a weight in
 * it. Of those that share their counts, as C++ has them in every unit that uses them and the linker
 * keeps the first, only this one is counted.
 */
#ifndef MORPH_SCORE_H
#define MORPH_SCORE_H

#include "editor-driver/plan/built.h"
#include "editor-driver/plan/plan.h"
#include "editor/cost/frontend.h"

struct score {
	double exttsp, taken, total; /* editor/layout/layout.h; in samples, or executions */
	uint64_t lines95;            /* 64-byte lines that hold 95 % of the executed instructions */
	struct fe_cost cost;
};

/* As in a build, whose file tells copies from originals: only that of the program's own map may be
 * absent. Needs plan_infer(). */
void score_build(const struct plan *p, const struct built_code *build, struct score *out);
/* As a plan of the same artifact, such as p itself, lays it out: hot parts by rank, cold parts
 * after them. What does not move is where the present build, or NULL, has it, and the hot parts
 * begin where those of a laid-out one do: a few functions lie on more lines or fewer by that alone.
 * Needs plan_order() of that one. */
void score_plan(const struct plan *p, const struct plan *laid_out, const struct built_code *present,
    struct score *out);

#endif
