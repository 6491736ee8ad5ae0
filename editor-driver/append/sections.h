/*
 * What follows the new segment in the file: what is not loaded, and the section headers.
 */
#ifndef MORPH_APPEND_SECTIONS_H
#define MORPH_APPEND_SECTIONS_H

#include "editor-driver/append/splice.h"

/* Appends it to out, which has all before it, and sets eh's members for it. Sections keep their
 * numbers; c's come after them, then the index. */
int sections_put(const struct original *o, const struct place *w, const struct splice_code *c,
    const struct splice_section *index, struct buf *out, Elf64_Ehdr *eh, struct err *e);

#endif
