/*
 * The order of the objects that a program copies out of libraries, for gold and lld: they place
 * copies in the order in which code refers to them first.
 */
#ifndef MORPH_COPYORDER_H
#define MORPH_COPYORDER_H

#include "common/elf/elf.h"

/*
 * Appends text that refers to what f copies, in the order of its copies; nothing when f has not two
 * of them. Made of no-operations in a section of code that moves, after all hot code; for
 * the object that is linked first.
 */
int copyorder_text(struct elf *f, struct buf *out, struct err *e);

#endif
