/*
 * A new build of a module whose artifact was lifted (docs/notes/legacy.md): the original with the
 * planned functions' new bodies in a segment of their own, and jumps to them at their old entries.
 *
 *	units		those that are edited, printed, as bytes (lifter/encode.h), assembled
 *	link		by GNU ld to the addresses of the new segment
 *	splice		the original's bytes, the segment, headers, tables that index both
 */
#ifndef MORPH_APPEND_H
#define MORPH_APPEND_H

#include "editor-driver/link/cache.h"
#include "editor-driver/plan/plan.h"

struct append_figures {
	size_t assembled; /* units */
	uint64_t added;   /* bytes of the new segment */
};

/*
 * Makes the build at path `out` (absent, made) in the job's folder `dir`, an absolute path.
 * original: path of the module, whose build-id must be the artifact's, and which must be the file
 * as it was lifted. Where no function moves the build is the original, byte by byte.
 */
int append_make(struct plan *p, const char *original, const char *dir, struct cache *cache,
    const char *out, struct append_figures *figures, struct err *e);

/* Leaves out of such a build's map the old bodies of functions that have new ones: what is there to
 * be scored. original: the original's map. */
void append_forget_old(const struct blockmap *original, struct blockmap *made);

#endif
