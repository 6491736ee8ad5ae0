/*
 * The probes of <sys/sdt.h> (SystemTap, USDT) in compiler output. They are inline assembly that
 * defines macros for numbers that C cannot print, uses and forgets them. Macros are not repeated
 * (common/command/asopt.h: they could name files), so what these ones print is printed in their
 * place: the same bytes.
 */
#ifndef MORPH_HOOKS_SDT_H
#define MORPH_HOOKS_SDT_H

#include "common/mem.h"

#include <stdbool.h>

/* The text with its probes written out; false, and nothing in `out`: it has none, or one that is
 * not exactly as that header makes them. */
bool sdt_expand(const struct buf *text, struct buf *out);

#endif
