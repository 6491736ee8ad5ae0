/*
 * Hops: jumps to what comes next anyway.
 *
 * AMD's Zen 5 predicts jumps that go by chance better where other jumps are taken
 * between them: where a layout lets such a loop run straight on, it loses in
 * predictions more than it saves in jumps (measured: bench/README.md, "Hops"). So what
 * would fall into a block that ends in a hard jump goes on to it by a jump instead.
 *
 * Only in functions in which hard jumps are many and calls are few: where a function
 * calls, what was taken there tells what its jumps will do, and a hop is in the way.
 */
#ifndef MORPH_HOPS_H
#define MORPH_HOPS_H

#include "common/mem.h"
#include "editor/layout.h"

/* Sets l->hop, for o->hot and o->calls. */
void hops_place(
    const struct cfg *g, const struct layout_options *o, struct layout *l, struct arena *a);

#endif
