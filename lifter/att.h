/* Instructions in AT&T syntax, as GNU as reads them (Zydis, whose own mnemonics as often refuses).
 */
#ifndef MORPH_ATT_H
#define MORPH_ATT_H

#include <stddef.h>
#include <stdint.h>

enum { ATT_TEXT = 256 };

/* Prints the instruction at p, of at most n > 0 bytes, direct targets relative to an address, and
 * returns how many bytes it has; what is none is a .byte. Thread safe. */
size_t att_print(const uint8_t *p, size_t n, uint64_t address, char text[ATT_TEXT]);

#endif
