/*
 * The editor's half of the register replay: functions compiled to
 * micro-operations (common/uops.h). The assembler says how long instructions
 * are: it gets the unit's text with labels between them and, in a section of
 * its own, the distances of these labels. Pure.
 */
#ifndef MORPH_EDITOR_REPLAY_H
#define MORPH_EDITOR_REPLAY_H

#include "common/uops.h"
#include "editor/unit.h"

#define MEASURE_SECTION ".morph.measure"

/* Prints the text to assemble: code only. */
void unit_measure(const struct unit *u, struct buf *out);

/*
 * Appends functions to *out (not sorted). p, n: the bytes of MEASURE_SECTION.
 * size[ord][block]: bytes of each block in the original build; functions with
 * size[ord] == NULL and opaque ones are left out, and so are those whose
 * blocks were measured otherwise: *differing counts these. Fails when p is not
 * what unit_measure makes.
 */
int unit_uops(const struct unit *u, const void *p, size_t n, const uint32_t *const *size,
    struct uops *out, uint32_t *differing, struct err *e);

#endif
