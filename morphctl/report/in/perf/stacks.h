/*
 * Copied stacks (--call-graph dwarf: PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER) to chains of
 * addresses, by a child: it reads the file's samples and the files that were mapped, which may be
 * anybody's. Who asks opens these beforehand, as whoever it is, and reads none of them.
 *
 * A file that is gone, or has another build-id by now, has no say: where code of it is on a stack,
 * the chain goes on by frame pointers, or ends.
 */
#ifndef MORPH_REPORT_PERF_STACKS_H
#define MORPH_REPORT_PERF_STACKS_H

#include "morphctl/report/in/perf/file.h"
#include "morphctl/report/in/perf/perf.h"
#include "morphctl/report/in/perf/tasks.h"

struct stacks_frame {
	uint32_t caller; /* the number of a frame before it, from 1 on; 0 = none */
	uint64_t addr;   /* of the instruction; of a caller, some byte of its call */
};

struct stacks {
	VEC(struct stacks_frame) frame;
	VEC(uint32_t)
	chain; /* of each sample with a copied stack, in the order of the file: the
		  number of its innermost frame; 0: none is known */
	size_t taken;
};

/* After all changes of t were applied. Warns where the child fails: then there are no chains. */
void stacks_read(struct stacks *s, struct perf *f, struct tasks *t, perf_child_fn *child);
/* The frame at which the next sample's stack begins, NULL: there is none. Called for each sample
 * that stacks_copied() is true of, in the order of the file. */
const struct stacks_frame *stacks_next(struct stacks *s);
/* The frame that called f, or NULL. */
const struct stacks_frame *stacks_caller(const struct stacks *s, const struct stacks_frame *f);
bool stacks_copied(const struct perf_sample *s);
void stacks_free(struct stacks *s);

#endif
