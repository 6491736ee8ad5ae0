/*
 * Flow inference: block samples (noisy, biased, incomplete) and outcomes of branches, to
 * consistent block and edge counts (docs/DESIGN.md "Inference"; model.h). After Levin, Newman,
 * Haber 2008; He et al., "Profile inference revisited" (POPL 2022).
 *
 * Needs: cfg_block.samples (or .count), insns, flags; cfg_edge.outcomes. Sets every cfg_block.count
 * and cfg_edge.count. Kirchhoff's law holds exactly in the result: a block's count is the sum of
 * its incoming and of its outgoing edges, except that flow enters at block 0 and at unreachable
 * blocks, and leaves at BLK_EXIT and BLK_NORETURN blocks, at blocks without successors, and at one
 * block of each infinite loop (flow.h, struct reach). Deterministic. Terminates for any input
 * (hostile values are clamped); a function without samples gets zeros.
 */
#ifndef MORPH_INFER_H
#define MORPH_INFER_H

#include "common/mem.h"
#include "editor/cfg.h"

enum infer_input {
	INFER_SAMPLES, /* .samples are PC samples; count = samples / insns. Unsampled blocks get the
			  minimum flow, unless they are cold or only reachable through cold blocks
			  */
	INFER_COUNTS /* .count are executions, and .outcomes of edges where known (if one edge of a
			block is known, all are): consistent counts are kept, and divided
			evenly where they leave flows undetermined; others are
			evidence like samples without bias */
};

/* Samples that a block without any counts as: about the blocks sampled once by those not sampled,
 * of functions that were (Good, "The population frequencies of species", Biometrika 1953): .02 to
 * .08.
 */
#define INFER_UNSEEN 0.02

enum {
	COUNT_ONE = 65536
}; /* with INFER_SAMPLES: one sample in a block of one
      instruction gives the count COUNT_ONE */

void infer(struct cfg *g, enum infer_input input, struct arena *scratch);

#endif
