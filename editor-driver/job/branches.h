/*
 * Inferred counts by the places of a build, as branch records would tell them: for create_gcov and
 * create_llvm_prof of AutoFDO (docs/FORMATS.md, "Branches").
 *
 * Of each function with counts that the build has: ranges of straight-line code, executed alike
 * from their first instruction to their last; jumps that are taken; calls of functions with counts,
 * those through pointers as far as the profile names callees. Counts are executions, or in a
 * profile of samples 1/COUNT_ONE of the executions that would give one sample in a block of one
 * instruction. A function that moves as a whole is one range.
 */
#ifndef MORPH_BRANCHES_H
#define MORPH_BRANCHES_H

#include "editor-driver/job/measure.h"
#include "editor-driver/plan/built.h"

struct branches_result {
	size_t functions, ranges, jumps, calls; /* that are in it */
	size_t absent;   /* functions with counts that the build does not have */
	size_t unplaced; /* functions whose instructions could not be measured: their calls are put
			    at the start of the block, indirect jumps at its end */
};

/* Appends the text. The plan was inferred; code: of a build of its artifact; measured: of the plan.
 */
int branches_make(struct plan *p, const struct built_code *code, const struct measured *measured,
    struct buf *out, struct branches_result *r, struct err *e);

#endif
