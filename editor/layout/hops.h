/*
 * Hops: jumps to what comes next anyway.
 *
 * On AMD's Zen 5 a loop of jumps that go randomly is faster where other jumps are
 * taken between them: by letting it run straight on, a layout loses more than it saves
 * in jumps (measured: bench/README.md, "Hops"). So what would fall into a block that
 * ends in a hard-to-predict branch goes on to it by a jump instead, in functions in which such
 * jumps are many and calls are few; others lose by it.
 */
#ifndef MORPH_HOPS_H
#define MORPH_HOPS_H

#include "common/mem.h"
#include "editor/layout/layout.h"

/* Sets l->hop, for o->hot and o->calls. */
void hops_add(
    const struct cfg *g, const struct layout_options *o, struct layout *l, struct arena *a);

#endif
