/*
 * A profile of an old build carried over to a new one, by the shapes of both
 * (editor/shape/shape.h).
 *
 * A function of equal key keeps all. One that was changed or renamed keeps its samples: those of
 * blocks that correspond go along, by instructions where their number is another one, and those of
 * blocks that do not are spread over the others in proportion, so that functions keep their shares
 * of the program. Branch outcomes, predecessor counts and calls go along where both of their ends
 * do and the new build has such an edge. What a function that is gone had is lost.
 */
#ifndef MORPH_CARRY_H
#define MORPH_CARRY_H

#include "editor-driver/profile/counts.h"
#include "editor/shape/shape.h"

struct carried { /* functions that had samples, and these, in fixed point, SAMPLE_ONE */
	size_t functions;
	uint64_t samples;
};

/* c: samples of the functions of old, by carry_funcs(). Appends the profile of the new build as
 * text to out; by[]: what became of whose samples, by enum shape_how. */
void carry(const struct shapes *old, const struct shapes *now, const struct counts *c,
    struct carried by[SHAPE_RENAMED + 1], struct buf *out);
/* The functions as counts_read() wants them, from the arena. */
const struct art_func *carry_funcs(const struct shapes *s, struct arena *a);

#endif
