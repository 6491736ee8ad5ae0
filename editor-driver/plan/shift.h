/*
 * Code that is not edited keeps its place within the lines that a processor
 * caches and decodes, as it was linked: nothing is known of it, and a program
 * can be some per cent slower for nothing but other addresses modulo 64.
 * Where an edited function was there remain its bytes modulo SHIFT_LINE, and
 * after the hot code so many that the rest begins where it did.
 */
#ifndef MORPH_SHIFT_H
#define MORPH_SHIFT_H

#include "editor-driver/plan/plan.h"

enum { SHIFT_LINE = 64 };

/* What remains where function func of t was: 0 … SHIFT_LINE - 1. */
uint8_t shift_padding(const struct plan *p, const struct plan_tu *t, uint32_t func);

/* By how many bytes, modulo SHIFT_LINE, most of the code that is not edited
 * lies after its place in the original. made: the map of the new build. */
uint32_t shift_rest(const struct plan *p, const struct blockmap *made);

#endif
