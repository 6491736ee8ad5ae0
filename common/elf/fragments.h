/*
 * What blockmap.c and blockmap_elf.c share: building a map, fragments in ascending
 * order, blocks one after the other.
 */
#ifndef MORPH_BLOCKMAP_PARTS_H
#define MORPH_BLOCKMAP_PARTS_H

#include "common/elf/blockmap.h"

enum { BLOCKMAP_SEGMENTS = 64 }; /* at most */

/* The end of the last fragment. */
uint64_t blockmap_end(const struct blockmap *m);
/* Adds a block to the last fragment, gap bytes after what is there. */
int blockmap_add(struct blockmap *m, uint64_t gap, uint64_t size, uint64_t id, struct err *e);

#endif
