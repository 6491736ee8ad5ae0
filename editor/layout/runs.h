/*
 * The hot slots of a layout in runs that move together: nothing falls into a run, so
 * padding before it costs its bytes alone.
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
	bool fixed;    /* this is to stay */
};

struct runs {
	VEC(struct run) v;
	struct relaxed at;
};

/* Reads l, as the assembler prints it. Slots for which fixed[] is not 0 begin a run as
 * well, whatever falls into them; NULL = none is. Free with vec_free(&out->v). */
void runs_read(const struct cfg *g, const struct layout *l, const uint8_t *fixed, struct runs *out,
    struct arena *a);
/* l with the alignments that the runs have now; how long jumps are then is not known yet. */
struct layout runs_padded(const struct runs *r, const struct layout *l, struct arena *a);

#endif
