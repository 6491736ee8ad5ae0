/*
 * What is linked into a counting build: editor-driver/runtime/counting.c as
 * the compiler's assembly text, with what only the job knows behind it.
 */
#ifndef MORPH_RUNTIME_H
#define MORPH_RUNTIME_H

#include "common/elf.h"
#include "common/mem.h"

/* Appends the text. name: the module's, for the names of its files. */
void runtime_text(const struct build_id *origin, const char *name, struct buf *out);

#endif
