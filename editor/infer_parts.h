/*
 * Parts of flow inference; only editor/infer*.c include this.
 */
#ifndef MORPH_INFER_PARTS_H
#define MORPH_INFER_PARTS_H

#include "common/mem.h"
#include "editor/cfg.h"

#include <stdbool.h>

/* Edges by source, or by destination, each list in the order of g->edge. */
struct adjacency {
	uint32_t *first; /* edge[first[b]] … edge[first[b + 1]] are block b's */
	uint32_t *edge;
};
void adjacency_build(struct adjacency *adj, const struct cfg *g, bool in, struct arena *a);

/* What can be reached. Entries: block 0, BLK_ADDRESSED. Exits: BLK_EXIT,
 * BLK_NORETURN, blocks without edges. */
struct reach {
	uint8_t *from_entry, *to_exit; /* per block, 0 or 1 */
	struct adjacency out, in;
};
void reach_find(struct reach *r, const struct cfg *g, struct arena *a);
/* Where flow may enter or leave: at entries and exits, and at every block that
 * lies behind none of them. */
bool reach_is_entry(const struct reach *r, const struct cfg *g, uint32_t b);
bool reach_is_exit(const struct reach *r, const struct cfg *g, uint32_t b);

/*
 * Lifts blocks of count 0 to the smallest flow that counts them as executed,
 * where the compiler did not call them cold: not seen is not unused, and the
 * hot fragment is where they belong. One unit per block, from the entry to the
 * block to an exit, by ways that are not cold. Keeps Kirchhoff's law.
 */
void infer_seep(struct cfg *g, const struct reach *r, struct arena *a);

#endif
