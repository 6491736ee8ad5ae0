/*
 * The instructions of a function with what was sampled at each, below the source lines that they
 * come from. Pure.
 *
 * Stalls: all instructions of a basic block are executed equally often, so that samples beyond what
 * others of the block have are time that an instruction waited: for data, for one before it, or as
 * the target of skid (Anderson et al., SOSP'97, section 6: dcpicalc). An instruction's stall is its
 * samples by the block's mean, which is what executions are estimated by.
 */
#ifndef MORPH_REPORT_ANNOTATE_H
#define MORPH_REPORT_ANNOTATE_H

#include "morphctl/report/recording/recording.h"
#include "morphctl/report/symbols/symbols.h"

struct annotate_line {
	const struct symbols_insn *insn;
	uint64_t n;   /* samples at it */
	double stall; /* times the mean of its block; NAN = too few samples to say */
	bool leader;  /* a basic block begins here */
};

/* Blocks with fewer samples than this for each instruction say nothing of stalls. */
enum { ANNOTATE_LEAST = 4 };

/*
 * n instructions, ascending, of one file; line has room for n. A block begins at the first one, at
 * targets of direct jumps and after jumps.
 */
void annotate_make(struct annotate_line *line, const struct symbols_insn *insn, size_t n,
    const struct recording *r, uint32_t event, uint32_t file);

#endif
