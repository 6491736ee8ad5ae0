/*
 * The order of the functions that move, for lld: it does not sort sections by name, but moves those
 * that hold certain symbols to the front, in the order of a list (--symbol-ordering-file).
 */
#ifndef MORPH_SYMBOLORDER_H
#define MORPH_SYMBOLORDER_H

#include "common/artifact/artifact.h"

/*
 * Appends a symbol of each section .text.sorted.N that is in object[tu] or in one of the files
 * first and last (NULL = none), a line each, by N. Left out are those whose symbols have namesakes
 * elsewhere than in such sections and section groups: lld would move these as well.
 */
int symbolorder_list(struct artifact *a, char *const *object, const char *first, const char *last,
    struct buf *out, struct err *e);

#endif
