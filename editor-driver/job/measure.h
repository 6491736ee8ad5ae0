/*
 * The lengths of the instructions of a plan's edited units, by the assembler
 * (editor/replay/replay.h): one object per unit, from the cache where it was made before.
 */
#ifndef MORPH_MEASURE_H
#define MORPH_MEASURE_H

#include "editor-driver/link/cache.h"
#include "editor-driver/plan/plan.h"

struct measured {
	struct buf *tu; /* by TU: the bytes of its MEASURE_SECTION */
	bool *refused;  /* by TU: the assembler does not take it, which was said */
	size_t n;
};

/* The plan was parsed; dir: a folder to work in. Free the result in both cases. */
int measure(
    struct plan *p, const char *dir, struct cache *cache, struct measured *m, struct err *e);
void measured_free(struct measured *m);

/* Sizes of a function's blocks in the original build, t's; NULL where it is not in there as a
 * whole. */
uint32_t *measured_sizes(const struct plan *p, struct plan_tu *t, const struct unit_func *f);

#endif
