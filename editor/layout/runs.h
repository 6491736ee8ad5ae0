/*
 * The fallthrough runs of the hot slots: nothing falls through into a run, so padding before it
 * costs only its bytes.
 */
#ifndef MORPH_RUNS_H
#define MORPH_RUNS_H

#include "common/mem.h"
#include "editor/layout/layout.h"
#include "editor/layout/relax.h"

struct run {
	uint32_t first, end; /* slots first … end − 1 */
	uint64_t bytes;
	uint8_t align; /* log2, of its first slot; 0 for the run at the entry */
	bool fixed;    /* keep this alignment */
};

struct runs {
	VEC(struct run) v;
	struct relaxed at;
};

/* Reads l as the assembler lays it out. Slots with fixed[] not 0 also begin a run, whatever falls
 * through into them; NULL = none. Free with vec_free(&out->v). */
void runs_read(const struct cfg *g, const struct layout *l, const uint8_t *fixed, struct runs *out,
    struct arena *a);
/* l with the present alignments of the runs; the lengths of its jumps are not updated. */
struct layout runs_padded(const struct runs *r, const struct layout *l, struct arena *a);

#endif
