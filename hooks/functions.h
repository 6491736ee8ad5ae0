/*
 * The functions of a translation unit as the as hook understood them, for the ld hook: reading the
 * text once is enough. Bytes: docs/FORMATS.md ".morph.if".
 */
#ifndef MORPH_FUNCTIONS_H
#define MORPH_FUNCTIONS_H

#include "common/artifact/artifact.h"
#include "editor/unit.h"

#include <stdint.h>

struct functions {
	const char *name;      /* of .file, or "" */
	struct art_func *func; /* in order; tu is 0 */
	uint32_t n;
};

void functions_put(struct buf *out, const struct unit *u);
/* Copies all into the arena. Fails when these are not n bytes of such a table. */
int functions_read(struct functions *f, struct arena *a, const uint8_t *p, size_t n, struct err *e);

#endif
