/*
 * Samples by offset in a batch (common/wire/wire.h), in the form that all of its lists of them
 * have. Byte layout: docs/FORMATS.md "Wire frames".
 */
#ifndef MORPH_WIRE_SAMPLES_H
#define MORPH_WIRE_SAMPLES_H

#include "common/wire/wire.h"

/* All counts together. */
uint64_t wire_sum_samples(const struct wire_sample *s, uint32_t n);
/* How many, and each. */
void wire_put_samples(struct buf *out, const struct wire_sample *s, uint32_t n);
/* Reads them at *p below end, and moves *p past them. -1: not of this form, or a count of more than
 * max. */
int wire_get_samples(const uint8_t **p, const uint8_t *end, uint64_t max, struct arena *a,
    struct wire_sample **sample, uint32_t *n);

#endif
