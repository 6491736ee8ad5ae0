/*
 * Text that clang wrote for another assembler, as its own reads it. Pure.
 *
 * .file directives of DWARF 5 may end in `md5 0x…`. Clang writes that of each file whose checksum
 * it knows, and uses none unless all have one; its assembler does the same, and warns.
 */
#ifndef MORPH_CLANGTEXT_H
#define MORPH_CLANGTEXT_H

#include "common/mem.h"

#include <stdbool.h>

/* Appends the text to out without checksums, if some of its files have one and some do not: true.
 * Else nothing. */
bool clangtext_make(const struct buf *text, struct buf *out);

#endif
