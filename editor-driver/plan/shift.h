/*
 * Code that is not edited keeps its offset within the lines that a processor caches and decodes, as
 * it was linked: nothing is known of it, and other addresses modulo 64 alone can slow a program
 * down by some per cent. Where an edited function was, padding of its size modulo SHIFT_LINE
 * remains, and after the hot code enough that the rest begins at its old offset. Where code is
 * added to a file nothing else moves.
 */
#ifndef MORPH_SHIFT_H
#define MORPH_SHIFT_H

#include "editor-driver/plan/plan.h"

enum { SHIFT_LINE = 64 };

/* The padding where function func of t was: 0 … SHIFT_LINE - 1. */
uint8_t shift_padding(const struct plan *p, const struct plan_tu *t, uint32_t func);

/* By how many bytes, modulo SHIFT_LINE, most of the code that is not edited has moved. made: the
 * map of the new build. */
uint32_t shift_rest(const struct plan *p, const struct blockmap *made);

#endif
