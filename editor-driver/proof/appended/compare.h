/*
 * A build that was made by adding code to a file, beside that file: machine code against machine
 * code. docs/notes/legacy.md, "What is proven".
 */
#ifndef MORPH_APPENDED_COMPARE_H
#define MORPH_APPENDED_COMPARE_H

#include "common/elf/blockmap.h"

/*
 * made, original: paths. made_map, orig_map: their block maps, the first as
 * blockmap_put_original() makes it. edited[n]: hash_short of the units whose functions have new
 * bodies, ascending. -1 and the first difference; *where is the address in the new build that it is
 * about, or 0.
 */
int appended_compare(const char *made, const char *original, const struct blockmap *made_map,
    const struct blockmap *orig_map, const uint64_t *edited, size_t n, uint64_t *where,
    struct err *e);

#endif
