/*
 * Reversible transforms of contents into streams that compress better.
 */
#ifndef MORPH_ARTIFACT_COLUMNS_H
#define MORPH_ARTIFACT_COLUMNS_H

#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAP_STREAMS = 4, LIBRARY_STREAMS = 2 };

/* Splits a block map blob (docs/FORMATS.md) into four streams: everything except the blocks; block
 * ids; gaps between blocks; block sizes. Returns false and leaves s empty if p is not such a blob.
 */
bool map_split(const char *p, size_t n, struct buf s[MAP_STREAMS]);
/* Appends the blob; fails when it would have more than size bytes, or s does not fit together. */
int map_join(const struct buf s[MAP_STREAMS], uint64_t size, struct buf *out, struct err *e);

/* Splits a shared library into two streams: where its dynamic symbols are; its bytes, with the name
 * offset of each symbol delta-coded. Returns false and leaves s empty if it has no such table. */
bool library_split(const char *p, size_t n, struct buf s[LIBRARY_STREAMS]);
int library_join(const struct buf s[LIBRARY_STREAMS], struct buf *out, struct err *e);

#endif
