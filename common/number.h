/* Numbers as people read them. */
#ifndef MORPH_NUMBER_H
#define MORPH_NUMBER_H

enum { NUMBER_TEXT = 32, NUMBER_RANGE = 64 };

/* 1,234,567: v rounded, with commas between thousands; from 1e15 on three digits and an
 * exponent. Returns out. */
const char *number_text(double v, char out[NUMBER_TEXT]);
/* "4.1 % (2.9 … 5.3)" of shares of 1; what rounds to 0 has no sign. Returns out. */
const char *number_range(double v, double low, double high, char out[NUMBER_RANGE]);

/* "90 s", "5 min", "3.5 h", "7 d". Returns out. */
const char *number_span(double s, char out[NUMBER_TEXT]);

#endif
