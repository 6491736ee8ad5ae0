/*
 * Names of anybody's making as text of these formats: what is no printable character of UTF-8
 * becomes a question mark. Pure.
 */
#ifndef MORPH_REPORT_OUT_TEXT_H
#define MORPH_REPORT_OUT_TEXT_H

#include "common/mem.h"

#include <stdbool.h>

/* s, with `instead` for each `byte` of it. */
void text_put(struct buf *out, const char *s, char byte, char instead);
/* s as a string of JSON. */
void text_json(struct buf *out, const char *s);
/* Whether a linker or compiler may have a symbol of this name: no blank, no control character. */
bool text_is_symbol(const char *s);

#endif
