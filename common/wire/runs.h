/*
 * The section of a batch that carries the ends of watched builds' processes
 * (common/wire/wire.h). Byte layout: docs/FORMATS.md "Runs".
 */
#ifndef MORPH_WIRE_RUNS_H
#define MORPH_WIRE_RUNS_H

#include "common/wire/wire.h"

/* Appends type, length and bytes. */
void wire_put_runs(struct buf *out, const struct wire_batch *m);
/* Reads the section's bytes into m; -1 when they are not of its form. */
int wire_get_runs(const uint8_t *p, const uint8_t *end, struct arena *a, struct wire_batch *m);

#endif
