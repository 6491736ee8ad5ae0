/*
 * The section of a batch that carries user registers (common/wire/wire.h). Byte
 * layout: docs/FORMATS.md "Registers".
 */
#ifndef MORPH_WIRE_REGS_H
#define MORPH_WIRE_REGS_H

#include "common/wire/wire.h"

/* Appends type, length and bytes. */
void wire_put_regs(struct buf *out, const struct wire_batch *m);
/* Reads the section's bytes into m, whose modules are there; -1 when they are
 * not of its form. */
int wire_get_regs(const uint8_t *p, const uint8_t *end, struct arena *a, struct wire_batch *m);

#endif
