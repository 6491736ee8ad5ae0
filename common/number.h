/* Whole numbers as people read them: 1,234,567. */
#ifndef MORPH_NUMBER_H
#define MORPH_NUMBER_H

enum { NUMBER_TEXT = 32 };

/* v rounded, with commas between thousands; from 1e15 on three digits and an
 * exponent. Returns out. */
const char *number_text(double v, char out[NUMBER_TEXT]);

#endif
