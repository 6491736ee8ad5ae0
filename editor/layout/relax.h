/*
 * Where the assembler puts the code of a layout. Jumps are short where they reach and long
 * elsewhere, padding depends on what is before it, and both on each other: solved as gas does,
 * beginning with short jumps and lengthening those that do not reach, until nothing changes
 * ("Relaxation", gas internals).
 *
 * Exact where bytes and jump of the blocks come from a block map and the entry is aligned at least
 * as much as anything inside. Pure.
 */
#ifndef MORPH_RELAX_H
#define MORPH_RELAX_H

#include "common/mem.h"
#include "editor/layout/layout.h"

struct relaxed {
	uint64_t *addr; /* of each slot; the entry is at l->entry_offset, the cold fragment far away
			 */
	uint64_t *jump; /* of each slot: last byte of its conditional jump; RELAX_NONE = none */
	uint64_t *end;  /* of each slot: after its last byte */
};

#define RELAX_NONE UINT64_MAX

/* The most bytes of padding for an alignment (log2) of a block, … */
uint32_t relax_most(uint32_t align);
/* … and how many there are at address `at`. */
uint32_t relax_padding(uint64_t at, uint32_t align);
/* The arrays have l->n and come from the arena. Rounds are bounded; after the last some jumps may
 * be taken for short. */
void relax_slots(const struct cfg *g, const struct layout *l, struct relaxed *out, struct arena *a);
/* The bytes of a jump of this kind that ends at address `from` and goes to `to`. */
uint32_t relax_jump(enum edge_kind kind, uint64_t from, uint64_t to);

#endif
