/*
 * The sections of a batch that carry the ends of watched builds' processes, and their CPU time and
 * cycles (common/wire/wire.h). Byte layout: docs/FORMATS.md "Runs", "Uses" and "Cycles".
 */
#ifndef MORPH_WIRE_RUNS_H
#define MORPH_WIRE_RUNS_H

#include "common/wire/wire.h"

/* Each appends type, length and bytes. */
void wire_put_runs(struct buf *out, const struct wire_batch *m);
void wire_put_uses(struct buf *out, const struct wire_batch *m);
/* Nothing where none of the uses was counted. */
void wire_put_counted(struct buf *out, const struct wire_batch *m);
/* Each reads the section's bytes into m; -1 when they are not of its form. */
int wire_get_runs(const uint8_t *p, const uint8_t *end, struct arena *a, struct wire_batch *m);
int wire_get_uses(const uint8_t *p, const uint8_t *end, struct arena *a, struct wire_batch *m);
/* Into the uses, which come before. */
int wire_get_counted(const uint8_t *p, const uint8_t *end, struct wire_batch *m);

#endif
