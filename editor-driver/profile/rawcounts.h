/*
 * What a counting build wrote (docs/FORMATS.md "Raw counts"): per function
 * where it was counted, and how often.
 */
#ifndef MORPH_RAWCOUNTS_H
#define MORPH_RAWCOUNTS_H

#include "common/elf/elf.h"
#include "editor/probe/probes.h"

struct raw_func {
	uint64_t tu;   /* hash_short of its text */
	uint32_t func; /* ordinal in the TU */
	struct probes probes;
	const uint64_t *value; /* of each counter */
};

struct rawcounts {
	struct arena mem; /* owns all arrays */
	struct build_id id, origin;
	uint64_t pid;
	VEC(struct raw_func) func;
};

/* name is for messages. Whether the probe sites fit the functions is not checked here. 0, or -1 and
 * the error. Free in both cases; the bytes are not needed then. */
int rawcounts_parse(
    const void *p, size_t n, const char *name, struct rawcounts *out, struct err *e);
void rawcounts_free(struct rawcounts *c);

#endif
