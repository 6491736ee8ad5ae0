/*
 * Flow inference: block samples (noisy, biased, incomplete) and outcomes of branches, to
 * consistent block and edge counts (docs/DESIGN.md "Inference"; joint.h). After Levin, Newman, Haber
 * 2008; He et al., "Profile inference revisited" (POPL 2022).
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
	INFER_COUNTS   /* .count are executions, and .outcomes of edges where known (if one edge of a
			  block is known, all are): consistent counts are kept, and divided
			  evenly where they leave flows undetermined; others are
			  evidence like samples without bias */
};

enum { COUNT_ONE = 4096 }; /* with INFER_SAMPLES: one sample in a block of one
			      instruction gives the count COUNT_ONE */

/*
 * A callee's samples, attributed to its call sites, measure how often each site was executed, as
 * long as a call takes the same time from everywhere; they are free of the skew of the calling
 * block. Before infer() with INFER_SAMPLES: combines the sites' evidence with the samples of their
 * blocks. site[]: ascending by callee (any number that identifies it), samples in fixed point and
 * not 0; a callee with one known site is ignored.
 */
struct infer_site {
	uint32_t callee, block;
	uint64_t samples;
};
void infer_sites(struct cfg *g, const struct infer_site *site, size_t n, struct arena *scratch);

/*
 * Conditional jumps of one signature (cfg_block.signature) are expected to behave alike: many are
 * copies of one source, so the outcomes of some are the best guess for those without samples.
 * Before infer() with INFER_SAMPLES, for all functions of a program: sets cfg_edge.similar from the
 * outcomes of the others of the same signature, weighted by how well these agree. Only the first
 * `speak` functions are evidence; the others are duplicates of some of these. (Calder et al.,
 * "Evidence-based static branch prediction", TOPLAS 1997, learn from other programs; here the
 * program's own samples are the evidence.)
 */
void infer_similarity(struct cfg *const g[], size_t n, size_t speak);

void infer(struct cfg *g, enum infer_input input, struct arena *scratch);

#endif
