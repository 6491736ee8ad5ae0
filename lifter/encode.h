/*
 * Lifted text as the assembler gets it (docs/notes/legacy.md, "The text"): instructions with a
 * comment "#=" as the bytes that it says, distances as differences of addresses; names that the
 * text sets to places of the original as these places, so that texts can be assembled together;
 * calls of symbols through the word of the original that holds their address. Pure.
 */
#ifndef MORPH_ENCODE_H
#define MORPH_ENCODE_H

#include "common/err.h"
#include "common/mem.h"

/*
 * Appends n bytes of text that the editor printed. -1, and the line in e: a comment that is not of
 * this form; an instruction that has a distance without target, or a target without distance; a
 * call through a word that the text does not set.
 */
int encode(const char *text, size_t n, struct buf *out, struct err *e);

#endif
