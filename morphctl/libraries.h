/*
 * The shared libraries of a link, cut down to the names that the program has a use for. What a
 * linker reads of the C library alone is as large as a small program's code.
 */
#ifndef MORPH_MORPHCTL_LIBRARIES_H
#define MORPH_MORPHCTL_LIBRARIES_H

#include "common/artifact/artifact.h"
#include "common/elf/elf.h"

/* Keeps the names that stand in the text of a unit. */
void libraries_keep_text(struct elf_names *names, const struct buf *text);
/* Keeps those of the other inputs and arguments of the link, and of what linkers define. */
int libraries_keep_link(struct elf_names *names, struct artifact *a, struct err *e);

#endif
