/*
 * What is linked into a counting build: editor-driver/runtime/counting.c as the compiler's assembly
 * text, followed by what depends on the job.
 */
#ifndef MORPH_RUNTIME_H
#define MORPH_RUNTIME_H

#include "common/elf/elf.h"
#include "common/mem.h"

#include <stdbool.h>

/*
 * Appends the text. name: the module's, for the names of its files. bare: for a
 * program that runs no .init_array; it is to be entered at RUNTIME_ENTRY and
 * goes on at RUNTIME_GOES_ON, which the link defines. threads: counters are
 * COUNTERS_THREAD (editor/probe/probes.h).
 */
#define RUNTIME_ENTRY "morph_counting_entry"
#define RUNTIME_GOES_ON "morph_counting_goes_on"
void runtime_text(
    const struct build_id *origin, const char *name, bool bare, bool threads, struct buf *out);
/* What is linked first: where the counters' sections begin. The linker's own __start_ symbols, of
 * which such sections would be named, keep them with their COMDAT groups under --gc-sections. */
void runtime_first(struct buf *out);

#endif
