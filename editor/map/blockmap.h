/*
 * The labels that are printed at a unit's blocks, and the sections that map them (docs/FORMATS.md,
 * block map). For the printer, the output check and counters.
 */
#ifndef MORPH_EDITOR_BLOCKMAP_H
#define MORPH_EDITOR_BLOCKMAP_H

#include "editor/asm/text.h"

/* One fragment as it was printed. */
struct map_fragment {
	uint32_t func, fragment;
	uint32_t first, n;   /* its blocks in map_order[] */
	const char *section; /* name of the text section */
	const char *group;
};
struct map_block {
	uint32_t id, copy; /* copy 0: the primary copy */
	bool ended;        /* has an end label: padding or the fragment's end follows */
};
struct map_order {
	VEC(struct map_fragment) frag;
	VEC(struct map_block) block;
};
/* The labels the editor prints: .LMB%u.%u (function, block) at a block's first byte, and .LME%u.%u
 * after its last where the next block does not begin there; of a copy .%u more. */
void block_label(struct buf *out, uint32_t func, const struct map_block *k);
void block_end(struct buf *out, uint32_t func, const struct map_block *k);
void mapsec_emit(
    const struct unit_impl *u, uint64_t tu, const struct map_order *m, struct buf *out);

/* Is it one that mapsec_emit() adds? */
bool own_section(struct str name);

#endif
