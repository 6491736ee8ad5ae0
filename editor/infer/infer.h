/*
 * Flow inference: block samples (noisy, biased, incomplete) and witnesses of
 * branches, to consistent block and edge counts (docs/DESIGN.md "Inference";
 * infer_joint.h). What that cannot answer, and counts that contradict each
 * other, by min-cost flow: Levin, Newman, Haber 2008; He et al., "Profile
 * inference revisited" (POPL 2022).
 *
 * Needs: cfg_block.samples (or .count), insns, flags; cfg_edge.witness. Sets: every
 * cfg_block.count and cfg_edge.count. Kirchhoff's law holds exactly in the
 * result: a block's count = the sum of its in-edges = the sum of its
 * out-edges, except that flow enters at block 0 and at blocks that no edge
 * leads to, and leaves at BLK_EXIT and BLK_NORETURN blocks, at blocks without
 * out-edges, and at one block of each endless loop (infer_parts.h, struct
 * reach). Deterministic. Terminates for any input (hostile values are
 * clamped); a function with no samples at all gets zeros.
 */
#ifndef MORPH_INFER_H
#define MORPH_INFER_H

#include "common/mem.h"
#include "editor/cfg.h"

enum infer_input {
	INFER_SAMPLES, /* .samples are PC samples; count = samples / insns. Blocks
			  that were not sampled get a small count, unless the
			  compiler called them cold or no such way leads there */
	INFER_COUNTS   /* .count are executions, and .witness of edges where known
			  (of a block with any, all are): consistent ones stay as
			  they are, others change as little as possible */
};

enum { COUNT_ONE = 4096 }; /* with INFER_SAMPLES: one sample in a block of one
			      instruction gives the count COUNT_ONE */

/*
 * Samples taken in a callee tell how often each of its call sites was executed,
 * as long as a call takes the same time from everywhere; nothing that happens in
 * the calling block itself biases that. Before infer() with INFER_SAMPLES: joins
 * what is known of sites with the samples of their blocks. site[]: ascending by
 * callee (any number that names it), samples in fixed point and not 0; of a callee
 * with one known site nothing follows.
 */
struct infer_site {
	uint32_t callee, block;
	uint64_t samples;
};
void infer_sites(struct cfg *g, const struct infer_site *site, size_t n, struct arena *scratch);

/*
 * Conditional jumps that look alike go alike (cfg_block.look): many are copies of one
 * source, and what some of them do is the best guess for those that nobody saw. Before
 * infer() with INFER_SAMPLES, of all functions of a program: sets cfg_edge.alike by the
 * witnesses of the others of the same look, the more the less these differ. The first
 * `speak` are heard; the others are copies of some of these.
 * (Calder et al., "Evidence-based static branch prediction", TOPLAS 1997, learn from other
 * programs; here the program's own samples tell.)
 */
void infer_similarity(struct cfg *const g[], size_t n, size_t speak);

void infer(struct cfg *g, enum infer_input input, struct arena *scratch);

#endif
