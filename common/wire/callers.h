/*
 * The section of a batch that says who called (common/wire/wire.h). Byte layout: docs/FORMATS.md
 * "Callers".
 */
#ifndef MORPH_WIRE_CALLERS_H
#define MORPH_WIRE_CALLERS_H

#include "common/wire/wire.h"

/* Appends type, length and bytes. */
void wire_put_callers(struct buf *out, const struct wire_batch *m);
/* Reads the section's bytes into m, whose modules and places elsewhere are there; -1 when they are
 * not of its form, or have more samples somewhere than m has. */
int wire_get_callers(const uint8_t *p, const uint8_t *end, struct arena *a, struct wire_batch *m);

#endif
