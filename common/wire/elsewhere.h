/*
 * The section of a batch that says where the time went that no module has
 * (common/wire/wire.h). Byte layout: docs/FORMATS.md "Elsewhere".
 */
#ifndef MORPH_WIRE_ELSEWHERE_H
#define MORPH_WIRE_ELSEWHERE_H

#include "common/wire/wire.h"

/* Appends type, length and bytes. */
void wire_put_elsewhere(struct buf *out, const struct wire_batch *m);
/* Reads the section's bytes into m, whose sums are there; -1 when they are not of its form, or name
 * more samples than those sums. */
int wire_get_elsewhere(const uint8_t *p, const uint8_t *end, struct arena *a, struct wire_batch *m);

#endif
