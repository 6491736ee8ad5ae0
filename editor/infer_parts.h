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

/*
 * Where flow enters and leaves, so that every block lies on a way from an
 * entry to an exit. Entries: block 0; BLK_ADDRESSED blocks that no edge leads
 * to from there; then of the blocks still out of reach those without in-edges,
 * then the lowest of each cycle. Exits: BLK_EXIT, BLK_NORETURN, blocks without
 * out-edges; then the highest block of each endless loop.
 */
struct reach {
	uint8_t *entry, *exit; /* per block, 0 or 1 */
	struct adjacency out, in;
};
void reach_find(struct reach *r, const struct cfg *g, struct arena *a);

/*
 * Lifts blocks of count 0 to the smallest flow that counts them as executed,
 * where the compiler did not call them cold: not seen is not unused, and the
 * hot fragment is where they belong. One unit per block, from the entry to the
 * block to an exit, by ways that are not cold. Keeps Kirchhoff's law.
 */
void infer_seep(struct cfg *g, const struct reach *r, struct arena *a);

#endif
