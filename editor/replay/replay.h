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

#include <stdint.h>

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

/* Where what leaves a function's blocks lies, in bytes from the start of the block. */
struct unit_sites {
	uint32_t *call; /* of each of its calls */
	uint32_t
	    *jump; /* of each block, the direct jump at its end, or its end where there is none */
	uint32_t *last; /* of each block, the last instruction before that */
};
#define UNIT_NO_SITE UINT32_MAX /* not known */

/* Sets out[] of every function, with memory from the arena; p, n and size as above. Of functions
 * that were measured otherwise, and of all where p is NULL, no site is known. */
int unit_find_sites(const struct unit *u, const void *p, size_t n, const uint32_t *const *size,
    struct unit_sites *out, struct arena *a, struct err *e);

#endif
