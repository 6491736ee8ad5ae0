/*
 * Raw counts of a counting build, or of several, summed into a profile
 * (common/profiletext/profiletext.h).
 */
#ifndef MORPH_TALLY_H
#define MORPH_TALLY_H

#include "editor-driver/plan/plan.h"
#include "editor-driver/profile/rawcounts.h"

struct tally_func;
struct tally {
	struct plan *plan; /* parsed, of PLAN_COUNT */
	struct htab tu;    /* short hash -> index + 1 */
	struct arena mem;
	struct tally_func **func; /* by function of the artifact; NULL: nothing counted */
	size_t files;
	uint64_t executions, blocks, edges, unknown; /* of tally_print: sum of block counts, blocks
							executed, edges taken, edges of unknown
							count */
	size_t off_functions;                        /* functions in which a sum was negative */
	uint64_t off;                                /* total executions by which they were */
};

void tally_begin(struct tally *t, struct plan *plan);
void tally_free(struct tally *t);
/* Adds one file. -1 and the error when it is not of this artifact. */
int tally_add(struct tally *t, const struct rawcounts *c, struct err *e);
/* Appends the lines of all blocks and edges that were executed. */
void tally_print(struct tally *t, struct buf *out);

#endif
