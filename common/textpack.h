/*
 * Assembly texts taken apart into streams of like things, which pack to two thirds of what the
 * texts do: the forms of lines, by number, with their registers and numbers; symbols, by how long
 * ago they were named; local labels, by distance; strings.
 */
#ifndef MORPH_TEXTPACK_H
#define MORPH_TEXTPACK_H

#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_STREAMS = 7 };

/* Without control characters of which forms are made, and with a newline at its end. */
bool text_plain(const char *p, size_t n);

/* Appends to each of s. Local labels do best as ".L" and a number that counts up by definition.
 * false, with s as it was: not plain. */
bool text_split(const char *p, size_t n, struct buf s[TEXT_STREAMS]);

/* Appends the text of size bytes. Takes memory and time in proportion to size and to the streams.
 * Fails, with out as it was, unless they make up exactly such a text. */
int text_join(const struct buf s[TEXT_STREAMS], uint64_t size, struct buf *out, struct err *e);

#endif
