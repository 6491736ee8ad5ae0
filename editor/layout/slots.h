/*
 * The edges, fallthroughs and addresses of a layout's slots, for the passes over them.
 */
#ifndef MORPH_LAYOUT_SLOTS_H
#define MORPH_LAYOUT_SLOTS_H

#include "editor/layout/layout.h"

/* Whether slot k can fall through to the next one; *count = how often. */
bool layout_falls(const struct cfg *g, const struct layout *l, uint32_t k, uint64_t *count);
/* Bytes from the hot fragment to the cold one: no jump between them is short, or near. */
enum { LAYOUT_FAR = 1 << 20 };
/* Bytes of a hop: its jump is short. */
enum { LAYOUT_HOP_BYTES = 2 };

#endif
