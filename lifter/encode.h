/*
 * Lifted text as the assembler gets it: instructions with a comment "#=" as the bytes that it says
 * (docs/notes/legacy.md, "The text"). Pure.
 */
#ifndef MORPH_ENCODE_H
#define MORPH_ENCODE_H

#include "common/err.h"
#include "common/mem.h"

/* Appends n bytes of text that the editor printed. -1: a comment that is not of this form, or an
 * instruction whose distance has no target; the line in e. */
int encode(const char *text, size_t n, struct buf *out, struct err *e);

#endif
