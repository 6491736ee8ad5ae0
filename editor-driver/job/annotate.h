/*
 * One function as it lies in a build: its blocks by address, with samples, inferred counts and
 * instructions.
 *
 * Executions are those that layout uses (editor/infer/infer.h). A sampled profile knows no absolute
 * numbers: its unit is the executions that would give one sample in a block of one instruction, so
 * that over the program samples are about executions times instructions. Where time was lost shows
 * in samples against executions, as in DCPI's dcpicalc (Anderson et al., SOSP'97): a sample
 * represents a constant time (the period), a block's executions follow from the flow through the
 * whole function, and so samples × period / executions is the time of one execution.
 *
 *	cost	that time, in units of the block of the function whose executions take least: the
 *		period and the unit of executions cancel out. 7: one execution takes seven times as
 *		long as one of the cheapest block.
 *	stall	samples per executed instruction, in units of the program's mean. 1: its
 *instructions take as long as the program's on the average; 5: five times as long, by cache misses,
 *		mispredictions, long latencies; .3: they run together with others.
 *
 * Both are estimates. Samples fall on the instruction that waits or on one after it, perhaps in the
 * next block; and inference starts from samples, so that it sees a stall only where flow from other
 * blocks, or branch outcomes, contradict them: in a function that is one loop of one block there is
 * nothing to tell. Of blocks with few samples they are left out.
 */
#ifndef MORPH_ANNOTATE_H
#define MORPH_ANNOTATE_H

#include "editor-driver/plan/built.h"
#include "editor-driver/plan/plan.h"
#include "editor/listing/listing.h"

enum { ANNOTATE_SAMPLES = 20 }; /* a block must have more, for cost and stall */

struct annotated_edge {
	uint32_t block, kind; /* where it leads, enum edge_kind */
	double share;         /* of the block's executions, by inference */
	double resolved;      /* branch outcomes that were seen to go there; < 0: none at all of
				 this block */
};

struct annotated_block { /* a slot of the build: a copy is one of its own */
	uint32_t id, bytes;
	bool present, in_original; /* in the build: addr is set; original is set */
	uint64_t addr, original;
	bool cold, copy, entry, pad, loop_head;
	double samples, executions; /* of the block, all copies together */
	double here;                /* executions of this slot */
	double cost, stall;         /* < 0: not known */
	const struct annotated_edge *edge;
	uint32_t nedge;
};

struct annotation {
	const struct art_func *func;
	const char *unit;
	struct build_id build;
	bool sampled;          /* else samples, cost and stall mean nothing */
	double samples, share; /* of the function; of the program's samples, or instructions */
	struct annotated_block *block; /* by address; those that the build lacks last */
	uint32_t nblock;
	struct listing listing;
	struct arena mem;
};

/* The plan was inferred; name: as in profiles. Free the result in both cases. */
int annotate(struct plan *p, const struct built_code *code, const char *name,
    struct annotation *out, struct err *e);
void annotation_free(struct annotation *a);

#endif
